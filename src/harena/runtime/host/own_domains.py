"""A shared object that has each program enter a domain of Landlock of its own, as the first thing that it does.

The loader of the C library (glibc) loads what `/etc/ld.so.preload` names into each program that is linked dynamically,
whatever it is written in, whatever its variables are. In a domain no process traces one outside of it, or opens its
memory, descriptors and environment in /proc; those that it starts lie in its domain, and it may look into them. The
domain forbids nothing else: its one rule, which allows to rename and link files into another folder, holds below `/`.

The object is no compiler's output. It has no symbol and asks for no library, and its code calls the kernel alone:

    the limit of file locks is the mark of a candidate's program (see `harena.scoring.guest.sitecustomize`): nothing
    landlock_create_ruleset, for renaming into another folder; fails before Linux 5.19 and where Landlock is missing
    openat of `/`, landlock_add_rule, landlock_restrict_self; the latter fails in the 17th layer
    close of both

What fails leaves the program as it was started.
"""

from __future__ import annotations

import struct

__all__ = ["NAME", "shared_object"]

NAME = "own-domain-before-libasan.so"
"""what its file shall be called: programs with AddressSanitizer refuse to start where another object, whose name does
not have `libasan.so` in it, comes before its library"""

_X86_64 = (
    ("f30f1efa", "endbr64"),
    ("53", "push rbx"),
    ("4154", "push r12"),
    ("4883ec18", "sub rsp, 24"),
    ("31ff", "xor edi, edi"),  # of this process
    ("be0a000000", "mov esi, 10"),  # RLIMIT_LOCKS
    ("31d2", "xor edx, edx"),
    ("4989e2", "mov r10, rsp"),
    ("b82e010000", "mov eax, 302"),  # prlimit64
    ("0f05", "syscall"),
    ("813c2470636573", "cmp dword ptr [rsp], 0x73656370"),
    ("0f848b000000", "je done"),
    ("48c7042400200000", "mov qword ptr [rsp], 0x2000"),  # LANDLOCK_ACCESS_FS_REFER
    ("4889e7", "mov rdi, rsp"),
    ("be08000000", "mov esi, 8"),
    ("31d2", "xor edx, edx"),
    ("b8bc010000", "mov eax, 444"),  # landlock_create_ruleset
    ("0f05", "syscall"),
    ("85c0", "test eax, eax"),
    ("786e", "js done"),
    ("89c3", "mov ebx, eax"),
    ("bf9cffffff", "mov edi, -100"),  # AT_FDCWD
    ("488d3568000000", "lea rsi, [rip + root]"),
    ("ba00002800", "mov edx, 0x280000"),  # O_PATH | O_CLOEXEC
    ("b801010000", "mov eax, 257"),  # openat
    ("0f05", "syscall"),
    ("85c0", "test eax, eax"),
    ("7847", "js close_rules"),
    ("4189c4", "mov r12d, eax"),
    ("89442408", "mov dword ptr [rsp + 8], eax"),  # behind the right that is allowed
    ("89df", "mov edi, ebx"),
    ("be01000000", "mov esi, 1"),  # LANDLOCK_RULE_PATH_BENEATH
    ("4889e2", "mov rdx, rsp"),
    ("4531d2", "xor r10d, r10d"),
    ("b8bd010000", "mov eax, 445"),  # landlock_add_rule
    ("0f05", "syscall"),
    ("85c0", "test eax, eax"),
    ("751e", "jne close_root"),
    ("89df", "mov edi, ebx"),
    ("be01000000", "mov esi, 1"),  # LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF
    ("b8be010000", "mov eax, 446"),  # landlock_restrict_self
    ("0f05", "syscall"),
    ("83f8ea", "cmp eax, -22"),  # EINVAL: before Linux 6.15
    ("750b", "jne close_root"),
    ("89df", "mov edi, ebx"),
    ("31f6", "xor esi, esi"),
    ("b8be010000", "mov eax, 446"),
    ("0f05", "syscall"),
    ("4489e7", "close_root: mov edi, r12d"),
    ("b803000000", "mov eax, 3"),  # close
    ("0f05", "syscall"),
    ("89df", "close_rules: mov edi, ebx"),
    ("b803000000", "mov eax, 3"),
    ("0f05", "syscall"),
    ("4883c418", "done: add rsp, 24"),
    ("415c", "pop r12"),
    ("5b", "pop rbx"),
    ("c3", "ret"),
    ("2f00", 'root: .asciz "/"'),
)
"""(bytes, instruction)"""

_PAGE = 4096
_HEADER, _PROGRAM_HEADER, _DYNAMIC = (
    struct.Struct("<16sHHIQQQIHHHHHH"),
    struct.Struct("<IIQQQQQQ"),
    struct.Struct("<QQ"),
)
_ET_DYN, _EM_X86_64 = 3, 62
_PT_LOAD, _PT_DYNAMIC, _PT_GNU_STACK = 1, 2, 0x6474E551
_EXECUTABLE, _WRITABLE, _READABLE = 1, 2, 4
_DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT, _DT_INIT = 5, 6, 10, 11, 12


def shared_object(machine: str) -> bytes:
    """The file's content; nothing where the code of this kind of machine (`uname -m`) is not known.

    One page has the headers, a table of no symbol and the code, the next one what the loader writes to."""
    if machine != "x86_64":
        return b""
    code = bytes.fromhex("".join(digits for digits, _ in _X86_64))
    symbols = _HEADER.size + 4 * _PROGRAM_HEADER.size
    names = symbols + 24  # behind the one symbol that each table begins with
    start = names + 8
    dynamic = b"".join(
        _DYNAMIC.pack(*entry)
        for entry in (
            (_DT_INIT, start),
            (_DT_STRTAB, names),
            (_DT_SYMTAB, symbols),
            (_DT_STRSZ, 1),
            (_DT_SYMENT, 24),
            (0, 0),
        )
    )
    end = start + len(code)
    identity = b"\x7fELF" + bytes((2, 1, 1))  # 64 bits, little-endian, version 1
    header = _HEADER.pack(
        identity, _ET_DYN, _EM_X86_64, 1, 0, _HEADER.size, 0, 0, _HEADER.size, _PROGRAM_HEADER.size, 4, 0, 0, 0
    )
    segments = (
        (_PT_LOAD, _READABLE | _EXECUTABLE, 0, 0, 0, end, end, _PAGE),
        (_PT_LOAD, _READABLE | _WRITABLE, _PAGE, _PAGE, _PAGE, len(dynamic), len(dynamic), _PAGE),
        (_PT_DYNAMIC, _READABLE | _WRITABLE, _PAGE, _PAGE, _PAGE, len(dynamic), len(dynamic), 8),
        (_PT_GNU_STACK, _READABLE | _WRITABLE, 0, 0, 0, 0, 0, 16),
    )
    first = header + b"".join(_PROGRAM_HEADER.pack(*segment) for segment in segments) + bytes(24 + 8) + code
    return first.ljust(_PAGE, b"\0") + dynamic
