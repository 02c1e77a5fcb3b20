"""The records and the modules of verbs that `harena` has. Made by `python scripts/nouns.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harena.core.records.audits import AuditedProblem as AuditedProblem
    from harena.core.records.audits import AuditReport as AuditReport
    from harena.core.records.benchmark_jobs import BenchmarkEvent as BenchmarkEvent
    from harena.core.records.benchmark_jobs import BenchmarkJob as BenchmarkJob
    from harena.core.records.benchmark_jobs import BenchmarkJobsPage as BenchmarkJobsPage
    from harena.core.records.benchmark_jobs import BenchmarkResults as BenchmarkResults
    from harena.core.records.benchmark_jobs import BenchmarkRun as BenchmarkRun
    from harena.core.records.benchmark_jobs import DefinitionReference as DefinitionReference
    from harena.core.records.benchmark_jobs import ExpectedVerdict as ExpectedVerdict
    from harena.core.records.benchmark_jobs import HoneypotCounts as HoneypotCounts
    from harena.core.records.benchmark_jobs import JobConfiguration as JobConfiguration
    from harena.core.records.benchmark_jobs import JobLineage as JobLineage
    from harena.core.records.benchmark_jobs import JobSummary as JobSummary
    from harena.core.records.benchmark_jobs import LeftOutRows as LeftOutRows
    from harena.core.records.benchmark_jobs import Progress as Progress
    from harena.core.records.benchmark_jobs import Rescored as Rescored
    from harena.core.records.benchmark_jobs import RescoredCounts as RescoredCounts
    from harena.core.records.benchmark_jobs import ResultsPage as ResultsPage
    from harena.core.records.benchmark_jobs import Summary as Summary
    from harena.core.records.benchmark_jobs import VerdictCounts as VerdictCounts
    from harena.core.records.benchmark_jobs import WebhookDelivery as WebhookDelivery
    from harena.core.records.benchmark_jobs import WebhookEvent as WebhookEvent
    from harena.core.records.blueprints import Blueprint as Blueprint
    from harena.core.records.blueprints import BlueprintsPage as BlueprintsPage
    from harena.core.records.blueprints import BlueprintSummary as BlueprintSummary
    from harena.core.records.blueprints import Package as Package
    from harena.core.records.calibrations import BatteryRuns as BatteryRuns
    from harena.core.records.calibrations import CalibratedScenario as CalibratedScenario
    from harena.core.records.calibrations import CalibrationReport as CalibrationReport
    from harena.core.records.calibrations import ConstantRuns as ConstantRuns
    from harena.core.records.calibrations import Finding as Finding
    from harena.core.records.calibrations import GoldRuns as GoldRuns
    from harena.core.records.calibrations import KnownWrongRuns as KnownWrongRuns
    from harena.core.records.calibrations import MutantRuns as MutantRuns
    from harena.core.records.calibrations import PaidForgery as PaidForgery
    from harena.core.records.catalog import ArchivedVersions as ArchivedVersions
    from harena.core.records.catalog import BenchmarkJobDef as BenchmarkJobDef
    from harena.core.records.catalog import CalibrationJob as CalibrationJob
    from harena.core.records.catalog import CalibrationOutline as CalibrationOutline
    from harena.core.records.catalog import CatalogEntry as CatalogEntry
    from harena.core.records.catalog import CatalogPage as CatalogPage
    from harena.core.records.catalog import ContractsPage as ContractsPage
    from harena.core.records.catalog import DefinitionsPage as DefinitionsPage
    from harena.core.records.catalog import ScenariosPage as ScenariosPage
    from harena.core.records.catalog import ScoringContract as ScoringContract
    from harena.core.records.catalog import StoredScenarios as StoredScenarios
    from harena.core.records.catalog import WebhookOutline as WebhookOutline
    from harena.core.records.evaluations import FailedAnswer as FailedAnswer
    from harena.core.records.evaluations import ModelEvaluation as ModelEvaluation
    from harena.core.records.evaluations import PassRate as PassRate
    from harena.core.records.gateways import GatewayEntry as GatewayEntry
    from harena.core.records.gateways import GatewayLog as GatewayLog
    from harena.core.records.image_builds import BuildRequest as BuildRequest
    from harena.core.records.image_builds import BuildState as BuildState
    from harena.core.records.image_builds import ImageBuild as ImageBuild
    from harena.core.records.image_builds import ImageBuildEvent as ImageBuildEvent
    from harena.core.records.images import CollectedImages as CollectedImages
    from harena.core.records.images import Image as Image
    from harena.core.records.images import ImagePull as ImagePull
    from harena.core.records.images import ImagePullEvent as ImagePullEvent
    from harena.core.records.images import ImageRoot as ImageRoot
    from harena.core.records.images import ImagesPage as ImagesPage
    from harena.core.records.images import PullState as PullState
    from harena.core.records.job_diff import ChangeKind as ChangeKind
    from harena.core.records.job_diff import ComparedAttempts as ComparedAttempts
    from harena.core.records.job_diff import ComparedJob as ComparedJob
    from harena.core.records.job_diff import ComparedJobs as ComparedJobs
    from harena.core.records.job_diff import ComparedProblems as ComparedProblems
    from harena.core.records.job_diff import FlakyScenarios as FlakyScenarios
    from harena.core.records.job_diff import JobDiff as JobDiff
    from harena.core.records.job_diff import McNemar as McNemar
    from harena.core.records.job_diff import PairedDifference as PairedDifference
    from harena.core.records.job_diff import ScenarioChange as ScenarioChange
    from harena.core.records.job_diff import SignFlips as SignFlips
    from harena.core.records.network import NetworkEntry as NetworkEntry
    from harena.core.records.network import NetworkLog as NetworkLog
    from harena.core.records.network import NetworkRules as NetworkRules
    from harena.core.records.objects import AdapterDescription as AdapterDescription
    from harena.core.records.objects import CapabilityDescription as CapabilityDescription
    from harena.core.records.objects import DatasetDescription as DatasetDescription
    from harena.core.records.objects import ModelDescription as ModelDescription
    from harena.core.records.objects import ResolvedReference as ResolvedReference
    from harena.core.records.objects import ShippedModel as ShippedModel
    from harena.core.records.objects import ShippedModelDescription as ShippedModelDescription
    from harena.core.records.objects import SkippedRows as SkippedRows
    from harena.core.records.objects import SplitDescription as SplitDescription
    from harena.core.records.objects import StoredObject as StoredObject
    from harena.core.records.objects import StoredObjectsPage as StoredObjectsPage
    from harena.core.records.objects import TaskDescription as TaskDescription
    from harena.core.records.objects import UsedSplit as UsedSplit
    from harena.core.records.result_rows import ColumnKind as ColumnKind
    from harena.core.records.sandbox_answers import CommandOutput as CommandOutput
    from harena.core.records.sandbox_answers import CommandOutputs as CommandOutputs
    from harena.core.records.sandbox_answers import DirectoryListing as DirectoryListing
    from harena.core.records.sandbox_answers import ExecReport as ExecReport
    from harena.core.records.sandbox_answers import ProcessListing as ProcessListing
    from harena.core.records.sandbox_answers import SandboxesPage as SandboxesPage
    from harena.core.records.sandboxes import Limits as Limits
    from harena.core.records.sandboxes import ProcessInfo as ProcessInfo
    from harena.core.records.sandboxes import SandboxInfo as SandboxInfo
    from harena.core.records.sandboxes import SandboxStatus as SandboxStatus
    from harena.core.records.sandboxes import SandboxUsage as SandboxUsage
    from harena.core.records.secrets import Secret as Secret
    from harena.core.records.secrets import SecretsPage as SecretsPage
    from harena.core.records.server import ApiKey as ApiKey
    from harena.core.records.server import ClientLease as ClientLease
    from harena.core.records.server import NewApiKey as NewApiKey
    from harena.core.records.server import ServerHealth as ServerHealth
    from harena.core.records.snapshots import Snapshot as Snapshot
    from harena.core.records.snapshots import SnapshotsPage as SnapshotsPage
    from harena.core.records.training_jobs import CapabilityReference as CapabilityReference
    from harena.core.records.training_jobs import PlannedTraining as PlannedTraining
    from harena.core.records.training_jobs import TrainingArtifacts as TrainingArtifacts
    from harena.core.records.training_jobs import TrainingEvent as TrainingEvent
    from harena.core.records.training_jobs import TrainingFile as TrainingFile
    from harena.core.records.training_jobs import TrainingJob as TrainingJob
    from harena.core.records.training_jobs import TrainingJobsPage as TrainingJobsPage
    from harena.core.records.training_jobs import TrainingLog as TrainingLog
    from harena.core.records.training_jobs import TrainingLogsPage as TrainingLogsPage
    from harena.core.records.training_jobs import TrainingMetrics as TrainingMetrics
    from harena.core.records.training_jobs import TrainingProgress as TrainingProgress
    from harena.core.records.training_plans import LossSpec as LossSpec
    from harena.core.records.training_plans import RewardPlan as RewardPlan
    from harena.core.records.training_plans import RLPlan as RLPlan
    from harena.core.records.training_plans import SFTPlan as SFTPlan
    from harena.core.records.training_plans import TrainingPlan as TrainingPlan
    from harena.core.records.training_plans import TuningPlan as TuningPlan
    from harena.core.records.worlds import TrajectoryOrder as TrajectoryOrder
    from harena.core.records.worlds import World as World
    from harena.core.records.worlds import WorldGoal as WorldGoal
    from harena.core.records.worlds import WorldJob as WorldJob
    from harena.core.records.worlds import WorldJobsPage as WorldJobsPage
    from harena.core.records.worlds import WorldJobState as WorldJobState
    from harena.core.records.worlds import WorldManifest as WorldManifest
    from harena.core.records.worlds import WorldMap as WorldMap
    from harena.core.records.worlds import WorldsPage as WorldsPage
    from harena.sdk import benchmark_job_defs as benchmark_job_defs
    from harena.sdk import benchmark_jobs as benchmark_jobs
    from harena.sdk import blueprints as blueprints
    from harena.sdk import calibrations as calibrations
    from harena.sdk import images as images
    from harena.sdk import registry as registry
    from harena.sdk import scenarios as scenarios
    from harena.sdk import scoring_contracts as scoring_contracts
    from harena.sdk import secrets as secrets
    from harena.sdk import snapshots as snapshots
    from harena.sdk import training_jobs as training_jobs
    from harena.sdk import world_jobs as world_jobs
    from harena.sdk import world_manifests as world_manifests

RECORDS: dict[str, tuple[str, ...]] = {
    "harena.core.records.audits": ("AuditedProblem", "AuditReport"),
    "harena.core.records.benchmark_jobs": (
        "BenchmarkEvent",
        "BenchmarkJob",
        "BenchmarkJobsPage",
        "BenchmarkResults",
        "BenchmarkRun",
        "DefinitionReference",
        "ExpectedVerdict",
        "HoneypotCounts",
        "JobConfiguration",
        "JobLineage",
        "JobSummary",
        "LeftOutRows",
        "Progress",
        "Rescored",
        "RescoredCounts",
        "ResultsPage",
        "Summary",
        "VerdictCounts",
        "WebhookDelivery",
        "WebhookEvent",
    ),
    "harena.core.records.blueprints": ("Blueprint", "BlueprintsPage", "BlueprintSummary", "Package"),
    "harena.core.records.calibrations": (
        "BatteryRuns",
        "CalibratedScenario",
        "CalibrationReport",
        "ConstantRuns",
        "Finding",
        "GoldRuns",
        "KnownWrongRuns",
        "MutantRuns",
        "PaidForgery",
    ),
    "harena.core.records.catalog": (
        "ArchivedVersions",
        "BenchmarkJobDef",
        "CalibrationJob",
        "CalibrationOutline",
        "CatalogEntry",
        "CatalogPage",
        "ContractsPage",
        "DefinitionsPage",
        "ScenariosPage",
        "ScoringContract",
        "StoredScenarios",
        "WebhookOutline",
    ),
    "harena.core.records.evaluations": ("FailedAnswer", "ModelEvaluation", "PassRate"),
    "harena.core.records.gateways": ("GatewayEntry", "GatewayLog"),
    "harena.core.records.image_builds": ("BuildRequest", "BuildState", "ImageBuild", "ImageBuildEvent"),
    "harena.core.records.images": (
        "CollectedImages",
        "Image",
        "ImagePull",
        "ImagePullEvent",
        "ImageRoot",
        "ImagesPage",
        "PullState",
    ),
    "harena.core.records.job_diff": (
        "ChangeKind",
        "ComparedAttempts",
        "ComparedJob",
        "ComparedJobs",
        "ComparedProblems",
        "FlakyScenarios",
        "JobDiff",
        "McNemar",
        "PairedDifference",
        "ScenarioChange",
        "SignFlips",
    ),
    "harena.core.records.network": ("NetworkEntry", "NetworkLog", "NetworkRules"),
    "harena.core.records.objects": (
        "AdapterDescription",
        "CapabilityDescription",
        "DatasetDescription",
        "ModelDescription",
        "ResolvedReference",
        "ShippedModel",
        "ShippedModelDescription",
        "SkippedRows",
        "SplitDescription",
        "StoredObject",
        "StoredObjectsPage",
        "TaskDescription",
        "UsedSplit",
    ),
    "harena.core.records.result_rows": ("ColumnKind",),
    "harena.core.records.sandbox_answers": (
        "CommandOutput",
        "CommandOutputs",
        "DirectoryListing",
        "ExecReport",
        "ProcessListing",
        "SandboxesPage",
    ),
    "harena.core.records.sandboxes": ("Limits", "ProcessInfo", "SandboxInfo", "SandboxStatus", "SandboxUsage"),
    "harena.core.records.secrets": ("Secret", "SecretsPage"),
    "harena.core.records.server": ("ApiKey", "ClientLease", "NewApiKey", "ServerHealth"),
    "harena.core.records.snapshots": ("Snapshot", "SnapshotsPage"),
    "harena.core.records.training_jobs": (
        "CapabilityReference",
        "PlannedTraining",
        "TrainingArtifacts",
        "TrainingEvent",
        "TrainingFile",
        "TrainingJob",
        "TrainingJobsPage",
        "TrainingLog",
        "TrainingLogsPage",
        "TrainingMetrics",
        "TrainingProgress",
    ),
    "harena.core.records.training_plans": ("LossSpec", "RewardPlan", "RLPlan", "SFTPlan", "TrainingPlan", "TuningPlan"),
    "harena.core.records.worlds": (
        "TrajectoryOrder",
        "World",
        "WorldGoal",
        "WorldJob",
        "WorldJobsPage",
        "WorldJobState",
        "WorldManifest",
        "WorldMap",
        "WorldsPage",
    ),
}
"""module -> its records and enums"""
NOUNS = (
    "benchmark_job_defs",
    "benchmark_jobs",
    "blueprints",
    "calibrations",
    "images",
    "registry",
    "scenarios",
    "scoring_contracts",
    "secrets",
    "snapshots",
    "training_jobs",
    "world_jobs",
    "world_manifests",
)
"""modules of `harena.sdk`, each with the verbs of a noun"""
COMMANDS = ("secrets",)
"""nouns that have a group of commands, a module of their name in `harena.cli`"""
