"""Privileges: capabilities, no_new_privs, and being out of reach of one's own children."""

from __future__ import annotations

import struct

from harena.runtime.kernel import proc_files
from harena.runtime.kernel.syscalls import StepError, prctl

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_SECUREBITS = 28
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4

# NOROOT, NO_SETUID_FIXUP and NO_CAP_AMBIENT_RAISE, each with its lock: uid 0 gains nothing by exec, for ever
_SECUREBITS_LOCKED = 0b1100_1111 & ~0b0011_0000

_EINVAL = 22


_CAP_SETGID, _CAP_SETUID, _CAP_SETPCAP, _CAP_NET_ADMIN, _CAP_SYS_ADMIN, _CAP_SETFCAP = 6, 7, 8, 12, 21, 31
_NEEDED_BY_A_LAUNCH = frozenset((_CAP_SETGID, _CAP_SETUID, _CAP_SETPCAP, _CAP_NET_ADMIN, _CAP_SYS_ADMIN, _CAP_SETFCAP))
"""maps of users, the locks of a sandbox, its loopback device, its mounts and namespaces; the last one for who maps user
0 of its user namespace into another (Linux 5.12)"""


_CAP_CHOWN, _CAP_DAC_OVERRIDE, _CAP_FOWNER, _CAP_FSETID = 0, 1, 3, 4
_NEEDED_BY_OVERLAYS = frozenset((_CAP_CHOWN, _CAP_DAC_OVERRIDE, _CAP_FOWNER, _CAP_FSETID))
"""An overlay copies a file up, and looks into its work directory, with the rights of who has mounted it, whoever has
opened the file."""


_CAP_KILL = 5
_OF_INITS_WITH_USERS = frozenset((_CAP_DAC_OVERRIDE, _CAP_FOWNER, _CAP_KILL, _CAP_SETGID, _CAP_SETUID))
"""Where a sandbox has several users, init starts programs as each of them, ends them, and does what is asked with their
files. A program that it starts loses them by its exec."""


_CAP_LOW_PORTS, _CAP_SYS_CHROOT = 10, 18
_NEEDED_BY_LISTENERS = frozenset((_CAP_LOW_PORTS,))
"""for ports below 1024 of network namespaces of its own"""
OF_MACHINES = _OF_INITS_WITH_USERS | {_CAP_CHOWN, _CAP_FSETID, _CAP_SETPCAP, _CAP_LOW_PORTS, _CAP_SYS_CHROOT}
"""What root's programs have in the profile `machine`, over the template's inner user namespace: Docker's default set
without CAP_MKNOD, CAP_NET_RAW, CAP_AUDIT_WRITE and CAP_SETFCAP. Packages are unpacked with the owners and modes that
they say (CHOWN, DAC_OVERRIDE, FOWNER, FSETID); apt, su and services become other users (SETUID, SETGID), take rights
from what they start (SETPCAP), and end it (KILL); services listen at ports below 1,024 (NET_BIND_SERVICE) and shut
themselves in (SYS_CHROOT)."""


def keep_what_launches_need(
    *, own_roots: bool = False, users: bool = False, is_machine: bool = False, listens: bool = False
) -> None:
    """Before a template's interpreter starts: its exec gives it these capabilities, of its own user namespace, and no
    others. `own_roots`: its sandboxes mount overlays that can be written to; `users`: they have several users;
    `is_machine`: they have the profile `machine`; `listens`: they have listeners."""
    kept = _NEEDED_BY_A_LAUNCH
    if own_roots:
        kept |= _NEEDED_BY_OVERLAYS
    if users:
        kept |= _OF_INITS_WITH_USERS
    if is_machine:
        kept |= OF_MACHINES
    if listens:
        kept |= _NEEDED_BY_LISTENERS
    _empty_bounding_set(but_for=kept)
    prctl("no_new_privs", _PR_SET_NO_NEW_PRIVS, 1)


def forbid_gains(*, is_machine: bool = False) -> None:
    """Once per template; forks inherit it: no exec gains a privilege, and the bounding set is empty. In the profile
    `machine` that holds what root's programs have, and root's programs keep it."""
    _empty_bounding_set(but_for=OF_MACHINES if is_machine else frozenset())
    prctl("ambient_clear", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    if not is_machine:
        prctl("securebits", _PR_SET_SECUREBITS, _SECUREBITS_LOCKED)
    prctl("no_new_privs", _PR_SET_NO_NEW_PRIVS, 1)


def calls_that_forbid_gains() -> list[tuple[int, int, int]]:
    """The arguments of `prctl` by which a process does to itself what `forbid_gains` does."""
    count = int(proc_files.read("/proc/sys/kernel/cap_last_cap")) + 1
    return [
        *((_PR_CAPBSET_DROP, capability, 0) for capability in range(count)),
        (_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0),
        (_PR_SET_SECUREBITS, _SECUREBITS_LOCKED, 0),
        (_PR_SET_NO_NEW_PRIVS, 1, 0),
    ]


def _empty_bounding_set(but_for: frozenset[int] = frozenset()) -> None:
    for capability in range(64):
        if capability in but_for:
            continue
        try:
            prctl("capbset_drop", _PR_CAPBSET_DROP, capability)
        except StepError as error:
            if error.errno == _EINVAL:
                break  # past the last capability that this kernel knows
            raise


# capset(2): version 3, this process; effective, permitted and inheritable sets empty
CAPSET_HEADER = struct.pack("<Ii", 0x20080522, 0)
CAPSET_NOTHING = b"\0" * 24


def _capset(capabilities: frozenset[int]) -> bytes:
    """Effective and permitted; none is inheritable."""
    bits = sum(1 << number for number in capabilities)
    low, high = bits & 0xFFFFFFFF, bits >> 32
    return struct.pack("<6I", low, low, 0, high, high, 0)


CAPSET_OF_INIT = _capset(_OF_INITS_WITH_USERS)
"""what an init keeps whose sandbox has several users"""
CAPSET_OF_MACHINE = _capset(OF_MACHINES)
"""what an init keeps, and root's programs have, in the profile `machine`"""


def set_dumpable(value: bool) -> None:
    """A process that is not dumpable cannot be traced, and its /proc entries cannot be opened, by its own user."""
    prctl("dumpable", PR_SET_DUMPABLE, 1 if value else 0)


def die_with_parent() -> None:
    """SIGKILL when the parent ends. Lost by a change of user, so set after it."""
    prctl("pdeathsig", PR_SET_PDEATHSIG, 9)


def adopt_orphans() -> None:
    """Orphaned descendants become children of this process instead of pid 1's."""
    prctl("subreaper", _PR_SET_CHILD_SUBREAPER, 1)
