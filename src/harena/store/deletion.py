"""Deleting a job whose deletion has begun, a few rows in each transaction, so that no writer waits for long."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Table, delete, select

from harena.store.tables import BEING_DELETED

ROWS_DELETED_AT_A_TIME = 2000
"""in one transaction: a row holds up to some KiB"""

Parts = Sequence[tuple[Table, str]]
"""tables with rows of a job, each with the column that tells rows of one job apart"""


def delete_some(jobs: Table, parts: Parts, job_id: str, connection: Connection) -> bool:
    """Delete some rows of a job, at last its own in `jobs`; whether there is more."""
    its_own = (jobs.c.id == job_id, jobs.c.workspace == BEING_DELETED)
    # one at a time: rows that another deletes at this moment are not counted here, as if there were no more
    if connection.scalar(select(jobs.c.id).where(*its_own).with_for_update()) is None:
        return False
    for table, key in parts:
        column = table.c[key]
        some = select(column).where(table.c.job_id == job_id).order_by(column).limit(ROWS_DELETED_AT_A_TIME)
        if connection.execute(delete(table).where(table.c.job_id == job_id, column.in_(some))).rowcount:
            return True
    connection.execute(delete(jobs).where(*its_own))
    return False
