// Every error that this package throws, beside a signal's own reason (an AbortError) and TypeErrors of wrong arguments:
//
//     HarenaError
//     ├─ ValidationError                  the request is wrong; nothing was done
//     ├─ AccessError                      the key is unknown, missing or may not do this
//     ├─ LimitExceededError               the workspace uses all that it may use
//     ├─ NotFoundError                    there is no such job, blueprint, scenario ...
//     ├─ ImageBuildError
//     ├─ PlatformError                    the platform failed; never a reason for a reward of 0
//     │  ├─ HostUnsupportedError
//     │  └─ ImagePullError
//     └─ SandboxError
//        ├─ SandboxNotRunningError
//        │  └─ SandboxUnavailableError    (also a PlatformError) the server or the sandbox was lost
//        ├─ SandboxTimeoutError           also SandboxRequestTimeoutError, SandboxCommandTimeoutError
//        ├─ SandboxResourceExhaustedError
//        ├─ SandboxTerminatedError
//        ├─ SandboxFailedError
//        │  └─ SandboxStartError          (also a PlatformError)
//        ├─ SandboxNotFoundError
//        ├─ SandboxExecutionError         a command failed, and `check: true` was asked for
//        ├─ SandboxFileError
//        └─ SandboxValidationError        (also a ValidationError)
//
// What a program does (exit 1, out of memory) is data in a result, and no error.
import type { components } from './generated/schema.js';
import type { ExecResult } from './process.js';

/** The code of a problem, from the API's closed table. */
export type ProblemCode = components['schemas']['ProblemAnswer']['code'];

/** What is known of an error beside its message. */
export interface ErrorDetails {
  /** A code that says more than the class: `REQUEST_RATE`, `NOT_FOUND` ... (docs/reference/errors.md). */
  reason?: string;
  /** HTTP status of the answer; absent where no server has answered. */
  status?: number;
  /** Details for logs. */
  metadata?: Record<string, string>;
  /** The same request may succeed after so long. */
  retryAfterSeconds?: number;
  /** Names the request in the server's log. */
  requestId?: string;
  /** What failed, of an error of the platform. */
  step?: string;
  /** The sandbox that it is about. */
  sandboxId?: string;
  /** Why a sandbox has ended. */
  statusReason?: string;
  /** The path inside the sandbox that a file operation was about. */
  path?: string;
  /** Output and exit code of the command that it is about. */
  result?: ExecResult;
  cause?: unknown;
}

/** Base of everything that harena says went wrong. The message says what happened and what to do. */
export class HarenaError extends Error {
  readonly reason: string | undefined;
  readonly status: number | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;
  readonly step: string | undefined;
  readonly sandboxId: string | undefined;
  readonly statusReason: string | undefined;
  readonly path: string | undefined;
  readonly result: ExecResult | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.reason = details.reason;
    this.status = details.status;
    this.metadata = details.metadata ?? {};
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.requestId = details.requestId;
    this.step = details.step;
    this.sandboxId = details.sandboxId;
    this.statusReason = details.statusReason;
    this.path = details.path;
    this.result = details.result;
  }

  /** The platform failed, so that there is no verdict on any program: try again, and never score it as 0. */
  get isPlatformFailure(): boolean {
    return false;
  }
}

/** The request is wrong, and nothing has been done. The message lists every mistake. */
export class ValidationError extends HarenaError {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isOf(this, value) || (this === ValidationError && isOf(SandboxValidationError, value));
  }
}

/** The server does not know the key, or the key lacks the scope that the message names. */
export class AccessError extends HarenaError {}

/** The workspace uses all that it may use; nothing has been done. `reason` names the limit. */
export class LimitExceededError extends HarenaError {}

/** There is no such thing in this workspace. Check its name or id. */
export class NotFoundError extends HarenaError {}

/** An image could not be built. The message names the line of the Dockerfile. */
export class ImageBuildError extends HarenaError {}

/** The platform failed; there is no verdict on any program. Try again; the server's log says more. */
export class PlatformError extends HarenaError {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isOf(this, value) || (this === PlatformError && isOf(HarenaError, value) && (value as HarenaError).isPlatformFailure);
  }

  override get isPlatformFailure(): boolean {
    return true;
  }
}

/** The server's host forbids something that isolation needs; the message names the setting to change. */
export class HostUnsupportedError extends PlatformError {}

/** An image cannot be had from its registry, or what came is broken. */
export class ImagePullError extends PlatformError {}

/** Base of errors about one sandbox. */
export class SandboxError extends HarenaError {}

/** The operation needs a running sandbox, and this one is not running. Create a new one. */
export class SandboxNotRunningError extends SandboxError {}

