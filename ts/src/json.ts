// JSON as it is sent. The language has one kind of number and JSON has two: `1` and `1.0` are different expected values
// for a Python program, so what cannot be told apart is refused and never guessed.

/** A number that is a float to Python also where it is whole. Made by `float`. */
export class Float {
  constructor(readonly value: number) {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON: write { $float: '${String(value).toLowerCase()}' } in a check`);
  }
}

/** `float(2)` is sent as `2.0`, where `2` is sent as an integer. */
export function float(value: number): Float {
  return new Float(value);
}

/** The text of a value. Throws a TypeError that names the place of what has none. */
export function writeJson(value: unknown, place = 'value'): string {
  return write(value, place) ?? refuse(place, 'undefined');
}

function write(value: unknown, place: string): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'bigint':
      return value.toString();
    case 'number':
      return number(value, place);
    case 'undefined':
      return undefined;
    case 'object':
      return value === null ? 'null' : object(value, place);
    default:
      return refuse(place, `a ${typeof value}`);
  }
}

function number(value: number, place: string): string {
  if (!Number.isFinite(value)) return refuse(place, `${value}; in a check write { $float: '${String(value).toLowerCase()}' }`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return refuse(place, `${value}, which may not be the number that was meant: write a bigint (2n ** 53n) or float(${value})`);
  }
  return Object.is(value, -0) ? '-0.0' : String(value);
}

function object(value: object, place: string): string | undefined {
  if (value instanceof Float) {
    const text = String(value.value);
    return Object.is(value.value, -0) ? '-0.0' : /^-?\d+$/.test(text) ? `${text}.0` : text;
  }
  if (Array.isArray(value)) {
    return `[${value.map((each, index) => writeJson(each, `${place}[${index}]`)).join(',')}]`;
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return write((toJSON as () => unknown).call(value), place);
  const kind = Object.getPrototypeOf(value) as object | null;
  if (kind !== null && Object.getPrototypeOf(kind) !== null) {
    return refuse(place, `a ${value.constructor?.name || 'object of a class'}: give plain objects and arrays`);
  }
  const fields: string[] = [];
  for (const [name, each] of Object.entries(value)) {
    const text = write(each, `${place}.${name}`);
    if (text !== undefined) fields.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${fields.join(',')}}`;
}

function refuse(place: string, what: string): never {
  throw new TypeError(`${place} cannot be sent as JSON: it is ${what}`);
}
