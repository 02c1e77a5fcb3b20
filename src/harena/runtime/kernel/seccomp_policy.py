"""Seccomp: which system calls a sandbox may make, as a BPF program. Built once per node, outside every sandbox.

An allow-list (syscall_table), searched by halves so that a call costs about eight comparisons. Some are looked at
more closely:

    clone        no new namespaces (the user namespace would hand out capabilities again)
    clone3       its flags lie in memory, which BPF cannot read: ENOSYS, and libc falls back to clone
    socket       unix, inet, inet6 (stream and datagram of tcp, udp, icmp) only: vsock, packet, alg ... are not
                 contained by namespaces, other types and protocols make the kernel load modules, and what waits at a
                 netlink socket to be read is counted for nobody
    setsockopt, prctl   the options that option_policy lists
    sendto, sendmsg, sendmmsg   not MSG_MORE: a datagram that is never sent is counted for nobody
    mmap, memfd_create, shmget   no huge pages: the host's pool of them is counted for nobody, and answers as if empty
    poll, ppoll, select, pselect6   at most 1,024 descriptors at one time: the kernel keeps 72 bytes for each while the
                 call waits, also for one that is named again and again, and counts them for nobody
    ioctl        terminals, sockets and what all files have (FIONREAD ...) only: those of file systems set what they
                 keep of a file, or of themselves, beyond the sandbox (state, keys), also through a read-only mount, and
                 for those of bridges and VLANs the kernel loads modules.
                 Not TIOCSTI and TIOCLINUX (typing into somebody else's terminal), nor TIOCSETD (line disciplines)
    personality  only what changes nothing, and ADDR_NO_RANDOMIZE
    fcntl        not leases, directory notices and write hints: they belong to the file, which others may have open; nor
                 O_ASYNC, as FIOASYNC of ioctl: whoever reads or writes at a pipe's other end sends the signals, one to
                 each process of a group for each of the many descriptors that asked for it
    preadv2, pwritev2   not RWF_NOWAIT, RWF_DONTCACHE (they tell, and change, which pages of shared files are in memory)
    fadvise64, madvise   POSIX_FADV_DONTNEED, MADV_COLD and MADV_PAGEOUT are granted and nothing changes, for the same
                 reason; nor by MADV_MERGEABLE, which tells who else has a page of the same content
    prlimit64    limits are set by each process for itself only (pid 0): who lowers those of another one decides what a
                 program of somebody else says. Those of others may be read, but for pid 1's
    prlimit64, setrlimit   the limit of core dumps stays at 1 (see the spawner), whatever is asked for: with another one
                 the kernel would start the host's program for core dumps, where it has one
    sched_setparam, sched_setaffinity   not of pid 1
    setpriority, sched_setscheduler, sched_setattr, ioprio_set   a lower priority is granted and nothing changes: who
                 could have one would buy the excuse of a starved host; never of pid 1
    setxattr, lsetxattr, fsetxattr   at most 236 bytes of a value: access lists of files, which have up to 64 KiB and
                 are inherited by every file of a folder, are counted for nobody
    signalfd, signalfd4   ENOSYS: who sends a signal wakes all that wait at such a descriptor, with every processor's
                 forks, exits and kills waiting for it, and many epolls make a million waiters
    sync, syncfs do nothing: they would reach every disk of the host; nor do fsync and its like where files of the host
                 are shown by its own inodes (see host_trees): what a sandbox writes lies in memory
    io_setup ... refused: their number is limited for the whole host

Sandboxes of the profile `machine` may change their root, too. They have signalfd, and FIOASYNC is granted without
effect there: PostgreSQL does not start without the one, nginx not without the other.

Other known calls give EPERM, numbers that the table's kernel did not know ENOSYS, other architectures' entry points
(int 0x80, x32) ENOSYS.
"""

from __future__ import annotations

import os
import struct

