// @harena/sdk: everything that users import.
export { Harena, Harena as default, Harena as Runloop, type HarenaOptions, type ServerHealth } from './client.js';
export { Sandbox, Sandboxes, type Limits, type SandboxInfo, type SandboxOptions, type Snapshot } from './sandboxes.js';
export { Process, Terminal, type Content, type CommandOutput, type ExecOptions, type ExecResult, type ProcessInfo, type SandboxUsage, type Stdin } from './process.js';
export { Output } from './output.js';
export { Files, type FileInfo } from './files.js';
export { Blueprints, type Blueprint, type BlueprintOptions, type BlueprintSummary } from './blueprints.js';
export {
  Scenarios,
  ScoringContracts,
  type Contract,
  type ScoringContract,
  type StoredScenarios,
  type Version,
  type VersionListOptions,
} from './catalog.js';
export type { Scenario, ScenarioInput } from './scenario-input.js';
export {
  BenchmarkJobs,
  type BenchmarkEvent,
  type BenchmarkJob,
  type BenchmarkJobOptions,
  type BenchmarkResults,
  type BenchmarkRun,
  type JobConfig,
  type JobSummary,
  type ResultsPage,
  type RunResult,
  type ScoreOptions,
} from './benchmark-jobs.js';
export {
  TrainingJobs,
  type RLConfig,
  type SFTConfig,
  type TrainingArtifacts,
  type TrainingEvent,
  type TrainingJob,
  type TrainingLog,
  type TrainingMetrics,
  type TrainingRequest,
} from './training-jobs.js';
export { Objects, type ObjectKind, type StoredObject } from './objects.js';
export { Listing, type ListOptions } from './pages.js';
export { float, type Float } from './json.js';
export {
  AccessError,
  HarenaError,
  HostUnsupportedError,
  ImageBuildError,
  ImagePullError,
  LimitExceededError,
  NotFoundError,
  PlatformError,
  SandboxCommandTimeoutError,
  SandboxError,
  SandboxExecutionError,
  SandboxFailedError,
  SandboxFileError,
  SandboxNotFoundError,
  SandboxNotRunningError,
  SandboxRequestTimeoutError,
  SandboxResourceExhaustedError,
  SandboxStartError,
  SandboxTerminatedError,
  SandboxTimeoutError,
  SandboxUnavailableError,
  SandboxValidationError,
  ValidationError,
  type ErrorDetails,
  type ProblemCode,
} from './errors.js';
export type { Abortable } from './calls.js';
/** Types of every record and route of the API, with its own names. */
export type { components, operations, paths } from './generated/schema.js';
