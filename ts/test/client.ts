// A client of the tests' server, closed at the end of the file.
import { afterAll, inject } from 'vitest';

import { Harena } from '../src/index.js';

export function client(apiKey = inject('apiKey')): Harena {
  const harena = new Harena({ baseUrl: inject('baseUrl'), apiKey });
  afterAll(() => harena.close());
  return harena;
}
