"""Compiled code that sandboxes are sent, kept between processes: to compile it takes longer than to start a template.

It lies beside the modules that the interpreter itself keeps compiled, and is trusted as these are: whoever can write
there can change harena. Spawners read it, so what is imported here is little.
"""

from __future__ import annotations

import binascii
import os
import sys
from _frozen_importlib_external import MAGIC_NUMBER, cache_from_source
from collections.abc import Callable


def kept_code(module_file: str, sources: bytes, make: Callable[[], bytes], *, name: str = "") -> bytes:
    """What `make` gives, or what it gave an earlier process of the same version of Python for the same sources.

    `module_file`: the file of the module that makes it, beside whose own compiled form it is kept, and which is one of
    the sources. Where nothing can be read or written there, it is made. `name`: which of the things that the module
    makes it is, where there are several.
    """
    try:
        with open(module_file, "rb") as file:
            sources += file.read()
        place = cache_from_source(module_file).removesuffix(".pyc") + (f".{name}.kept" if name else ".kept")
    except (OSError, NotImplementedError):  # a module of an archive; an interpreter that keeps nothing
        return make()
    if (found := _read(place, sources)) is not None:
        return found
    made = make()
    if not sys.dont_write_bytecode:
        _write(place, _with_header(sources, made))
    return made


def _with_header(sources: bytes, made: bytes) -> bytes:
    content = b"%016x%b%b" % (len(sources), sources, made)
    return b"%b%08x%b" % (MAGIC_NUMBER, binascii.crc32(content), content)


def _read(place: str, sources: bytes) -> bytes | None:
    try:
        with open(place, "rb") as file:
            content = file.read()
    except OSError:
        return None
    begin = len(MAGIC_NUMBER) + 8 + 16
    made = content[begin + len(sources) :]
    return made if content == _with_header(sources, made) else None  # a machine that went down may have left a part


def _write(place: str, content: bytes) -> None:
    """Whole or not at all; who writes at the same time writes the same."""
    part = f"{place}.{os.getpid()}"
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except OSError:
        return
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(part, place)
    except OSError:
        _remove(part)


def _remove(part: str) -> None:
    try:  # `contextlib` is more than a spawner imports
        os.unlink(part)
    except OSError:
        return
