// When a request that was refused is sent again, and for how long a server that is away is asked: decisions, no I/O.
import { type HarenaError, LimitExceededError } from './errors.js';

/** Longest time that one request waits in total. */
export const MOST_SECONDS = 60;
/** The least pause, doubled with each try: many that wait at once must not fill the time with asking. */
const FIRST_SECONDS = 0.05;

/**
 * How long to wait before a request is sent again, after `tries` that took `waited` seconds of pauses; undefined = it is
 * not. A request over the rate of its key was not looked at, and is sent again whatever it asks for; what else names a
 * time is sent again only where twice is the same as once. For room in a workspace nothing waits.
 */
export function pauseSeconds(error: HarenaError, idempotent: boolean, tries: number, waited: number): number | undefined {
  if (error.retryAfterSeconds === undefined) return undefined;
  if (error instanceof LimitExceededError) {
    if (error.reason !== 'REQUEST_RATE' && error.reason !== 'BUSY') return undefined;
  } else if (!idempotent) {
    return undefined;
  }
  const pause = Math.max(error.retryAfterSeconds, FIRST_SECONDS * 2 ** (tries - 1));
  return waited + pause <= MOST_SECONDS ? pause : undefined;
}

/** The pauses between one answer and the next of a server that is away: jobs outlive it, and so may waiting. */
export class Pauses {
  /** Sum of the pauses since the last answer. */
  awaySeconds = 0;
  #next = 0.5;

  /** The server has been away for ten minutes. */
  get areOver(): boolean {
    return this.awaySeconds >= 600;
  }

  /** Length of the pause that begins now, in seconds. */
  step(): number {
    const pause = this.#next;
    this.awaySeconds += pause;
    this.#next = Math.min(2 * pause, 15);
    return pause;
  }

  /** The server has answered. */
  reset(): void {
    this.awaySeconds = 0;
    this.#next = 0.5;
  }
}

/** Done after so long. Rejects with the signal's reason. */
export function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const aborted = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener('abort', aborted, { once: true });
  });
}
