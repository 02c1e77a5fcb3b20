"""The seccomp policy: its program is run here, by an interpreter of BPF, for every number and for hostile arguments."""

from __future__ import annotations

import functools
import os
import struct

import pytest

from harena.core.errors import HostUnsupportedError
from harena.runtime.host import seccomp_filter
from harena.runtime.kernel import option_policy, seccomp_policy
from harena.runtime.kernel.syscall_table import AARCH64, X86_64

AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
TABLES = {"x86_64": X86_64, "aarch64": AARCH64}
ALLOW, KILL = "allow", "kill"
EPERM, ENOMEM, ENODEV, EINVAL, ENOTTY, ERANGE, ENOSYS, ENOPROTOOPT = 1, 12, 19, 22, 25, 34, 38, 92
ESOCKTNOSUPPORT, EOPNOTSUPP, EAFNOSUPPORT = 94, 95, 97
GRANTED = 0
"""an errno of 0: the program is told that it worked, and nothing was done"""
MOST_STEPS = 24
_SIGNALFD = {"x86_64": ("signalfd", "signalfd4"), "aarch64": ("signalfd4",)}


@functools.cache
def instructions(machine: str, program: bytes | None = None) -> list[tuple[int, int, int, int]]:
    return list(struct.iter_unpack("<HBBI", seccomp_policy.build(machine) if program is None else program))


def decide(
    machine: str, number: int, *arguments: int, architecture: int | None = None, program: bytes | None = None
) -> tuple[str | int, int]:
    """(allow, or the errno; how many instructions that took)."""
    words = [argument & 0xFFFFFFFFFFFFFFFF for argument in (*arguments, *[0] * 6)][:6]
    data = struct.pack("<IIQ6Q", number, AUDIT[machine] if architecture is None else architecture, 0, *words)
    rows, position, register, steps = instructions(machine, program), 0, 0, 0
    while True:
        code, if_true, if_false, operand = rows[position]
        position, steps = position + 1, steps + 1
        if code == 0x20:
            register = struct.unpack_from("<I", data, operand)[0]
        elif code == 0x06:
            action, value = operand & 0xFFFF0000, operand & 0xFFFF
            outcomes: dict[int, str | int] = {0x7FFF0000: ALLOW, 0x00050000: value}
            return outcomes.get(action, KILL), steps
        elif code == 0x05:
            position += operand
        elif code == 0x54:
            register &= operand
        else:
            holds = {0x15: register == operand, 0x35: register >= operand, 0x45: bool(register & operand)}[code]
            position += if_true if holds else if_false


