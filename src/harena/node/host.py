"""What the doctor finds on this host: the package's face asks it without opening a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harena.runtime.host.doctor import Finding


def doctor(*, cluster: bool = False) -> list[Finding]:
    """Examine this host, with `cluster` also the pod and the cloud that it is in; changes nothing. See
    `harena.runtime.host.doctor`."""
    from harena.runtime.host.doctor import report

    found = report()
    if cluster:
        from harena.core.home import harena_home
        from harena.runtime.host.cluster import examine, judge

        found += judge(examine(harena_home()), found)
    return found
