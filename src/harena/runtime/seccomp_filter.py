"""The seccomp filter of this machine, built once."""

from __future__ import annotations

import functools

from harena.core.errors import HostUnsupportedError
from harena.runtime.kernel import seccomp_policy


@functools.cache
def current() -> bytes:
    """BPF program. Raises HostUnsupportedError on an architecture without a table."""
    try:
        return seccomp_policy.build()
    except KeyError as error:
        raise HostUnsupportedError(str(error.args[0]), step="seccomp") from None
