// Numbers and times as people read them.

export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return String(value).slice(0, 20);
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  return Math.abs(value) >= 1000 || Math.abs(value) < 0.001 ? value.toPrecision(digits) : String(+value.toFixed(digits));
}

export function share(value) {
  return !Number.isFinite(value) ? "–" : `${(100 * value).toFixed(1)} %`;
}

export function seconds(value) {
  if (!Number.isFinite(value)) return "–";
  if (value < 0.001) return `${(value * 1e6).toFixed(0)} µs`;
  if (value < 1) return `${(value * 1000).toFixed(value < 0.1 ? 1 : 0)} ms`;
  if (value < 120) return `${value.toFixed(1)} s`;
  if (value < 7200) return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
  return `${Math.floor(value / 3600)} h ${Math.round((value % 3600) / 60)} min`;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytes(value) {
  if (!Number.isFinite(value)) return "–";
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) { value /= 1024; unit += 1; }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** A moment, told by how long ago it was; the title says when. */
export function ago(iso) {
  if (!iso) return "–";
  const passed = (Date.now() - Date.parse(iso)) / 1000;
  if (passed < 5) return "now";
  if (passed < 60) return `${Math.round(passed)} s ago`;
  if (passed < 3600) return `${Math.round(passed / 60)} min ago`;
  if (passed < 86400) return `${Math.round(passed / 3600)} h ago`;
  return iso.slice(0, 10);
}

export function plural(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}
