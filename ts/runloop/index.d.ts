import { Harena } from '@harena/sdk';

export * from '@harena/sdk';
export { Harena as default };

declare global {
  /** A client of HARENA_BASE_URL, made when it is first used. */
  var runloop: Harena;
}
