"""The seccomp filter of this machine, built once for each of its two kinds."""

from __future__ import annotations

import functools

from harena.core.errors import HostUnsupportedError
from harena.runtime.kernel import seccomp_policy


@functools.cache
def current(*, counts_memory: bool) -> bytes:
    """BPF program. Without a memory cgroup, memory that belongs to no process cannot be made at all.

    Raises HostUnsupportedError on an architecture without a table.
    """
    try:
        return seccomp_policy.build(refused=frozenset() if counts_memory else seccomp_policy.UNACCOUNTED)
    except KeyError as error:
        raise HostUnsupportedError(str(error.args[0]), step="seccomp") from None


@functools.cache
def for_templates() -> bytes:
    """BPF program that a template's interpreter starts behind. Raises HostUnsupportedError, as `current`."""
    try:
        return seccomp_policy.build_for_templates()
    except KeyError as error:
        raise HostUnsupportedError(str(error.args[0]), step="seccomp") from None