/** The sandbox, or the server that holds it, was lost while it was in use. Create a new sandbox and run again. */
export class SandboxUnavailableError extends SandboxNotRunningError {
  override get isPlatformFailure(): boolean {
    return true;
  }
}

/** Something took longer than it was allowed to. Allow more time. */
export class SandboxTimeoutError extends SandboxError {}

/** A request (not a command) took too long. */
export class SandboxRequestTimeoutError extends SandboxTimeoutError {}

/** A command ran longer than its `timeoutSeconds` and was killed with all that it had started; see `result`. */
export class SandboxCommandTimeoutError extends SandboxTimeoutError {}

/** The server has no room for another sandbox. Stop some, or wait. */
export class SandboxResourceExhaustedError extends SandboxError {}

/** The sandbox was stopped before or during the call. Create a new one. */
export class SandboxTerminatedError extends SandboxError {}

/** The sandbox could not start, or ended by itself; `statusReason` says why. Create a new one. */
export class SandboxFailedError extends SandboxError {}

/** The server could not start the sandbox: the platform's failure, before any program ran. */
export class SandboxStartError extends SandboxFailedError {
  override get isPlatformFailure(): boolean {
    return true;
  }
}

/** No sandbox of this workspace has this id, or it ended long ago. */
export class SandboxNotFoundError extends SandboxError {}

/** A command failed, and `check: true` had asked for its success; see `result`. */
export class SandboxExecutionError extends SandboxError {}

/** A file operation failed; `path` is the path inside the sandbox, `reason` says why. */
export class SandboxFileError extends SandboxError {}

/** Bad input to an operation on a sandbox. Correct what the message lists. */
export class SandboxValidationError extends SandboxError {}

/** An instance in the sense of the language, whatever a class says of itself. */
function isOf(kind: abstract new (...given: never[]) => unknown, value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.prototype.isPrototypeOf.call(kind.prototype as object, value);
}

type ErrorClass = new (message: string, details?: ErrorDetails) => HarenaError;

/** The class of each code. The type holds it to the API's table: a code that is missing here does not compile. */
export const ERRORS: Readonly<Record<ProblemCode, ErrorClass>> = {
  validation: ValidationError,
  sandbox_validation: SandboxValidationError,
  access: AccessError,
  limit_exceeded: LimitExceededError,
  not_found: NotFoundError,
  sandbox_not_found: SandboxNotFoundError,
  sandbox_file: SandboxFileError,
  sandbox_not_running: SandboxNotRunningError,
  sandbox_terminated: SandboxTerminatedError,
  sandbox_failed: SandboxFailedError,
  sandbox_execution: SandboxExecutionError,
  function: HarenaError,
  async_function: HarenaError,
  sandbox_start: SandboxStartError,
  sandbox_resource_exhausted: SandboxResourceExhaustedError,
  sandbox_unavailable: SandboxUnavailableError,
  sandbox_request_timeout: SandboxRequestTimeoutError,
  sandbox_command_timeout: SandboxCommandTimeoutError,
  sandbox_timeout: SandboxTimeoutError,
  sandbox: SandboxError,
  host_unsupported: HostUnsupportedError,
  image_pull: ImagePullError,
  image_build: ImageBuildError,
  platform: PlatformError,
  internal: HarenaError,
};

/** The error that a problem stands for; a PlatformError where its code is not in the table. */
export function errorOf(problem: Readonly<Record<string, unknown>>): HarenaError {
  const text = (name: string): string | undefined => {
    const value = problem[name];
    if (value === undefined || value === null) return undefined;
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  const detail = text('detail') ?? text('title') ?? 'the server gave no reason';
  const seconds = problem['retry_after_seconds'];
  const metadata = problem['metadata'];
  const details: ErrorDetails = {
    reason: text('reason'),
    status: typeof problem['status'] === 'number' ? problem['status'] : undefined,
    requestId: text('request_id'),
    step: text('step'),
    sandboxId: text('sandbox_id'),
    statusReason: text('status_reason'),
    path: text('filepath'),
    retryAfterSeconds: typeof seconds === 'number' && seconds >= 0 && seconds < 1e6 ? seconds : undefined,
  };
  if (metadata !== null && typeof metadata === 'object') {
    details.metadata = Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, String(value)]));
  }
  const code = text('code') ?? '';
  if (!Object.hasOwn(ERRORS, code)) {
    return new PlatformError(`the server answered ${text('status') ?? 'nothing'}: ${detail}`, { ...details, step: 'http' });
  }
  return new ERRORS[code as ProblemCode](detail, details);
}
