"""This host, for the package's face: what the doctor finds, without opening a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harena.runtime.host.doctor import Finding


def doctor() -> list[Finding]:
    """Examine this host; changes nothing. See `harena.runtime.host.doctor`."""
    from harena.runtime.host.doctor import report

    return report()