from harena.runtime.kernel import option_policy
from harena.runtime.kernel.syscall_table import AARCH64, X86_64

_EPERM, _ENOMEM, _EINVAL, _ENOTTY, _ERANGE, _ENOSYS = 1, 12, 22, 25, 34, 38
_ESOCKTNOSUPPORT, _EOPNOTSUPP, _EAFNOSUPPORT = 94, 95, 97
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000

_LOAD, _AND, _EQUAL, _GREATER_OR_EQUAL, _BITS, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
_NEW_NAMESPACES = 0x7E020000 | 0x80

_ARCHITECTURES = {"x86_64": (0xC000003E, X86_64), "aarch64": (0xC00000B7, AARCH64)}

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


def _low(argument: int) -> int:
    return 16 + 8 * argument


def _return(value: int) -> Instruction:
    return (_RETURN, 0, 0, value)


def _one_of(argument: int, values: tuple[int, ...], otherwise: int) -> list[Instruction]:
    """Allow if the argument's low word is one of `values`."""
    block: list[Instruction] = [(_LOAD, 0, 0, _low(argument))]
    for index, value in enumerate(values):
        block.append((_EQUAL, len(values) - index, 0, value))
    return [*block, _return(_ERRNO | otherwise), _return(_ALLOW)]


def _none_of(argument: int, values: tuple[int, ...], otherwise: int) -> list[Instruction]:
    """Refuse if the argument's low word is one of `values`."""
    block: list[Instruction] = [(_LOAD, 0, 0, _low(argument))]
    for index, value in enumerate(values):
        block.append((_EQUAL, len(values) - index, 0, value))
    return [*block, _return(_ALLOW), _return(_ERRNO | otherwise)]


def _answer(value: int) -> list[Instruction]:
    """What an option of option_policy gets."""
    return [_return(_ALLOW if value == option_policy.ALLOW else _ERRNO | value)]


def _choice(argument: int, actions: dict[int, list[Instruction]], otherwise: list[Instruction]) -> list[Instruction]:
    """What is done for each value of the argument's low word, found by halves."""
    segments: list[tuple[int, list[Instruction]]] = [(0, otherwise)]
    for value in sorted(actions):
        for first, action in ((value, actions[value]), (value + 1, otherwise)):
            if segments[-1][0] == first:
                segments.pop()
            if not segments or segments[-1][1] != action:
                segments.append((first, action))
    return [(_LOAD, 0, 0, _low(argument)), *_search(segments)]


def _setsockopt() -> list[Instruction]:
    """(descriptor, level, option, ...)"""
    unknown = _answer(option_policy.ENOPROTOOPT)
    levels = {
        level: _choice(2, {option: _answer(value) for option, value in options.items()}, unknown)
        for level, options in option_policy.SOCKET_OPTIONS.items()
    }
    return _choice(1, levels, unknown)


def _prctl(options: dict[int, int]) -> list[Instruction]:
    return _choice(0, {option: _answer(value) for option, value in options.items()}, _answer(option_policy.EINVAL))


def _socket() -> list[Instruction]:
    unix, inet, inet6 = 1, 2, 10
    icmp, tcp, udp, icmp6 = 1, 6, 17, 58  # others make the kernel load modules for them
    stream, datagram, raw = 1, 2, 3
    of_inet, protocol, allow, refuse = 4, 10, 16, 17
    rows: list[tuple[int, int, int | None, int]] = [  # code, operand, where to if true, where to if false
        (_LOAD, _low(0), None, 0),
        (_EQUAL, unix, allow, 2),
        (_EQUAL, inet, of_inet, 3),
        (_EQUAL, inet6, of_inet, refuse),
        (_LOAD, _low(1), None, 0),
        (_AND, 0xF, None, 0),  # without SOCK_NONBLOCK and SOCK_CLOEXEC
        (_EQUAL, stream, protocol, 7),
        (_EQUAL, datagram, protocol, 8),
        (_EQUAL, raw, 18, 9),
        (_RETURN, _ERRNO | _ESOCKTNOSUPPORT, None, 0),
        (_LOAD, _low(2), None, 0),
        (_EQUAL, tcp, allow, 12),
        (_EQUAL, udp, allow, 13),
        (_EQUAL, icmp, allow, 14),
        (_EQUAL, icmp6, allow, 15),
        (_EQUAL, 0, allow, refuse),
        (_RETURN, _ALLOW, None, 0),
        (_RETURN, _ERRNO | _EAFNOSUPPORT, None, 0),
        (_RETURN, _ERRNO | _EPERM, None, 0),
    ]
    return _placed(rows)


