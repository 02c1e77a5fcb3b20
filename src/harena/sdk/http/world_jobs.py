"""Jobs of worlds over HTTP: what the table alone does not say."""

from __future__ import annotations

from harena.core.operations import world_jobs as table
from harena.core.records.worlds import WorldJob
from harena.sdk.http.from_table import FromTable


class HttpWorldJobs(FromTable):
    """Used from one event loop."""

    async def wait_world_job(self, job: str) -> WorldJob:
        """Wait until the job has ended, also past a server that goes away for a while."""
        return await self.wait_ended(table.GET, job, lambda found: found.state.is_over)
