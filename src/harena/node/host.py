"""This host, for the package's face: what the doctor finds, without opening a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harena.runtime.doctor import Finding


def doctor() -> list[Finding]:
    """Examine this host; changes nothing. See `harena.runtime.doctor`."""
    from harena.runtime.doctor import report

    return report()