def _placed(rows: list[tuple[int, int, int | None, int]]) -> list[Instruction]:
    """Instructions whose jumps lead to places of this list; those without one have None."""
    return [
        (code, 0, 0, operand) if then is None else (code, then - place - 1, otherwise - place - 1, operand)
        for place, (code, operand, then, otherwise) in enumerate(rows)
    ]


def _setpriority() -> list[Instruction]:
    """(which, who, nice value): nicer is granted without effect; the rest is up to the kernel, for one process."""
    allow, grant, refuse = _return(_ALLOW), _return(_ERRNO | 0), _return(_ERRNO | _EPERM)
    return [
        (_LOAD, 0, 0, _low(1)),
        (_EQUAL, 6, 0, _INIT),
        (_LOAD, 0, 0, _low(2)),
        (_BITS, 2, 0, 0x80000000),  # below 0
        (_EQUAL, 1, 0, 0),
        grant,
        (_LOAD, 0, 0, _low(0)),
        (_EQUAL, 1, 0, 0),
        refuse,
        allow,
    ]


def _sched_setscheduler() -> list[Instruction]:
    """(pid, policy, ...): batch and idle are granted without effect; ordinary and real-time ones are the kernel's to
    decide, which has no right to give."""
    policies = [policy | reset for reset in (0, _RESET_ON_FORK) for policy in (0, 1, 2)]
    granted = [policy | reset for reset in (0, _RESET_ON_FORK) for policy in (3, 5)]
    rows: list[Instruction] = [(_LOAD, 0, 0, _low(0)), (_EQUAL, len(policies) + len(granted) + 1, 0, _INIT)]
    rows.append((_LOAD, 0, 0, _low(1)))
    for index, policy in enumerate(policies):
        rows.append((_EQUAL, len(policies) + len(granted) - index + 1, 0, policy))
    for index, policy in enumerate(granted):
        rows.append((_EQUAL, len(granted) - index, 0, policy))
    return [*rows, _return(_ERRNO | _EPERM), _return(_ERRNO | 0), _return(_ALLOW)]


def _sched_setattr() -> list[Instruction]:
    """(pid, ...): what is asked for lies in memory, which BPF cannot read; granted without effect."""
    return [(_LOAD, 0, 0, _low(0)), (_EQUAL, 0, 1, _INIT), _return(_ERRNO | _EPERM), _return(_ERRNO | 0)]


def _prlimit64() -> list[Instruction]:
    """(pid, resource, new limits, ...): a process sets its own, but that of core dumps, and reads those of others."""
    own, set_core, allow, refuse, grant = 7, 9, 13, 14, 15
    new = _low(2)
    return _placed(
        [
            (_LOAD, _low(0), None, 0),
            (_EQUAL, 0, own, 2),
            (_EQUAL, _INIT, refuse, 3),
            (_LOAD, new, None, 0),
            (_EQUAL, 0, 5, refuse),
            (_LOAD, new + 4, None, 0),  # the upper word of the pointer
            (_EQUAL, 0, allow, refuse),
            (_LOAD, _low(1), None, 0),
            (_EQUAL, _RLIMIT_CORE, set_core, allow),
            (_LOAD, new, None, 0),
            (_EQUAL, 0, 11, grant),
            (_LOAD, new + 4, None, 0),
            (_EQUAL, 0, allow, grant),
            (_RETURN, _ALLOW, None, 0),
            (_RETURN, _ERRNO | _EPERM, None, 0),
            (_RETURN, _ERRNO | 0, None, 0),
        ]
    )


