"""Operations on the jobs that make trajectories of worlds."""

from __future__ import annotations

from harena.core.operations.operation import READ, WRITE, Operation
from harena.core.ports.world_jobs import WorldJobOperations as Port
from harena.core.records.worlds import WorldJob, WorldJobsPage

NOUN = "world jobs"
_ALL = "/v1/world_jobs"
_ONE = f"{_ALL}/{{job}}"

CREATE = Operation(
    NOUN,
    "create",
    "POST",
    _ALL,
    WRITE,
    Port.create_world_job,
    WorldJob,
    body="WorldJobBody",
    creates=True,
    starts_work=True,
    errors=frozenset({404}),
)
LIST = Operation(NOUN, "list_jobs", "GET", _ALL, READ, Port.list_world_jobs, WorldJobsPage)
GET = Operation(
    NOUN, "get", "GET", _ONE, READ, Port.get_world_job, WorldJob, waits=lambda port, job: port.wait_world_job(job)
)
CANCEL = Operation(NOUN, "cancel", "POST", f"{_ONE}/cancel", WRITE, Port.cancel_world_job, WorldJob)
DELETE = Operation(NOUN, "delete", "DELETE", _ONE, WRITE, Port.delete_world_job, frees=True)
OPERATIONS = (CREATE, LIST, GET, CANCEL, DELETE)
