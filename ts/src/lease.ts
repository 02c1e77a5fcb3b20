// A client's lease: as long as it is renewed, the sandboxes that the client has made live.
import type { Calls } from './calls.js';
import { NotFoundError } from './errors.js';

const LEASE_SECONDS = 60;
/** So that a lease outlives two renewals that are lost. */
const RENEWALS_PER_LEASE = 4;

/** Opened with the first sandbox, renewed by a timer until `close`. The timer keeps no process alive. */
export class Lease {
  readonly #calls: Calls;
  readonly #seconds: number;
  #opening: Promise<string> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #renewed: string | undefined;

  constructor(calls: Calls, seconds = LEASE_SECONDS) {
    this.#calls = calls;
    this.#seconds = seconds;
  }

  /** The lease's id; callers that come at the same time share one. */
  id(): Promise<string> {
    if (this.#opening === undefined) {
      const opening = this.#open();
      this.#opening = opening;
      opening.catch(() => {
        if (this.#opening === opening) this.#opening = undefined; // whoever asks next tries again
      });
    }
    return this.#opening;
  }

  /** It is over: whoever asks next opens another one. */
  forget(): void {
    this.#opening = undefined;
    clearInterval(this.#timer);
  }

  /** End the lease and every sandbox that it holds. May be called more than once. */
  async close(): Promise<void> {
    const opening = this.#opening;
    this.forget();
    const id = await opening?.catch(() => undefined);
    clearInterval(this.#timer);
    if (id === undefined) return;
    try {
      await this.#calls.call('leases_close', { path: { lease_id: id } });
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error; // it was over before
    }
  }

  async #open(): Promise<string> {
    const { id } = await this.#calls.call('leases_open_lease', { body: { seconds: this.#seconds } });
    clearInterval(this.#timer);
    this.#renewed = id;
    this.#timer = setInterval(() => void this.#renew(id), (this.#seconds / RENEWALS_PER_LEASE) * 1000);
    this.#timer.unref();
    return id;
  }

  async #renew(id: string): Promise<void> {
    try {
      await this.#calls.call('leases_renew', { path: { lease_id: id } });
    } catch (error) {
      // over while this process slept, or the server was started anew: the next sandbox opens another one. A renewal
      // that is lost otherwise is followed by the next one
      if (error instanceof NotFoundError && this.#renewed === id) this.forget();
    }
  }
}