def _ioprio_set() -> list[Instruction]:
    """(which, who, ...): granted without effect, for one process."""
    return [
        (_LOAD, 0, 0, _low(0)),
        (_EQUAL, 0, 3, _IOPRIO_WHO_PROCESS),
        (_LOAD, 0, 0, _low(1)),
        (_EQUAL, 1, 0, _INIT),
        _return(_ERRNO | 0),
        _return(_ERRNO | _EPERM),
    ]


def _clone() -> list[Instruction]:
    return [
        (_LOAD, 0, 0, _low(0)),
        (_BITS, 0, 1, _NEW_NAMESPACES),
        _return(_ERRNO | _EPERM),
        _return(_ALLOW),
    ]


def _at_most(argument: int, most: int, otherwise: int) -> list[Instruction]:
    """Allow if the argument's low word, without a sign, is not above `most`."""
    return [
        (_LOAD, 0, 0, _low(argument)),
        (_GREATER_OR_EQUAL, 0, 1, most + 1),
        _return(_ERRNO | otherwise),
        _return(_ALLOW),
    ]


def _without(argument: int, bits: int, otherwise: int) -> list[Instruction]:
    """Allow if the argument's low word has none of `bits`."""
    return [(_LOAD, 0, 0, _low(argument)), (_BITS, 0, 1, bits), _return(_ERRNO | otherwise), _return(_ALLOW)]


def _fcntl() -> list[Instruction]:
    """(descriptor, command, value): not what belongs to the file, nor signals for what happens at it."""
    commands = (_F_SETLEASE, _F_NOTIFY, _F_SET_RW_HINT, _F_SET_FILE_RW_HINT)
    return [
        (_LOAD, 0, 0, _low(1)),
        *((_EQUAL, len(commands) - index + 3, 0, command) for index, command in enumerate(commands)),
        (_EQUAL, 0, 2, _F_SETFL),
        (_LOAD, 0, 0, _low(2)),
        (_BITS, 1, 0, _O_ASYNC),
        _return(_ALLOW),
        _return(_ERRNO | _EINVAL),
    ]


def _ioctl(*, grants_async: bool) -> list[Instruction]:
    """(descriptor, request, ...): of terminals and of sockets, by the letter in the request's second byte; of the
    latter what asks a socket and its interfaces, and none for which the kernel would load a module. What else there is
    answers as a file does that does not know it. `grants_async`: FIOASYNC is granted, and nothing changes."""
    unknown, allow, refuse = _return(_ERRNO | _ENOTTY), _return(_ALLOW), _return(_ERRNO | _EPERM)
    async_ = _return(_ERRNO | 0) if grants_async else unknown
    answers: dict[int, Instruction] = {}  # the first request that gets it
    for first, last in ((0x5400, 0x54FF), (0x8900, _FIRST_OF_DRIVERS - 1), *((one, one) for one in _OTHERS_OF_SOCKETS)):
        answers |= {first: allow, last + 1: unknown}
    for request, answer in ((_TIOCSTI, refuse), (_TIOCLINUX, refuse), (_TIOCSETD, refuse), (_FIOASYNC, async_)):
        answers |= {request: answer, request + 1: allow}
    segments = [(0, [unknown]), *((first, [answers[first]]) for first in sorted(answers))]
    return [(_LOAD, 0, 0, _low(1)), (_AND, 0, 0, 0xFFFF), *_search(segments)]


