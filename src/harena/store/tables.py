"""The tables. States, kinds and verdicts are text here: what they may be is said by the rooms that own them.

benchmark_jobs   one row per job; `sequence` is the order of acceptance
job_requests     what another process needs to go on with a job; only of jobs that outlive their process
runs             one row per scenario and attempt; `envelope` is the whole result as JSON once the run has ended
run_metadata     metadata of a job's scenarios, by its digest; compressed JSON
events           what happened to a job, numbered 1, 2, ... within it
catalog          one row per version of a named batch of scenarios, or of a scoring contract
catalog_contents what a version holds, by its digest; compressed JSON
calibrations     one row per calibration; its job has the same id
objects          one row per version of a capability, task, data set, model or checkpoint; its files lie by its digest
api_keys         one row per API key of a server; of the key itself only a hash
workspaces       what a workspace may use, where that is not what all may, null = that; and its organisation
spent_requests   requests that each of several servers has let in, by key
idempotency_keys what was created with an idempotency key; a row lives as long as that
secrets          one row per secret of a workspace; its value is sealed
webhook_deliveries   at most one row per job: whom its end is told, and how far that is
training_jobs    one row per training job
training_events  what happened to a training job, numbered 1, 2, ... within it

How a database gets these tables is said by `migrations`; a test compares the two.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    false,
)

from harena.store.sealing import SealedText

metadata = MetaData()

COUNTS = (
    *("runs_running", "runs_done", "runs_cancelled", "runs_scored", "runs_passed", "runs_invalid"),
    "last_cursor",
)


class AnyText(TypeDecorator[str]):
    """Text that may hold what databases refuse (NUL, lone surrogates): those become the replacement character."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """The text as it can be written."""
        if value is None:
            return None
        return str(value).replace("\x00", "\ufffd").encode(errors="replace").decode()


BEING_DELETED = ""
"""workspace of a benchmark job or training job whose deletion has begun; no workspace has this name"""

benchmark_jobs = Table(
    "benchmark_jobs",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    # what another workspace has does not exist for it
    Column("workspace", Text, nullable=False, server_default="default"),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("started_at", Text),
    Column("ended_at", Text),
    Column("duration_seconds", Float),
    Column("blueprint", Text, nullable=False),
    Column("config", JSON, nullable=False),
    Column("effective_concurrency", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("error", AnyText),
    # who runs it: a process is known by its pid, its start time and the boot that both belong to
    Column("owner_pid", Integer, nullable=False),
    Column("owner_started", Text, nullable=False),
    Column("owner_boot", Text, nullable=False),
    Column("cancel_requested", Boolean, nullable=False, default=False),
    # whether it outlives its process, and is taken over by another
    Column("durable", Boolean, nullable=False, server_default=false()),
    # the lease: an epoch for each owner, and a beat that grows while the owner lives
    Column("lease_epoch", Integer, nullable=False, server_default="1"),
    Column("lease_beat", Integer, nullable=False, server_default="0"),
    # seconds that it has been run, over all its owners
    Column("active_seconds", Float, nullable=False, server_default="0"),
    # how many of its runs are where, and the newest of its events: progress costs one row
    *(Column(name, Integer, nullable=False, server_default="0") for name in COUNTS),
    # what it was made of, the stored versions and the rows left out: {scenarios, digest, contracts, left_out}
    Column("lineage", JSON(none_as_null=True)),
    # {ref, digest} of the definition that it was made of
    Column("definition", JSON(none_as_null=True)),
    # of the row in webhook_deliveries
    Column("delivery_id", Text),
)

job_requests = Table(
    "job_requests",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("request", LargeBinary, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("scenario_id", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("score", Float),
    Column("passed", Boolean),
    Column("envelope", JSON(none_as_null=True)),
    # tries that failed or were repeated; those of them that were scored, and repeated because the job asks for it
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("repeats", Integer, nullable=False, server_default="0"),
    # nodes that were lost while it was under way
    Column("interruptions", Integer, nullable=False, server_default="0"),
    # the cursor of the event that told of its end: the order of results
    Column("ended_cursor", Integer),
    # of metadata that is not in the envelope: where it lies, and its size as JSON
    Column("metadata_digest", Text),
    Column("metadata_bytes", Integer),
    sqlite_with_rowid=False,
)

run_metadata = Table(
    "run_metadata",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("cursor", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("body", JSON, nullable=False),
    sqlite_with_rowid=False,
)

catalog = Table(
    "catalog",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("workspace", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("digest", Text, nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("described", JSON, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("archived_at", Text),
)

catalog_contents = Table(
    "catalog_contents",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

calibrations = Table(
    "calibrations",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("job_id", Text, nullable=False, unique=True),
    Column("workspace", Text, nullable=False),
    # of the stored scenarios; of others there is none
    Column("name", Text),
    Column("version", Integer),
    Column("gold_runs", Integer, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("sources", LargeBinary),
    Column("report", JSON(none_as_null=True)),
)

Index("catalog_once_per_version", catalog.c.workspace, catalog.c.kind, catalog.c.name, catalog.c.version, unique=True)
objects = Table(
    "objects",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("workspace", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("version", Text, nullable=False),
    # of the tree of files
    Column("digest", Text, nullable=False),
    Column("files", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("folders", Integer, nullable=False, server_default="0"),
    # what was read of it when it was published
    Column("described", JSON, nullable=False),
    Column("created_at", Text, nullable=False),
    # whose workspaces see it, too; null = its own workspace alone does
    Column("organization", Text),
)

Index("objects_once_per_version", objects.c.workspace, objects.c.kind, objects.c.name, objects.c.version, unique=True)
_PUBLISHED = (objects.c[name] for name in ("organization", "kind", "name", "version"))
Index("objects_once_per_organization", *_PUBLISHED, unique=True)
Index("calibrations_by_version", calibrations.c.workspace, calibrations.c.name, calibrations.c.version)
api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("workspace", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("revoked_at", Text),
)

workspaces = Table(
    "workspaces",
    metadata,
    Column("name", Text, primary_key=True),
    # columns of `harena.core.workspace.WorkspaceLimits`
    Column("requests_per_second", Float),
    Column("request_burst", Integer),
    Column("request_bytes", BigInteger),
    Column("sandboxes", Integer),
    Column("open_jobs", Integer),
    Column("runs", Integer),
    # all others, by name
    Column("others", JSON(none_as_null=True)),
    # null = the default one
    Column("organization", Text),
)

spent_requests = Table(
    "spent_requests",
    metadata,
    # an API key's id, or a workspace
    Column("who", Text, primary_key=True),
    Column("server", Text, primary_key=True),
    # requests since that server began
    Column("taken", BigInteger, nullable=False),
    # seconds since the epoch
    Column("at", Float, nullable=False),
    sqlite_with_rowid=False,
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("workspace", Text, primary_key=True),
    # the noun that was created
    Column("route", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    # a fingerprint of the request
    Column("asked", Text, nullable=False),
    Column("answer_id", Text, nullable=False),
    sqlite_with_rowid=False,
)

secrets = Table(
    "secrets",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    # workspace, name, hosts and value; never read back by anything that answers a request
    Column("sealed", Text, nullable=False),
    # what lists show; those that count are sealed
    Column("hosts", JSON, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    sqlite_with_rowid=False,
)

Index("api_keys_by_workspace", api_keys.c.workspace)
Index("idempotency_keys_by_answer", idempotency_keys.c.answer_id)
webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("id", Text, primary_key=True),
    Column("job_id", Text, nullable=False, unique=True),
    Column("url", Text, nullable=False),
    # the job's
    Column("workspace", Text, nullable=False, server_default="default"),
    # host and port of the URL: one that hangs shall not hold up the others
    Column("receiver", Text, nullable=False),
    # forgotten when the delivery is over
    Column("secret", SealedText),
    # of a job that outlives its process: a server's, and then posted by servers only
    Column("durable", Boolean, nullable=False),
    Column("state", Text, nullable=False),
    Column("tries", Integer, nullable=False, server_default="0"),
    Column("due_at", Text),
    Column("ended_at", Text),
    Column("error", AnyText),
    # what is posted, the same with each try
    Column("body", Text),
)

Index(
    "webhook_deliveries_by_turn",
    *(webhook_deliveries.c[name] for name in ("state", "durable", "workspace", "due_at")),
)
Index("benchmark_jobs_by_state", benchmark_jobs.c.state)
Index("benchmark_jobs_by_workspace", benchmark_jobs.c.workspace, benchmark_jobs.c.sequence)
Index("benchmark_jobs_by_name", benchmark_jobs.c.workspace, benchmark_jobs.c.name, benchmark_jobs.c.sequence)
Index("runs_once_per_attempt", runs.c.job_id, runs.c.scenario_id, runs.c.attempt, unique=True)
Index("runs_by_end", runs.c.job_id, runs.c.ended_cursor, unique=True)

training_jobs = Table(
    "training_jobs",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("workspace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("trainer_type", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("started_at", Text),
    Column("ended_at", Text),
    # as it was asked for, what its references stand for, and the plan that was made of both
    Column("request", JSON, nullable=False),
    Column("resolved", JSON, nullable=False),
    Column("plan", JSON, nullable=False),
    Column("error", AnyText),
    Column("cancel_requested_at", Text),
    # steps that are done, of how many; the newest value of each metric; what there is to fetch
    Column("step", Integer, nullable=False, server_default="0"),
    Column("steps", Integer),
    Column("metrics", JSON, nullable=False),
    Column("artifacts", JSON, nullable=False),
    # the folder of the present try; retries from scratch have a new one each
    Column("attempt", Integer, nullable=False, server_default="1"),
    # workers that died: in all, and since the last checkpoint
    Column("restarts", Integer, nullable=False, server_default="0"),
    Column("crashes", Integer, nullable=False, server_default="0"),
    Column("last_cursor", Integer, nullable=False, server_default="0"),
    # owner and lease as those of benchmark jobs; a queued job of a server is nobody's yet
    Column("owner_pid", Integer, nullable=False),
    Column("owner_started", Text, nullable=False),
    Column("owner_boot", Text, nullable=False),
    Column("durable", Boolean, nullable=False),
    Column("lease_epoch", Integer, nullable=False, server_default="1"),
    Column("lease_beat", Integer, nullable=False, server_default="0"),
)

training_events = Table(
    "training_events",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("cursor", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("level", Text, nullable=False),
    Column("message", AnyText),
    Column("body", JSON, nullable=False),
    sqlite_with_rowid=False,
)

Index("training_jobs_by_state", training_jobs.c.state)
Index("training_jobs_by_workspace", training_jobs.c.workspace, training_jobs.c.sequence)
Index("training_jobs_by_name", training_jobs.c.workspace, training_jobs.c.name, training_jobs.c.sequence)

world_manifests = Table(
    "world_manifests",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("workspace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("manifest", JSON, nullable=False),
    # what was found out of its network: digest, numbers, goals
    Column("facts", JSON, nullable=False),
    Column("created_at", Text, nullable=False),
)

world_jobs = Table(
    "world_jobs",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("workspace", Text, nullable=False),
    Column("world", Text, nullable=False),
    Column("manifest", JSON, nullable=False),
    Column("trajectories", JSON, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("state", Text, nullable=False),
    # episodes: those that were played, those of them that reached the goal, those that are rows of the data set
    Column("played", Integer, nullable=False),
    Column("reached", Integer, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("error", AnyText),
    Column("created_at", Text, nullable=False),
    Column("ended_at", Text),
)

Index("world_manifests_by_workspace", world_manifests.c.workspace, world_manifests.c.sequence)
Index("world_jobs_by_workspace", world_jobs.c.workspace, world_jobs.c.sequence)
Index("world_jobs_by_state", world_jobs.c.state)
