"""System calls that a process gives up for good: whatever reaches a network, another process, or more privileges.

A filter of seccomp that refuses by a list: it is the second wall of a process that reads what others made, whose first
one (`harena.core.landlock`) says which files it may open. It holds for the calling thread and what that starts.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Iterator
from errno import ENOSYS, EPERM

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _SECCOMP_MODE_FILTER = 38, 22, 24, 2
_LOAD, _EQUALS, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_CLONE_THREAD = 0x00010000
_X32 = 0x40000000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_CAPABILITY_HEADER, _NO_CAPABILITIES = struct.pack("=II", 0x20080522, 0), bytes(24)

_SHARED_NUMBERS = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_open": 434,
    "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442, "memfd_secret": 447, "process_mrelease": 448,
}  # fmt: skip
_NUMBERS = {
    "x86_64": {
        "socket": 41, "connect": 42, "accept": 43, "sendto": 44, "sendmsg": 46, "bind": 49, "listen": 50,
        "socketpair": 53, "fork": 57, "vfork": 58, "execve": 59, "kill": 62, "shmget": 29, "semget": 64, "msgget": 68,
        "ptrace": 101, "personality": 135, "pivot_root": 155, "chroot": 161, "acct": 163, "mount": 165, "umount2": 166,
        "swapon": 167, "swapoff": 168, "reboot": 169, "init_module": 175, "quotactl": 179, "tkill": 200,
        "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "mq_open": 240, "kexec_load": 246, "add_key": 248,
        "request_key": 249, "keyctl": 250, "inotify_init": 253, "unshare": 272, "inotify_init1": 294,
        "perf_event_open": 298, "accept4": 288, "fanotify_init": 300, "prlimit64": 302, "name_to_handle_at": 303,
        "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
        "finit_module": 313, "bpf": 321, "execveat": 322, "userfaultfd": 323,
    },
    "aarch64": {
        "socket": 198, "connect": 203, "accept": 202, "sendto": 206, "sendmsg": 211, "bind": 200, "listen": 201,
        "socketpair": 199, "execve": 221, "kill": 129, "shmget": 194, "semget": 190, "msgget": 186, "ptrace": 117,
        "personality": 92, "pivot_root": 41, "chroot": 51, "acct": 89, "mount": 40, "umount2": 39, "swapon": 224,
        "swapoff": 225, "reboot": 142, "init_module": 105, "quotactl": 60, "tkill": 130, "rt_sigqueueinfo": 138,
        "rt_tgsigqueueinfo": 240, "mq_open": 180, "kexec_load": 104, "add_key": 217, "request_key": 218, "keyctl": 219,
        "unshare": 97, "inotify_init1": 26, "perf_event_open": 241, "accept4": 242, "fanotify_init": 262,
        "prlimit64": 261, "name_to_handle_at": 264, "open_by_handle_at": 265, "setns": 268, "process_vm_readv": 270,
        "process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "bpf": 280, "execveat": 281, "userfaultfd": 282,
    },
}  # fmt: skip
_NETWORK = ("socket", "socketpair", "connect", "accept", "accept4", "bind", "listen", "sendto", "sendmsg")
_CLONE, _CLONE3, _TGKILL = {"x86_64": 56, "aarch64": 220}, 435, {"x86_64": 234, "aarch64": 131}
_AUDIT_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def give_up_network() -> None:
    """From now on the calling thread, and what it starts, makes no socket. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    _raise_for(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if (kind := platform.machine()) in _NUMBERS:
        _install(libc, b"".join(_only_network(kind)))


def give_up() -> None:
    """From now on the calling thread, and what it starts, has no capability, makes no socket, process or mount, runs no
    program and signals nobody but itself. Raises OSError; on a machine of another kind nothing is refused but what
    needs capabilities."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
            break
    _raise_for(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _raise_for(libc.capset(_CAPABILITY_HEADER, _NO_CAPABILITIES), "capset")
    if (kind := platform.machine()) in _NUMBERS:
        _install(libc, b"".join(_filter(kind, os.getpid())))


def _install(libc: ctypes.CDLL, program: bytes) -> None:
    buffer = ctypes.create_string_buffer(program)
    described = struct.pack("=HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    _raise_for(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, described, 0, 0), "seccomp")


def _only_network(machine: str) -> Iterator[bytes]:
    yield from _first(machine)
    for number in (*(_NUMBERS[machine][name] for name in _NETWORK), _SHARED_NUMBERS["io_uring_setup"]):
        yield _instruction(_EQUALS, number, fails=1)
        yield _instruction(_RETURN, _ERRNO | EPERM)
    yield _instruction(_RETURN, _ALLOW)


def _first(machine: str) -> Iterator[bytes]:
    """Numbers are those of this machine, and the call's is loaded."""
    yield _instruction(_LOAD, _ARCHITECTURE)
    yield _instruction(_EQUALS, _AUDIT_ARCHITECTURE[machine], holds=1)
    yield _instruction(_RETURN, _KILL)
    yield _instruction(_LOAD, _NUMBER)
    if machine == "x86_64":
        yield _instruction(_AT_LEAST, _X32, fails=1)
        yield _instruction(_RETURN, _ERRNO | ENOSYS)


def _filter(machine: str, process: int) -> Iterator[bytes]:
    """Each condition is followed by what happens where it holds."""
    yield from _first(machine)
    for number in sorted({**_NUMBERS[machine], **_SHARED_NUMBERS}.values()):
        if number != _NUMBERS[machine]["prlimit64"]:
            yield _instruction(_EQUALS, number, fails=1)
            yield _instruction(_RETURN, _ERRNO | EPERM)
    yield _instruction(_EQUALS, _CLONE3, fails=1)
    yield _instruction(_RETURN, _ERRNO | ENOSYS)  # its flags are behind a pointer; libraries then use clone
    yield _instruction(_EQUALS, _CLONE[machine], fails=4)
    yield _instruction(_LOAD, _FIRST_ARGUMENT)
    yield _instruction(_HAS_BITS, _CLONE_THREAD, holds=1)
    yield _instruction(_RETURN, _ERRNO | EPERM)
    yield _instruction(_RETURN, _ALLOW)
    for number, itself in ((_TGKILL[machine], process), (_NUMBERS[machine]["prlimit64"], 0)):
        yield _instruction(_EQUALS, number, fails=4)
        yield _instruction(_LOAD, _FIRST_ARGUMENT)
        yield _instruction(_EQUALS, itself, holds=1)
        yield _instruction(_RETURN, _ERRNO | EPERM)
        yield _instruction(_RETURN, _ALLOW)
    yield _instruction(_RETURN, _ALLOW)


def _instruction(code: int, value: int, *, holds: int = 0, fails: int = 0) -> bytes:
    """`holds` and `fails` are how many instructions are left out then."""
    return struct.pack("=HBBI", code, holds, fails, value)


def _raise_for(result: int, step: str) -> None:
    if result:
        code = ctypes.get_errno()
        raise OSError(code, f"{step}: {os.strerror(code)}")