MOST_ATTRIBUTE_BYTES = 236
"""Length limit of an extended attribute's value. An access list of 29 entries is so long, and takes 256 bytes of the
kernel's memory; the file and its name, which are counted, take five times as much."""
MOST_POLLED = 1024
"""the number of descriptors that a process has by default; epoll, which is counted, has no such bound"""
_INIT = 1
_RLIMIT_CORE = 4
_TIOCSTI, _TIOCLINUX, _TIOCSETD, _FIOASYNC = 0x5412, 0x541C, 0x5423, 0x5452
_FIRST_OF_DRIVERS = 0x8939
"""from here on requests of sockets belong to drivers: the kernel starts modprobe for those of bridges (SIOCGIFBR,
SIOCBRADDBR) and VLANs (SIOCGIFVLAN), outside every cgroup, before it asks for a privilege"""
_OTHERS_OF_SOCKETS = (0x8942, 0x8946, 0x894B, 0x8970)
"""SIOCGIFTXQLEN, SIOCETHTOOL, SIOCOUTQNSD, SIOCGIFMAP"""
_F_SETFL, _O_ASYNC = 4, 0x2000
_MSG_MORE = 0x8000
_RESET_ON_FORK = 0x40000000
_IOPRIO_WHO_PROCESS = 1
_FADV_DONTNEED, _RWF_NOWAIT, _RWF_DONTCACHE = 4, 8, 0x80
_MADV_MERGEABLE, _MADV_COLD, _MADV_PAGEOUT = 12, 20, 21
_MAP_HUGETLB, _MFD_HUGETLB, _SHM_HUGETLB = 0x40000, 4, 0o4000
_F_SETLEASE, _F_NOTIFY, _F_SET_RW_HINT, _F_SET_FILE_RW_HINT = 1024, 1026, 1036, 1038
_SAME_PERSONALITIES = (0, 8, 0x20000, 0x20008, 0x40000, 0xFFFFFFFF)


_GRANTED = [_return(_ERRNO | 0)]


def _special(*, is_machine: bool = False) -> dict[str, list[Instruction]]:
    return {
        "clone": _clone(),
        "clone3": [_return(_ERRNO | _ENOSYS)],
        "socket": _socket(),
        "ioctl": _ioctl(grants_async=is_machine),
        "prctl": _prctl(option_policy.PROCESS_OPTIONS),
        "setsockopt": _setsockopt(),
        "sendto": _without(3, _MSG_MORE, _EOPNOTSUPP),
        "sendmsg": _without(2, _MSG_MORE, _EOPNOTSUPP),
        "sendmmsg": _without(3, _MSG_MORE, _EOPNOTSUPP),
        "fcntl": _fcntl(),
        **dict.fromkeys(("poll", "ppoll"), _at_most(1, MOST_POLLED, _EINVAL)),
        **dict.fromkeys(("select", "pselect6"), _at_most(0, MOST_POLLED, _EINVAL)),
        **({} if is_machine else {name: [_return(_ERRNO | _ENOSYS)] for name in ("signalfd", "signalfd4")}),
        **dict.fromkeys(("setxattr", "lsetxattr", "fsetxattr"), _at_most(3, MOST_ATTRIBUTE_BYTES, _ERANGE)),
        "personality": _one_of(0, _SAME_PERSONALITIES, _EPERM),
        **{name: _none_of(0, (_INIT,), _EPERM) for name in _TAKES_A_PROCESS},
        "prlimit64": _prlimit64(),
        "setrlimit": _none_of(0, (_RLIMIT_CORE,), 0),
        "fadvise64": _none_of(3, (_FADV_DONTNEED,), 0),
        "preadv2": _without(5, _RWF_NOWAIT | _RWF_DONTCACHE, _EOPNOTSUPP),
        "pwritev2": _without(5, _RWF_NOWAIT | _RWF_DONTCACHE, _EOPNOTSUPP),
        "setpriority": _setpriority(),
        "sched_setscheduler": _sched_setscheduler(),
        "sched_setattr": _sched_setattr(),
        "ioprio_set": _ioprio_set(),
        "madvise": _none_of(2, (_MADV_MERGEABLE, _MADV_COLD, _MADV_PAGEOUT), 0),
        "mmap": _without(3, _MAP_HUGETLB, _ENOMEM),
        "memfd_create": _without(1, _MFD_HUGETLB, _ENOMEM),
        "shmget": _without(2, _SHM_HUGETLB, _ENOMEM),
        "sync": _GRANTED,
        "syncfs": _GRANTED,
    }


