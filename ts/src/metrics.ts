// What was measured of a training job, put together from what its events tell.

type Value = number | (number | null)[] | null;
/** Name -> what was measured: arrays along `steps` and `eval/steps`, and scalars. */
export type Metrics = Record<string, Value>;

const STEPS = 'steps';
const EVAL_STEPS = 'eval/steps';

/**
 * Add what was told to what was told before, in place. Arrays are appended to, scalars overwrite. A step that was told
 * before is trained anew since a restart: it and those after it are forgotten first.
 */
export function mergeMetrics(merged: Metrics, told: Metrics): void {
  for (const [name, value] of Object.entries(told)) if (!Array.isArray(value)) merged[name] = value;
  for (const axis of [STEPS, EVAL_STEPS]) {
    const steps = told[axis];
    if (Array.isArray(steps) && steps.length > 0) append(merged, axis, steps, told);
  }
}

function append(merged: Metrics, axis: string, steps: (number | null)[], told: Metrics): void {
  const along = (of: Metrics, name: string): (number | null)[] => {
    const value = of[name];
    return Array.isArray(value) ? value : [];
  };
  const named = (of: Metrics): string[] =>
    Object.keys(of).filter((name) => Array.isArray(of[name]) && (name.startsWith('eval/') ? EVAL_STEPS : STEPS) === axis);
  const first = steps[0] ?? null;
  const before = along(merged, axis);
  const anew = before.findIndex((step) => step === null || first === null || step >= first);
  const kept = anew < 0 ? before.length : anew;
  for (const name of new Set([...named(merged), axis, ...named(told)])) {
    merged[name] = [...filled(along(merged, name), kept), ...filled(along(told, name), steps.length)];
  }
}

function filled(values: (number | null)[], length: number): (number | null)[] {
  return [...values.slice(0, length), ...Array<null>(Math.max(0, length - values.length)).fill(null)];
}
