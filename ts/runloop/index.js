// Printed snippets say `import Runloop from 'runloop'`, and then use a client `runloop` that they never make. With this
// package they run as they are: the client is made of HARENA_BASE_URL and HARENA_API_KEY when it is first used.
import { Harena } from '@harena/sdk';

export * from '@harena/sdk';
export { Harena as default };

let client;
Object.defineProperty(globalThis, 'runloop', {
  configurable: true,
  get: () => (client ??= new Harena()),
  set: (value) => Object.defineProperty(globalThis, 'runloop', { configurable: true, writable: true, value }),
});