_WRITE_TO_DISK = ("fsync", "fdatasync", "sync_file_range")
_TAKES_A_PROCESS = ("sched_setparam", "sched_setaffinity")
_OF_SANDBOXES = ("clone", "clone3", "prlimit64", "setrlimit", "signalfd4", *_TAKES_A_PROCESS)
"""rules that templates do without: init has a signalfd before its own filter, and hears by it of what has ended"""
_HOST_WIDE = ("io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents", "io_pgetevents")
UNACCOUNTED = frozenset({"memfd_create", "shmget", "shmat", "shmctl", "shmdt"})
"""Calls that make memory which belongs to no process: refused where no cgroup counts it."""


_LAUNCH_CALLS = {
    "x86_64": {"mount": 165, "umount2": 166, "sethostname": 170, "capset": 126, "clone3": 435},
    "aarch64": {"mount": 40, "umount2": 39, "sethostname": 161, "capset": 91, "clone3": 435},
}
"""what a template needs beside what its sandboxes may do: see launch.SandboxLaunch"""
_MOUNT_CALLS = {"open_tree": 428, "move_mount": 429}
_OWN_ROOT_CALLS = {"x86_64": {"pivot_root": 155, **_MOUNT_CALLS}, "aarch64": {"pivot_root": 41, **_MOUNT_CALLS}}
"""and where each sandbox goes into a root of its own, made of an image's layers"""
_MACHINE_CALLS = {"x86_64": {"chroot": 161}, "aarch64": {"chroot": 51}}
"""what sandboxes of the profile `machine` may do beside those of `strict`"""


def _rules(
    table: dict[str, int], refused: frozenset[str], special: dict[str, list[Instruction]]
) -> list[list[Instruction]]:
    """What to do for each number from 0 to the newest of this machine."""
    actions: dict[int, list[Instruction]] = {
        number: special.get(name, [_return(_ALLOW)]) for name, number in table.items() if name not in refused
    }
    return [actions.get(number, [_return(_ERRNO | _EPERM)]) for number in range(max(table.values()) + 1)]


def _ranges(rules: list[list[Instruction]]) -> list[tuple[int, list[Instruction]]]:
    """(first number, what to do) for consecutive ranges that cover every number from 0."""
    segments: list[tuple[int, list[Instruction]]] = []
    for number, rule in enumerate(rules):
        if not segments or segments[-1][1] != rule:
            segments.append((number, rule))
    return [*segments, (len(rules), [_return(_ERRNO | _ENOSYS)])]


def _search(segments: list[tuple[int, list[Instruction]]]) -> list[Instruction]:
    """A balanced tree of comparisons; every leaf returns."""
    if len(segments) == 1:
        return segments[0][1]
    middle = len(segments) // 2
    left, right = _search(segments[:middle]), _search(segments[middle:])
    if len(left) < 256:
        return [(_GREATER_OR_EQUAL, len(left), 0, segments[middle][0]), *left, *right]
    # a conditional jump reaches 255 instructions only: hop over an unconditional one
    return [(_GREATER_OR_EQUAL, 0, 1, segments[middle][0]), (0x05, 0, 0, len(left)), *left, *right]


def build(machine: str | None = None, *, refused: frozenset[str] = frozenset(), is_machine: bool = False) -> bytes:
    """The filter for this (or the named) machine, as `struct sock_filter[]`; `refused` are more calls to be left out.
    Raises KeyError for an unknown machine."""
    machine = machine or os.uname().machine
    audit, table = _of_machine(machine)
    added = _MACHINE_CALLS[machine] if is_machine else {}
    rules = _rules({**table, **added}, refused.union(_HOST_WIDE), _special(is_machine=is_machine))
    return _program(audit, _ranges(rules))


