"""harena: isolated sandboxes, scores that cannot be forged, and benchmark jobs for RL fine-tuning.

Importing this is light: names are loaded when they are first used, and a node is opened with the first operation.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from harena.address import server_address
from harena.core import settings as _settings
from harena.sdk import transport as _transport

if TYPE_CHECKING:
    from harena import sft as sft
    from harena.alias_modules import install_aliases as install_aliases
    from harena.calibration import calibrate as calibrate
    from harena.checks import doctor as doctor
    from harena.checks import load_scenarios as load_scenarios
    from harena.checks import scenario_schema as scenario_schema
    from harena.core.daemons import Daemon as Daemon
    from harena.core.errors import (
        AccessError as AccessError,
    )
    from harena.core.errors import (
        AsyncFunctionError as AsyncFunctionError,
    )
    from harena.core.errors import (
        FunctionError as FunctionError,
    )
    from harena.core.errors import (
        HarenaError as HarenaError,
    )
    from harena.core.errors import (
        HostUnsupportedError as HostUnsupportedError,
    )
    from harena.core.errors import (
        ImageBuildError as ImageBuildError,
    )
    from harena.core.errors import (
        ImagePullError as ImagePullError,
    )
    from harena.core.errors import (
        LimitExceededError as LimitExceededError,
    )
    from harena.core.errors import (
        NotFoundError as NotFoundError,
    )
    from harena.core.errors import (
        PlatformError as PlatformError,
    )
    from harena.core.errors import (
        SandboxCommandTimeoutError as SandboxCommandTimeoutError,
    )
    from harena.core.errors import (
        SandboxError as SandboxError,
    )
    from harena.core.errors import (
        SandboxExecutionError as SandboxExecutionError,
    )
    from harena.core.errors import (
        SandboxFailedError as SandboxFailedError,
    )
    from harena.core.errors import (
        SandboxFileError as SandboxFileError,
    )
    from harena.core.errors import (
        SandboxNotFoundError as SandboxNotFoundError,
    )
    from harena.core.errors import (
        SandboxNotRunningError as SandboxNotRunningError,
    )
    from harena.core.errors import (
        SandboxRequestTimeoutError as SandboxRequestTimeoutError,
    )
    from harena.core.errors import (
        SandboxResourceExhaustedError as SandboxResourceExhaustedError,
    )
    from harena.core.errors import (
        SandboxTerminatedError as SandboxTerminatedError,
    )
    from harena.core.errors import (
        SandboxTimeoutError as SandboxTimeoutError,
    )
    from harena.core.errors import (
        SandboxUnavailableError as SandboxUnavailableError,
    )
    from harena.core.errors import (
        SandboxValidationError as SandboxValidationError,
    )
    from harena.core.errors import (
        ValidationError as ValidationError,
    )
    from harena.core.gateways import Gateway as Gateway
    from harena.core.gateways import GatewayRule as GatewayRule
    from harena.core.job_lifecycle import JobState as JobState
    from harena.core.models import (
        Blueprint as Blueprint,
    )
    from harena.core.models import (
        BlueprintSummary as BlueprintSummary,
    )
    from harena.core.models import (
        ExecOutcome as ExecOutcome,
    )
    from harena.core.models import (
        FileInfo as FileInfo,
    )
    from harena.core.models import (
        Limits as Limits,
    )
    from harena.core.models import (
        ProcessInfo as ProcessInfo,
    )
    from harena.core.models import (
        ProcessResult as ProcessResult,
    )
    from harena.core.models import (
        ResourceUsage as ResourceUsage,
    )
    from harena.core.models import (
        SandboxInfo as SandboxInfo,
    )
    from harena.core.models import (
        SandboxStatus as SandboxStatus,
    )
    from harena.core.network_policy import NetworkPolicy as NetworkPolicy
    from harena.core.ports import Operations
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
    from harena.core.records.calibrations import BatteryRuns as BatteryRuns
    from harena.core.records.calibrations import CalibratedScenario as CalibratedScenario
    from harena.core.records.calibrations import CalibrationReport as CalibrationReport
    from harena.core.records.calibrations import ConstantRuns as ConstantRuns
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
    from harena.core.records.job_diff import FlakyScenarios as FlakyScenarios
    from harena.core.records.job_diff import JobDiff as JobDiff
    from harena.core.records.job_diff import McNemar as McNemar
    from harena.core.records.job_diff import PairedDifference as PairedDifference
    from harena.core.records.job_diff import ScenarioChange as ScenarioChange
    from harena.core.records.network import NetworkEntry as NetworkEntry
    from harena.core.records.network import NetworkLog as NetworkLog
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
    from harena.core.records.secrets import Secret as Secret
    from harena.core.records.secrets import SecretsPage as SecretsPage
    from harena.core.records.snapshots import Snapshot as Snapshot
    from harena.core.records.snapshots import SnapshotsPage as SnapshotsPage
    from harena.core.records.training_jobs import CapabilityReference as CapabilityReference
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
    from harena.core.results import Reason as Reason
    from harena.core.results import Rescore as Rescore
    from harena.core.results import RunResult as RunResult
    from harena.core.results import Trust as Trust
    from harena.core.results import Validity as Validity
    from harena.core.training_jobs import TrainingEventKind as TrainingEventKind
    from harena.core.training_jobs import TrainingState as TrainingState
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
    from harena.sdk import webhooks as webhooks
    from harena.sdk.defaults import SandboxDefaults as SandboxDefaults
    from harena.sdk.functions import RemoteFunction as RemoteFunction
    from harena.sdk.options import ResourceOptions as ResourceOptions
    from harena.sdk.options import SandboxOptions as SandboxOptions
    from harena.sdk.portal import disable_signal_handlers as disable_signal_handlers
    from harena.sdk.portal import shutdown as shutdown
    from harena.sdk.process import (
        Process as Process,
    )
    from harena.sdk.process import (
        TerminalResult as TerminalResult,
    )
    from harena.sdk.process import (
        TerminalSession as TerminalSession,
    )
    from harena.sdk.refs import OperationRef as OperationRef
    from harena.sdk.sandbox import Sandbox as Sandbox
    from harena.sdk.scores import score as score
    from harena.sdk.session import Session as Session
    from harena.sdk.streams import StreamReader as StreamReader
    from harena.sdk.streams import StreamWriter as StreamWriter
    from harena.sdk.waiting import (
        as_completed as as_completed,
    )
    from harena.sdk.waiting import (
        get as get,
    )
    from harena.sdk.waiting import (
        result as result,
    )
    from harena.sdk.waiting import (
        results as results,
    )
    from harena.sdk.waiting import (
        wait as wait,
    )

__version__ = "0.1.0"

_HOMES: dict[str, tuple[str, ...]] = {
    "harena": ("sft",),
    "harena.alias_modules": ("install_aliases",),
    "harena.calibration": ("calibrate",),
    "harena.checks": ("doctor", "load_scenarios", "scenario_schema"),
    "harena.core.errors": (
        *(
            "AccessError",
            "AsyncFunctionError",
            "FunctionError",
            "HarenaError",
            "HostUnsupportedError",
            "ImageBuildError",
            "ImagePullError",
        ),
        *("LimitExceededError", "NotFoundError"),
        *("PlatformError", "SandboxCommandTimeoutError", "SandboxError", "SandboxExecutionError", "SandboxFailedError"),
        *("SandboxFileError", "SandboxNotFoundError", "SandboxNotRunningError", "SandboxRequestTimeoutError"),
        *("SandboxResourceExhaustedError", "SandboxTerminatedError", "SandboxTimeoutError"),
        *("SandboxUnavailableError", "SandboxValidationError", "ValidationError"),
    ),
    "harena.core.daemons": ("Daemon",),
    "harena.core.gateways": ("Gateway", "GatewayRule"),
    "harena.core.job_lifecycle": ("JobState",),
    "harena.core.models": (
        *("Blueprint", "BlueprintSummary", "ExecOutcome", "FileInfo", "Limits", "ProcessInfo", "ProcessResult"),
        *("ResourceUsage", "SandboxInfo", "SandboxStatus"),
    ),
    "harena.core.network_policy": ("NetworkPolicy",),
    "harena.core.records.benchmark_jobs": (
        *("BenchmarkEvent", "BenchmarkJob", "BenchmarkJobsPage", "BenchmarkResults", "BenchmarkRun"),
        *("DefinitionReference", "ExpectedVerdict", "HoneypotCounts", "JobConfiguration", "JobLineage"),
        *("JobSummary", "LeftOutRows", "Progress", "Rescored", "RescoredCounts", "ResultsPage", "Summary"),
        *("VerdictCounts", "WebhookDelivery", "WebhookEvent"),
    ),
    "harena.core.records.calibrations": (
        *("BatteryRuns", "CalibratedScenario", "CalibrationReport", "ConstantRuns", "GoldRuns"),
        *("KnownWrongRuns", "MutantRuns", "PaidForgery"),
    ),
    "harena.core.records.catalog": (
        *("ArchivedVersions", "BenchmarkJobDef", "CalibrationJob", "CalibrationOutline", "CatalogEntry"),
        *("CatalogPage", "ContractsPage", "DefinitionsPage", "ScenariosPage", "ScoringContract"),
        *("StoredScenarios", "WebhookOutline"),
    ),
    "harena.core.records.image_builds": ("BuildRequest", "BuildState", "ImageBuild", "ImageBuildEvent"),
    "harena.core.records.gateways": ("GatewayEntry", "GatewayLog"),
    "harena.core.records.images": (
        *("CollectedImages", "Image", "ImagePull", "ImagePullEvent", "ImageRoot", "ImagesPage", "PullState"),
    ),
    "harena.core.records.job_diff": (
        *("ChangeKind", "ComparedAttempts", "ComparedJob", "ComparedJobs", "FlakyScenarios", "JobDiff", "McNemar"),
        *("PairedDifference", "ScenarioChange"),
    ),
    "harena.core.records.objects": (
        *("AdapterDescription", "CapabilityDescription", "DatasetDescription", "ModelDescription"),
        *("ResolvedReference", "ShippedModel", "ShippedModelDescription", "SkippedRows", "SplitDescription"),
        *("StoredObject", "StoredObjectsPage", "TaskDescription", "UsedSplit"),
    ),
    "harena.core.records.network": ("NetworkEntry", "NetworkLog"),
    "harena.core.records.result_rows": ("ColumnKind",),
    "harena.core.records.secrets": ("Secret", "SecretsPage"),
    "harena.core.records.snapshots": ("Snapshot", "SnapshotsPage"),
    "harena.core.records.training_jobs": (
        *("CapabilityReference", "TrainingArtifacts", "TrainingEvent", "TrainingFile", "TrainingJob"),
        *("TrainingJobsPage", "TrainingLog", "TrainingLogsPage", "TrainingMetrics", "TrainingProgress"),
    ),
    "harena.core.records.training_plans": (
        *("LossSpec", "RLPlan", "RewardPlan", "SFTPlan", "TrainingPlan", "TuningPlan"),
    ),
    "harena.core.results": (
        "Reason",
        "Rescore",
        "RunResult",
        "Trust",
        "Validity",
    ),
    "harena.core.training_jobs": ("TrainingEventKind", "TrainingState"),
    "harena.sdk": (
        *("benchmark_job_defs", "benchmark_jobs", "blueprints", "calibrations", "images", "registry", "scenarios"),
        *("scoring_contracts", "secrets", "snapshots", "training_jobs", "webhooks"),
    ),
    "harena.sdk.defaults": ("SandboxDefaults",),
    "harena.sdk.functions": ("RemoteFunction",),
    "harena.sdk.options": ("ResourceOptions", "SandboxOptions"),
    "harena.sdk.portal": ("disable_signal_handlers", "shutdown"),
    "harena.sdk.process": ("Process", "TerminalResult", "TerminalSession"),
    "harena.sdk.refs": ("OperationRef",),
    "harena.sdk.sandbox": ("Sandbox",),
    "harena.sdk.scores": ("score",),
    "harena.sdk.session": ("Session",),
    "harena.sdk.streams": ("StreamReader", "StreamWriter"),
    "harena.sdk.waiting": ("as_completed", "get", "result", "results", "wait"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME_OF, "__version__"])


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'harena' has no attribute {name!r}")
    is_module = home in ("harena", "harena.sdk")
    value = import_module(f"{home}.{name}") if is_module else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


async def _open_node() -> Operations:
    """A server where HARENA_BASE_URL names one, else the node inside this process; with the sdk's first operation."""
    if address := server_address():
        from harena.sdk.http import open_http

        return await open_http(address, api_key=_settings.API_KEY.read())
    from harena.node import open_embedded

    return await open_embedded()


_transport.set_factory(_open_node)
