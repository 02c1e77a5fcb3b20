"""System-call numbers of the calls that a sandbox's launch is made of."""

from __future__ import annotations

import os

_X86_64 = {
    "read": 0, "write": 1, "close": 3, "rt_sigaction": 13, "rt_sigprocmask": 14, "ioctl": 16, "socket": 41,
    "sendto": 44, "wait4": 61, "chdir": 80, "setsid": 112, "capset": 126, "prctl": 157, "arch_prctl": 158, "mount": 165,
    "umount2": 166, "sethostname": 170, "openat": 257, "mkdirat": 258, "fchmodat": 268, "signalfd4": 289, "dup3": 292,
    "prlimit64": 302, "rseq": 334, "pivot_root": 155, "sendmsg": 46, "bind": 49,
    "listen": 50,
}  # fmt: skip
_AARCH64 = {
    "read": 63, "write": 64, "close": 57, "rt_sigaction": 134, "rt_sigprocmask": 135, "ioctl": 29, "socket": 198,
    "sendto": 206, "wait4": 260, "chdir": 49, "setsid": 157, "capset": 91, "prctl": 167, "mount": 40, "umount2": 39,
    "sethostname": 161, "openat": 56, "mkdirat": 34, "fchmodat": 53, "signalfd4": 74, "dup3": 24, "prlimit64": 261,
    "rseq": 293, "pivot_root": 41, "bind": 200, "listen": 201, "sendmsg": 211,
}  # fmt: skip

NUMBERS: dict[str, int] = {
    "close_range": 436,
    "open_tree": 428,
    **{"x86_64": _X86_64, "aarch64": _AARCH64}.get(os.uname().machine, {}),
}