def build_for_shared_inodes(machine: str | None = None) -> bytes:
    """A filter beside that of `build`, for sandboxes that see the host's own inodes: calls that write files to the
    disk are granted without effect, and all other calls are left to `build`. Raises KeyError for an unknown machine."""
    audit, table = _of_machine(machine or os.uname().machine)
    allowed = [_return(_ALLOW)]
    segments = [(0, allowed)]
    for number in sorted(table[name] for name in _WRITE_TO_DISK):
        if segments[-1][0] == number:
            segments.pop()
        segments += [(number, _GRANTED), (number + 1, allowed)]
    return _program(audit, segments)


def build_for_templates(machine: str | None = None, *, own_roots: bool = False, is_machine: bool = False) -> bytes:
    """The filter that a template's interpreter starts behind: what sandboxes may do, and what making one takes (mounts,
    namespaces; with `own_roots` the change into another root, too). Not io_uring, netfilter, keyrings, bpf, ptrace,
    pidfd_getfd and all that no sandbox may either. Raises KeyError for an unknown machine."""
    machine = machine or os.uname().machine
    audit, _ = _of_machine(machine)
    return _program(audit, _ranges(_template_rules(machine, own_roots=own_roots, is_machine=is_machine)))


def _template_rules(machine: str, *, own_roots: bool, is_machine: bool) -> list[list[Instruction]]:
    _, table = _of_machine(machine)
    rules_of_sandboxes = _special(is_machine=is_machine)
    special = {name: rules for name, rules in rules_of_sandboxes.items() if name not in _OF_SANDBOXES}
    special["prctl"] = _prctl(option_policy.PROCESS_OPTIONS_OF_TEMPLATES)
    added = {**_LAUNCH_CALLS[machine], **(_OWN_ROOT_CALLS[machine] if own_roots else {})}
    added |= _MACHINE_CALLS[machine] if is_machine else {}
    return _rules({**table, **added}, frozenset(_HOST_WIDE), special)


def build_behind_templates(
    machine: str | None = None,
    *,
    refused: frozenset[str] = frozenset(),
    own_roots: bool = False,
    is_machine: bool = False,
) -> bytes:
    """The filter that makes `build` of `build_for_templates`, for a fork of a process that is behind the latter.
    The kernel asks both and takes the stricter answer, so a call with one rule in both is left to the first. It has a
    sixth of `build`'s instructions, which the kernel would translate and keep once more for each sandbox. Raises
    KeyError for an unknown machine."""
    machine = machine or os.uname().machine
    audit, table = _of_machine(machine)
    added = _MACHINE_CALLS[machine] if is_machine else {}
    own_rules = _rules({**table, **added}, refused.union(_HOST_WIDE), _special(is_machine=is_machine))
    rules_of_template = _template_rules(machine, own_roots=own_roots, is_machine=is_machine)
    left = [_return(_ALLOW)]
    rules = [left if own == first else own for own, first in zip(own_rules, rules_of_template, strict=True)]
    return _program(audit, _ranges(rules))


def _of_machine(machine: str) -> tuple[int, dict[str, int]]:
    if machine not in _ARCHITECTURES:
        raise KeyError(f"no system-call table for {machine}; harena runs on {', '.join(sorted(_ARCHITECTURES))}")
    return _ARCHITECTURES[machine]


def _program(audit: int, segments: list[tuple[int, list[Instruction]]]) -> bytes:
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, audit),
        _return(_ERRNO | _ENOSYS),
        (_LOAD, 0, 0, _NUMBER),
        *_search(segments),  # x32 numbers have bit 30 set: past the newest, so ENOSYS
    ]
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