def verdict(machine: str, name: str, *arguments: int) -> str | int:
    return decide(machine, TABLES[machine][name], *arguments)[0]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_exactly_the_table_is_allowed(machine: str) -> None:
    """Every number up to far past the newest: allowed if it is in the table, else refused; never killed."""
    table = TABLES[machine]
    names = ("clone", "clone3", "socket", "ioctl", "prctl", "personality", "setpriority", "ioprio_set", "sync")
    names = (*names, "sched_setattr", "syncfs", "setsockopt", *_SIGNALFD[machine])
    refused = ("io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents", "io_pgetevents")
    looked_at = {table[name] for name in (*names, *refused)}
    assert {verdict(machine, name) for name in refused} == {EPERM}
    assert {verdict(machine, name) for name in ("sync", "syncfs")} == {GRANTED}
    newest = max(table.values())
    for number in range(newest + 200):
        if number in looked_at:
            continue
        wanted = ALLOW if number in table.values() else EPERM if number <= newest else ENOSYS
        assert decide(machine, number)[0] == wanted, number


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_numbers_that_pretend(machine: str) -> None:
    """Other architectures' entry points, x32 numbers and negative ones: there is no such call."""
    read = TABLES[machine]["read"]
    for architecture in (0, 0x40000003, 0x40000028, *(AUDIT[other] for other in AUDIT if other != machine)):
        assert decide(machine, read, architecture=architecture)[0] == ENOSYS
    for number in (0x40000000 | read, 0x40000000 | 520, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
        assert decide(machine, number)[0] == ENOSYS


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_call_is_decided_quickly(machine: str) -> None:
    """The search goes by halves: no call takes more than a few comparisons, and the program fits the kernel's limit."""
    assert len(instructions(machine)) <= 4096
    assert max(decide(machine, number)[1] for number in range(600)) <= MOST_STEPS


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize(
    ("flag", "name"),
    [
        (0x00020000, "mount"),
        (0x02000000, "cgroup"),
        (0x04000000, "uts"),
        (0x08000000, "ipc"),
        (0x10000000, "user"),
        (0x20000000, "pid"),
        (0x40000000, "net"),
        (0x00000080, "time"),
    ],
)
def test_no_new_namespace(machine: str, flag: int, name: str) -> None:
    """clone with any namespace flag, alone or among others, is refused; a thread or a fork is not."""
    assert verdict(machine, "clone", flag) == EPERM, name
    assert verdict(machine, "clone", flag | 0x003D0F00) == EPERM
    assert verdict(machine, "clone", flag | (1 << 40)) == EPERM
    assert verdict(machine, "clone", 0x003D0F00) == ALLOW
    assert verdict(machine, "clone", 17) == ALLOW
    assert verdict(machine, "clone3", 0) == ENOSYS


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_sockets(machine: str) -> None:
    """unix, inet and inet6 of the common protocols; nothing else, nor upper bits that hide it."""
    assert verdict(machine, "socket", 1, 3, 255) == ALLOW
    for family in (2, 10):
        for protocol in (0, 1, 6, 17, 58):
            assert verdict(machine, "socket", family, 1, protocol) == ALLOW
        for protocol in (2, 33, 132, 136, 255, 256, 262):
            assert verdict(machine, "socket", family, 1, protocol) == EAFNOSUPPORT
        for flags in (0, 0o4000, 0o2000000):
            for kind in (1, 2):
                assert verdict(machine, "socket", family, kind | flags, 0) == ALLOW
            for protocol in (0, 1, 33, 132):
                assert verdict(machine, "socket", family, 3 | flags, protocol) == EPERM  # as without a privilege
                for kind in (0, 4, 5, 6, 7, 10, 15):
                    assert verdict(machine, "socket", family, kind | flags, protocol) == ESOCKTNOSUPPORT
    for protocol in (0, 1, 2, 4, 9, 12, 15, 16, 31):
        assert verdict(machine, "socket", 16, 3, protocol) == EAFNOSUPPORT
    for family in (0, *range(3, 10), 11, 15, *range(17, 50), 1000, 0xFFFFFFFF):
        assert verdict(machine, "socket", family, 2, 0) == EAFNOSUPPORT, family
    assert verdict(machine, "socket", (1 << 32) | 40, 1, 0) == EAFNOSUPPORT


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_single_operations_that_are_refused(machine: str) -> None:
    """Typing into terminals, moving memory maps, other personalities: refused, also with upper bits set."""
    for request in (0x5412, 0x541C, (1 << 32) | 0x5412, (0xFFFFFFFF << 32) | 0x541C):
        assert verdict(machine, "ioctl", 0, request) == EPERM
    assert verdict(machine, "ioctl", 0, 0x5423) == EPERM
    for request in (0x5401, 0x5413, 0x5414, 0x541B, 0x5421, 0x5450, 0x5451, 0x80045430, 0x40045431, 0x8912, 0x8927):
        assert verdict(machine, "ioctl", 0, request) == ALLOW
    # of file systems, namespaces, pidfds, block devices: 'f' flags and state, 'X' quota and freezing, keys
    for request in (
        0x40086602,
        0x6612,
        0x40046629,
        0xC020660B,
        0x401C5820,
        0xC0045877,
        0xC0506617,
        0xB701,
        0xFF01,
        1,
        0,
    ):
        assert verdict(machine, "ioctl", 0, request) == ENOTTY
        assert verdict(machine, "ioctl", 0, 0x54 << 32 | request) == ENOTTY
    assert verdict(machine, "personality", 0xFFFFFFFF) == ALLOW
    assert verdict(machine, "personality", 0x40000) == ALLOW
    for persona in (0x100000, 0x400000, 0x40000 | 0x400000, 1):
        assert verdict(machine, "personality", persona) == EPERM


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_no_request_of_a_socket_makes_the_kernel_load_a_module(machine: str) -> None:
    """The kernel starts modprobe for those of bridges and VLANs, as root of the host, and asks for no privilege before.
    What programs ask of sockets and interfaces goes on: owners, times, what /sbin/ifconfig shows."""
    for low in (*range(0x8939, 0x8942), 0x8943, 0x894A, 0x894C, *range(0x8980, 0x8A00), 0x8B01, 0x9401):
        for request in (low, 1 << 32 | low, 0x80100000 | low):
            assert verdict(machine, "ioctl", 3, request) == ENOTTY, hex(request)
    known = (*range(0x8901, 0x8908), *range(0x8910, 0x8936), 0x8942, 0x8946, 0x894B, 0x8970, 0x80108906, 0x80108907)
    for request in known:
        assert verdict(machine, "ioctl", 3, request) == ALLOW, hex(request)


DANGEROUS = (
    *("mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "move_mount", "fsopen", "fsmount"),
    *("mount_setattr", "ptrace", "process_vm_readv", "process_vm_writev", "bpf", "perf_event_open", "userfaultfd"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl", "add_key", "request_key", "init_module"),
    *("finit_module", "delete_module", "kexec_load", "reboot", "swapon", "settimeofday", "clock_settime"),
    *("open_by_handle_at", "name_to_handle_at", "quotactl", "acct", "iopl", "ioperm", "kcmp", "pidfd_getfd"),
    *("sethostname", "setdomainname", "vhangup", "fanotify_init", "lookup_dcookie", "syslog", "seccomp"),
    "memfd_secret",
)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_dangerous_calls_are_in_no_table(machine: str) -> None:
    """What opens the kernel, other processes or the host's settings."""
    assert not set(DANGEROUS) & set(TABLES[machine])


FILLS_WHAT_NOBODY_COUNTS = {
    "error queues": [(0, 26), (41, 31), (1, 37), (1, 65), (1, 60), (1, 41), (1, 61), (41, 60)],
    "programs in the kernel": [(1, 26), (1, 50), (1, 51), (1, 52), (1, 27), (1, 68)],
    "flow labels": [(41, 32), (41, 33)],
    "corks": [(17, 1)],
    "blocks beside a socket": [
        *((0, 4), (0, 9), (0, 41), (0, 48), (41, 6), (41, 54), (41, 55), (41, 57), (41, 59), (41, 48)),
        *((6, 14), (6, 27), (6, 31), (6, 32), (6, 33), (6, 37), (6, 38), (6, 19), (17, 100), (1, 72), (1, 73)),
    ],
    "filters of packets": [(0, 64), (0, 96), (41, 64), (0, 16), (0, 17), (41, 34), (41, 35)],
    "sockets of other kinds": [
        (255, 1),
        (270, 1),
        (270, 5),
        (282, 1),
        (58, 1),
        (263, 1),
        (284, 1),
        (132, 0),
        (136, 10),
    ],
}
"""(level, option), see `include/uapi`: what is kept for it is charged to no cgroup, or the whole host's"""


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("pool", FILLS_WHAT_NOBODY_COUNTS)
def test_no_option_of_a_socket_fills_what_nobody_counts(machine: str, pool: str) -> None:
    """It looks as if the kernel did not know the option, also with upper bits set."""
    for level, option in FILLS_WHAT_NOBODY_COUNTS[pool]:
        for upper in (0, 1 << 32):
            assert verdict(machine, "setsockopt", 3, level | upper, option | upper) == ENOPROTOOPT, (level, option)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_options_of_sockets_are_an_allow_list(machine: str) -> None:
    """Every level and option: what the table says, and nothing else reaches the kernel."""
    for level in (*range(300), 0x7FFFFFFF, 0xFFFFFFFF):
        known = option_policy.SOCKET_OPTIONS.get(level, {})
        numbers = [*range(130), 0x7FFFFFFF, 0xFFFFFFFF] if known else [0, 1, 11, 26, 0xFFFFFFFF]
        for option in numbers:
            answer = known.get(option, ENOPROTOOPT)
            wanted = ALLOW if answer == option_policy.ALLOW else answer
            assert verdict(machine, "setsockopt", 3, level, option) == wanted, (level, option)
    assert {verdict(machine, "setsockopt", 3, 1, option) for option in (7, 8)} == {GRANTED}  # sizes of buffers
    # glibc asks no name server without it, and an error queue would be counted for nobody
    assert verdict(machine, "setsockopt", 3, 0, 11) == verdict(machine, "setsockopt", 3, 41, 25) == GRANTED
    assert verdict(machine, "setsockopt", 3, 1, 13) == GRANTED  # nobody waits for the end of a connection
    assert verdict(machine, "setsockopt", 3, 6, 8) == GRANTED  # one that is closed is no orphan for two minutes
    assert {verdict(machine, "setsockopt", 3, 1, option) for option in (32, 33, 36)} == {EPERM}  # by force
    for level, option in ((0, 35), (0, 39), (0, 42), (0, 46), (41, 20), (41, 27), (41, 42), (41, 46)):
        assert verdict(machine, "setsockopt", 3, level, option) == ENODEV  # groups, for which there is no interface


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_options_that_programs_use_work(machine: str) -> None:
    """Addresses used again, time-outs, keeping alive, no delay, both versions of IP at one socket, what was passed."""
    usual = {
        1: (2, 5, 6, 9, 10, 12, 15, 16, 18, 20, 21, 25, 29, 35, 63, 64, 66, 67, 76),
        0: (1, 2, 8, 10, 12, 13, 15, 24, 32, 33, 34, 36, 49),
        6: (1, 2, 3, 4, 5, 6, 9, 12, 13, 18, 23, 25),
        17: (103, 104),
        41: (16, 17, 18, 19, 21, 23, 26, 49, 51, 62, 66, 67),
    }
    for level, options in usual.items():
        for option in options:
            assert verdict(machine, "setsockopt", 3, level, option) == ALLOW, (level, option)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_options_of_processes_are_an_allow_list(machine: str) -> None:
    """No filter of its own (one pool of the host holds them all), no merging of pages, no names of memory; a launch may
    load its sandbox's filter."""
    for option in (*range(300), 0x53564D41, 0x59616D61, 0x41555856, 0x7FFFFFFF, 0xFFFFFFFF):
        answer = option_policy.PROCESS_OPTIONS.get(option, EINVAL)
        for upper in (0, 1 << 32):
            assert verdict(machine, "prctl", option | upper) == (ALLOW if answer == -1 else answer), option
    assert {verdict(machine, "prctl", option) for option in (35, 62, 0x59616D61)} == {EPERM}
    assert {verdict(machine, "prctl", option) for option in (22, 67, 77, 78, 0x53564D41)} == {EINVAL}
    assert {verdict(machine, "prctl", option) for option in (1, 4, 15, 16, 29, 36, 38, 39, 41, 47)} == {ALLOW}
    templates = seccomp_policy.build_for_templates(machine)
    number = TABLES[machine]["prctl"]
    assert [decide(machine, number, option, program=templates)[0] for option in (22, 4, 35, 67)] == [
        *(ALLOW, ALLOW, EPERM, EINVAL)
    ]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_no_signal_wakes_waiters_of_a_descriptor(machine: str) -> None:
    """The whole host's forks and exits wait meanwhile. Templates make the one that init has."""
    assert {verdict(machine, name) for name in _SIGNALFD[machine]} == {ENOSYS}
    templates = seccomp_policy.build_for_templates(machine)
    assert decide(machine, TABLES[machine]["signalfd4"], program=templates)[0] == ALLOW


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_machine_may_do_what_is_stated_beside_the_rest(machine: str) -> None:
    """All that differs: chroot, signalfd, and that FIOASYNC is granted without effect."""
    chroot = {"x86_64": 161, "aarch64": 51}[machine]
    for build in (seccomp_policy.build, seccomp_policy.build_for_templates):
        strict, profile = build(machine), build(machine, is_machine=True)
        differs = {
            number
            for number in range(512)
            if decide(machine, number, program=strict)[0] != decide(machine, number, program=profile)[0]
        }
        signalfds = {TABLES[machine][name] for name in _SIGNALFD[machine]}
        assert {chroot} <= differs <= {chroot, *signalfds}
        assert decide(machine, chroot, program=profile)[0] == ALLOW
    program = seccomp_policy.build(machine, is_machine=True)
    for name in _SIGNALFD[machine]:
        assert decide(machine, TABLES[machine][name], program=program)[0] == ALLOW
    requests = [0x5451, 0x5452, 0x5453, 0x5412, 0x541C, 0x5423, 0x8903, 0x8940]
    own, strict_own = (
        [decide(machine, TABLES[machine]["ioctl"], 3, request, program=each)[0] for request in requests]
        for each in (program, seccomp_policy.build(machine))
    )
    assert own[1] == 0
    assert [*own[:1], *own[2:]] == [*strict_own[:1], *strict_own[2:]]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_no_datagram_waits_for_more(machine: str) -> None:
    """What a corked socket holds is charged to nobody."""
    for name, flags in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)):
        for value in (0, 1, 0x40, 0x4000, 0x4040, 0x20000000):
            assert verdict(machine, name, *[9] * flags, value) == ALLOW
            assert verdict(machine, name, *[9] * flags, value | 0x8000) == EOPNOTSUPP


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_tables_are_well_formed(machine: str) -> None:
    """No number twice."""
    numbers = list(TABLES[machine].values())
    assert len(numbers) == len(set(numbers))


def test_an_unknown_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a table there is no filter, and without a filter no sandbox: the error says where harena runs."""
    with pytest.raises(KeyError, match="aarch64, x86_64"):
        seccomp_policy.build("riscv64")
    monkeypatch.setattr(os, "uname", lambda: type("Uname", (), {"machine": "riscv64"})())
    seccomp_filter.current.cache_clear()
    with pytest.raises(HostUnsupportedError, match="riscv64"):
        seccomp_filter.current(counts_memory=True)
    seccomp_filter.current.cache_clear()


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_init_is_out_of_reach(machine: str) -> None:
    """Limits and priorities of pid 1 cannot be changed, nor those of a whole user or group."""
    for name in ("prlimit64", "sched_setscheduler", "sched_setparam", "sched_setaffinity"):
        assert verdict(machine, name, 1) == EPERM
        assert (verdict(machine, name, 0), verdict(machine, name, 2)) == (ALLOW, ALLOW)
    assert verdict(machine, "sched_setscheduler", 1, 5) == EPERM
    assert verdict(machine, "sched_setattr", 1) == EPERM
    for name, one, allowed in (("setpriority", 0, ALLOW), ("ioprio_set", 1, GRANTED)):
        assert verdict(machine, name, one, 1) == EPERM
        assert (verdict(machine, name, one, 0), verdict(machine, name, one, 5)) == (allowed, allowed)
        assert verdict(machine, name, 2, 0) == EPERM
    assert verdict(machine, "setpriority", 0, 1, 19) == EPERM


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_limits_are_set_by_a_process_for_itself(machine: str) -> None:
    """A program whose checker runs beside it would choose where that one's tools fail; reading changes nothing."""
    for new in (0x1000, 1 << 32, 0x7FFF00001000, 0xFFFFFFFFFFFFFFFF):
        assert verdict(machine, "prlimit64", 0, 7, new) == ALLOW
        assert verdict(machine, "prlimit64", 1 << 32, 7, new) == ALLOW
        for process in (1, 2, 4711, -1, 1 << 32 | 5):
            assert verdict(machine, "prlimit64", process, 7, new) == EPERM
    assert (verdict(machine, "prlimit64", 1, 7, 0), verdict(machine, "prlimit64", 4711, 7, 0)) == (EPERM, ALLOW)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_limit_of_core_dumps_stays_as_it_is(machine: str) -> None:
    """With 0 the kernel starts the host's program for core dumps, as root, wherever it has one."""
    for upper in (0, 1 << 32):
        assert verdict(machine, "setrlimit", upper | 4, 0x1000) == GRANTED
        for new in (0x1000, 1 << 32, 0x7FFF00001000):
            assert verdict(machine, "prlimit64", 0, upper | 4, new, 0) == GRANTED
            assert verdict(machine, "prlimit64", 5, upper | 4, new, 0) == EPERM
    assert verdict(machine, "prlimit64", 0, 4, 0, 0x1000) == ALLOW
    for which in (0, 1, 2, 3, *range(5, 16)):
        assert verdict(machine, "setrlimit", which, 0x1000) == verdict(machine, "prlimit64", 0, which, 0x1000) == ALLOW


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_lower_priority_is_granted_without_effect(machine: str) -> None:
    """Success is reported without asking the kernel; it is asked for higher priorities, and refuses."""
    for which in (0, 1, 2):
        for who in (0, 5):
            for nice in (1, 5, 19, 1000, 1 << 32 | 7):
                assert verdict(machine, "setpriority", which, who, nice) == GRANTED
    for nice in (0, -1, -20, 1 << 32, 0xFFFFFFFF):
        assert verdict(machine, "setpriority", 0, 0, nice) == ALLOW
        assert verdict(machine, "setpriority", 2, 0, nice) == EPERM
    for reset_on_fork in (0, 0x40000000):
        for policy in (0, 1, 2):
            assert verdict(machine, "sched_setscheduler", 0, policy | reset_on_fork) == ALLOW
        for policy in (3, 5, 1 << 32 | 5):
            assert verdict(machine, "sched_setscheduler", 0, policy | reset_on_fork) == GRANTED
        for policy in (4, 6, 7, 100):
            assert verdict(machine, "sched_setscheduler", 0, policy | reset_on_fork) == EPERM
    assert verdict(machine, "sched_setattr", 0) == GRANTED
    assert verdict(machine, "sched_setattr", 1 << 32 | 1) == EPERM


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_what_fcntl_would_leave_at_a_file(machine: str) -> None:
    """Leases, notices and hints belong to the file, and shared files outlive the sandbox; locks and the rest work."""
    for command in (1024, 1026, 1036, 1038, 1 << 32 | 1024):
        assert verdict(machine, "fcntl", 3, command) == EINVAL
    for command in (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 36, 37, 38, 1025, 1030, 1031, 1032, 1033, 1034, 1035, 1037):
        assert verdict(machine, "fcntl", 3, command) == ALLOW


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_nobody_sends_signals_for_what_happens_at_a_descriptor(machine: str) -> None:
    """Whoever is at a pipe's other end would send them: the server, for instance. Owners may be named, to no effect."""
    for flags in (0, 0x800, 0x400, 0x4000, 0x8000, 0x10000, 1 << 32 | 0x2000 << 32):
        assert verdict(machine, "fcntl", 3, 4, flags) == ALLOW
        assert verdict(machine, "fcntl", 3, 4, flags | 0x2000) == EINVAL
        assert verdict(machine, "fcntl", 3, 1 << 32 | 4, flags | 0x2000) == EINVAL
    for command in (0, 1, 2, 3, 6, 8, 15, 1030):
        assert verdict(machine, "fcntl", 3, command, 0x2000) == ALLOW  # a number, not flags
    for request in (0x5452, 1 << 32 | 0x5452):
        assert verdict(machine, "ioctl", 3, request) == ENOTTY
    for request in (0x5401, 0x5413, 0x5421, 0x541B, 0x5450, 0x5451, 0x8902):
        assert verdict(machine, "ioctl", 3, request) == ALLOW


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_few_descriptors_are_waited_for_at_one_time(machine: str) -> None:
    """What the kernel keeps for each meanwhile is counted for nobody. The answer is that of too small a limit."""
    asked = {"ppoll": (9,), "pselect6": (), **({"poll": (9,), "select": ()} if machine == "x86_64" else {})}
    for name, before in asked.items():
        for count in (0, 1, 64, 1023, 1024, 1 << 32 | 1024):
            assert verdict(machine, name, *before, count, 9) == ALLOW
        for count in (1025, 20_000, 1 << 20, 1 << 31, 0xFFFFFFFF, 1 << 32 | 1025):
            assert verdict(machine, name, *before, count, 9) == EINVAL


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_access_lists_are_short(machine: str) -> None:
    """The kernel counts their memory for nobody, and files inherit them. Which attribute it is lies in memory, so that
    all have the bound; the answer is the one for a value that a file system has no room for."""
    for name in ("setxattr", "lsetxattr", "fsetxattr"):
        for size in (0, 1, 24, 236):
            assert verdict(machine, name, 3, 0x1000, 0x2000, size) == ALLOW
        for size in (237, 4096, 65_516, 1 << 31, 0xFFFFFFFF, 1 << 32 | 237):
            assert verdict(machine, name, 3, 0x1000, 0x2000, size) == ERANGE


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_which_pages_of_a_file_are_in_memory_is_neither_told_nor_changed(machine: str) -> None:
    """They are the host's pages, and outlive every sandbox; reading ahead is harmless."""
    for advice in range(6):
        assert verdict(machine, "fadvise64", 3, 0, 0, advice) == (GRANTED if advice == 4 else ALLOW)
    for name in ("preadv2", "pwritev2"):
        for flags in (0, 1, 2, 4, 0x10, 0x20):
            assert verdict(machine, name, 3, 0, 1, 0, 0, flags) == ALLOW
        for flags in (8, 0x80, 0x88, 9, 1 << 32 | 8):
            assert verdict(machine, name, 3, 0, 1, 0, 0, flags) == EOPNOTSUPP


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_no_huge_page_is_had(machine: str) -> None:
    """The host's pool is counted for nobody: it looks empty. All else of these calls is up to the kernel."""
    for flags in (0x22, 0x8022, 0x1, 0x20022):
        assert verdict(machine, "mmap", 0, 4096, 3, flags) == ALLOW
        for size in (0, 21 << 26, 30 << 26):
            assert verdict(machine, "mmap", 0, 4096, 3, flags | 0x40000 | size) == ENOMEM
    for flags in (0, 1, 2, 3, 8, 16):
        assert verdict(machine, "memfd_create", 0, flags) == ALLOW
        assert verdict(machine, "memfd_create", 0, flags | 4 | 21 << 26) == ENOMEM
        assert verdict(machine, "memfd_create", 0, flags | 1 << 32) == ALLOW
    assert verdict(machine, "shmget", 1, 4096, 0o1666) == ALLOW
    assert verdict(machine, "shmget", 1, 4096, 0o5666) == ENOMEM


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_advice_that_reaches_others_is_granted_without_effect(machine: str) -> None:
    """Which pages of the host's files are given up first, and who has a page of the same content."""
    for advice in (*range(5), 8, 9, 10, 13, 14, 15, 16, 17, 18, 22, 23):
        assert verdict(machine, "madvise", 0, 4096, advice) == ALLOW
    for advice in (12, 20, 21, 1 << 32 | 20):
        assert verdict(machine, "madvise", 0, 4096, advice) == GRANTED


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_no_disk_is_written_to_where_the_hosts_own_inodes_are_shown(machine: str) -> None:
    """A filter that a template's sandboxes inherit grants it without effect, and leaves all else to the other one;
    elsewhere it is up to the kernel, for which a read-only overlay has nothing to write."""
    program = seccomp_policy.build_for_shared_inodes(machine)
    for name, number in TABLES[machine].items():
        wanted = GRANTED if name in ("fsync", "fdatasync", "sync_file_range") else ALLOW
        assert decide(machine, number, program=program)[0] == wanted
    assert decide(machine, 9999, program=program)[0] == ALLOW
    for name in ("fsync", "fdatasync", "sync_file_range"):
        assert verdict(machine, name) == ALLOW
    assert verdict(machine, "syncfs") == GRANTED


def test_more_can_be_refused() -> None:
    """Where nothing counts memory that belongs to no process, it cannot be made."""
    usual = seccomp_policy.build("x86_64")
    assert seccomp_policy.build("x86_64", refused=seccomp_policy.UNACCOUNTED) != usual


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("is_machine", [False, True])
@pytest.mark.parametrize("own_roots", [False, True])
@pytest.mark.parametrize("refused", [frozenset[str](), seccomp_policy.UNACCOUNTED])
def test_a_template_and_the_rest_refuse_all_that_sandboxes_may_not(
    machine: str, is_machine: bool, own_roots: bool, refused: frozenset[str]
) -> None:
    """The kernel asks both filters and takes the stricter answer, that of the newer one among two numbers of errors."""
    whole = seccomp_policy.build(machine, refused=refused, is_machine=is_machine)
    first = seccomp_policy.build_for_templates(machine, own_roots=own_roots, is_machine=is_machine)
    rest = seccomp_policy.build_behind_templates(machine, refused=refused, own_roots=own_roots, is_machine=is_machine)
    values = [0, 1, 3, 4, 12, 22, 35, 38, 1024, 1025, 0x5412, 0x5452, 0x8000, 0x10000000, 0x80000000, 1 << 32, -1]
    tried = [(), *((0,) * place + (value,) for place in range(6) for value in values)]
    tried += [(1, value, 1, 1) for value in values]

    def both(number: int, arguments: tuple[int, ...], architecture: int | None = None) -> str | int:
        newer = decide(machine, number, *arguments, program=rest, architecture=architecture)[0]
        older = decide(machine, number, *arguments, program=first, architecture=architecture)[0]
        return older if newer == ALLOW else newer

    for number in (*range(470), 9999, 0x40000000, 0x40000010, 0xFFFFFFFF):
        every = tried if number in _RULES_OF_ARGUMENTS[machine] else tried[:1]
        for arguments in every:
            wanted = decide(machine, number, *arguments, program=whole)[0]
            assert both(number, arguments) == wanted, (number, arguments)
    assert both(0, (), 0x40000003) == ENOSYS
    assert len(rest) < len(whole) / 4


_RULES_OF_ARGUMENTS = {
    machine: {table[name] for name in seccomp_policy._special() if name in table} for machine, table in TABLES.items()
}
