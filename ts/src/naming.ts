// Names: the API writes snake_case, this package camelCase. Only names of the API are rewritten. Keys that a user chose
// (variables, metadata, scenarios, contracts) and values are left as they are.
import { shapes } from './generated/shapes.js';
import { Float } from './json.js';

type CamelName<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelName<Tail>>}` : S;

/** A record of the API with the names of this package; what has free keys keeps them. */
export type Camel<T> = T extends readonly (infer E)[]
  ? Camel<E>[]
  : T extends object
    ? string extends keyof T
      ? { [K in keyof T]: Camel<T[K]> }
      : { [K in keyof T as K extends string ? CamelName<K> : K]: Camel<T[K]> }
    : T;

/** `left_out` as `leftOut`. */
export function toCamel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `leftOut` as `left_out`. */
export function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A value of the API as this package gives it. `shape` is what src/generated/shapes.ts says of its place. */
export function received(value: unknown, shape: string | undefined): unknown {
  return renamed(value, shape, toCamel);
}

/** A value of this package as the API takes it. */
export function sent(value: unknown, shape: string | undefined): unknown {
  return renamed(value, shape, toSnake);
}

function renamed(value: unknown, shape: string | undefined, rename: (name: string) => string): unknown {
  if (shape === undefined || value === null || typeof value !== 'object' || value instanceof Float) return value;
  if (Array.isArray(value)) return value.map((each) => renamed(each, shape, rename));
  const found: Record<string, unknown> = {};
  if (shape.startsWith('{}')) {
    for (const [name, each] of Object.entries(value)) put(found, name, renamed(each, shape.slice(2), rename));
    return found;
  }
  const held = fieldsOf(shape);
  for (const [name, each] of Object.entries(value)) {
    put(found, rename(name), renamed(each, held[toSnake(name)], rename));
  }
  return found;
}

const merged = new Map<string, Readonly<Record<string, string>>>();

/** The fields that hold records, of one record or of several of which a value is one. */
function fieldsOf(shape: string): Readonly<Record<string, string>> {
  let held = merged.get(shape);
  if (held === undefined) {
    const found = Object.create(null) as Record<string, string>;
    for (const name of shape.split('|')) {
      for (const [field, below] of Object.entries(shapes[name] ?? {})) {
        const known = found[field];
        found[field] = known === undefined || known === below ? below : `${known}|${below}`;
      }
    }
    merged.set(shape, (held = found));
  }
  return held;
}

/** A key such as `__proto__` is a key like others. */
function put(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}
