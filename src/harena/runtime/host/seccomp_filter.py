"""The seccomp filters of this machine, each built once."""

from __future__ import annotations

import functools
from collections.abc import Callable

from harena.core.errors import HostUnsupportedError
from harena.core.profiles import Profile
from harena.runtime.kernel import seccomp_policy


@functools.cache
def current(*, counts_memory: bool, profile: Profile = "strict") -> bytes:
    """BPF program for a profile's sandboxes. Without a memory cgroup, memory that belongs to no process cannot be made
    at all.

    Raises HostUnsupportedError on an architecture without a table.
    """
    refused = _refused(counts_memory=counts_memory)
    return _build(lambda: seccomp_policy.build(refused=refused, is_machine=profile == "machine"))


@functools.cache
def behind_templates(*, counts_memory: bool, own_roots: bool = False, profile: Profile = "strict") -> bytes:
    """BPF program that makes `current` of `for_templates`, for sandboxes that are forked behind the latter. Raises
    HostUnsupportedError, as `current`."""
    refused, is_machine = _refused(counts_memory=counts_memory), profile == "machine"
    return _build(
        lambda: seccomp_policy.build_behind_templates(refused=refused, own_roots=own_roots, is_machine=is_machine)
    )


@functools.cache
def for_shared_inodes() -> bytes:
    """BPF program beside `current`, where sandboxes see the host's own inodes. Raises HostUnsupportedError, as
    `current`."""
    return _build(seccomp_policy.build_for_shared_inodes)


@functools.cache
def for_templates(*, own_roots: bool = False, profile: Profile = "strict") -> bytes:
    """BPF program that a template's interpreter starts behind; `own_roots`: its sandboxes go into roots of their own.
    Raises HostUnsupportedError, as `current`."""
    return _build(lambda: seccomp_policy.build_for_templates(own_roots=own_roots, is_machine=profile == "machine"))


def _refused(*, counts_memory: bool) -> frozenset[str]:
    return frozenset() if counts_memory else seccomp_policy.UNACCOUNTED


def _build(build: Callable[[], bytes]) -> bytes:
    try:
        return build()
    except KeyError as error:
        raise HostUnsupportedError(str(error.args[0]), step="seccomp") from None
