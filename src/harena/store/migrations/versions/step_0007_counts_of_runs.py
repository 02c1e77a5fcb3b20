"""The counts of a job's runs, and the cursor of its last event, in the job's own row."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_ENDED = "state IN ('done', 'cancelled') AND passed IS NOT NULL"
_WHERE = {
    "runs_running": "state = 'running'",
    "runs_done": "state = 'done'",
    "runs_cancelled": "state = 'cancelled'",
    "runs_scored": f"score IS NOT NULL AND {_ENDED}",
    "runs_passed": f"passed AND {_ENDED}",
}


def upgrade() -> None:
    """Columns with defaults, so that no table is written anew; jobs that are there are counted once, now."""
    for name in (*_WHERE, "runs_invalid", "last_cursor"):
        op.add_column("benchmark_jobs", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    sqlite = op.get_bind().dialect.name == "sqlite"
    validity = "json_extract(envelope, '$.validity')" if sqlite else "envelope ->> 'validity'"
    invalid = f"state = 'done' AND score IS NULL AND {validity} = 'invalid'"
    counts = [
        f"{name} = (SELECT count(*) FROM runs WHERE runs.job_id = benchmark_jobs.id AND {where})"  # noqa: S608 - of words that stand above
        for name, where in {**_WHERE, "runs_invalid": invalid}.items()
    ]
    last = "last_cursor = COALESCE((SELECT max(cursor) FROM events WHERE events.job_id = benchmark_jobs.id), 0)"
    op.execute(f"UPDATE benchmark_jobs SET {', '.join([*counts, last])}")  # noqa: S608 - of words that stand above
