"""The sources of the programs that harena runs inside sandboxes, and how they get into an interpreter there.

They are read when this module is imported, all at once and before the first candidate is judged: an upgrade or a switch
of branches below a running process changes nothing in the programs that it sends, and no run can fail for a file of
harena's own that has changed or gone.

A program of several modules goes as words of the command line, which nobody can change once it has started. The kernel
takes no word of more than 128 KiB, so there are as many words as it needs. It goes compiled, because to compile the
runner of a suite takes longer than most suites do, and as source besides, for interpreters of another version. What is
compiled is kept for later processes (`harena.core.kept_code`), and none of these modules is imported to be sent.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import marshal
import re
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

from harena.core.kept_code import kept_code
from harena.scoring import guest

_WORD_CHARACTERS = 120_000
"""size limit of one word of a command line; the kernel takes 131,072 bytes with the NUL (MAX_ARG_STRLEN)"""
_COMPRESSION = 3
"""level of zlib: the first result waits for it"""
_IMPORT = re.compile(r"^ *from harena\.scoring\.guest(?:\.(\w+) import | import ([^\n#]+))", re.MULTILINE)

_LOADER = """\
def loaded(modules, same):
    import sys
    kind = type(sys)
    for name in ('harena', 'harena.scoring', 'harena.scoring.guest'):
        sys.modules[name] = kind(name)
    for name, code in modules:
        module = sys.modules[name] = kind(name)
        exec(code if same else compile(code, '<' + name + '>', 'exec', dont_inherit=True), module.__dict__)
    return module
"""

_OF_WORDS = (
    _LOADER
    + """\
def unpacked(compiled, sources):
    import binascii, json, marshal, sys, zlib
    words = sys.argv[1:1 + compiled + sources]
    del sys.argv[1:1 + compiled + sources]
    packed = [zlib.decompress(binascii.a2b_base64(''.join(part))) for part in (words[:compiled], words[compiled:])]
    magic = getattr(sys.modules.get('_frozen_importlib_external'), 'MAGIC_NUMBER', b'')
    same = packed[0].startswith(magic) and magic != b''
    return loaded(marshal.loads(packed[0][len(magic):]) if same else json.loads(packed[1]), same)
"""
)


def _read() -> dict[str, str]:
    (folder,) = guest.__path__
    return {
        f"{guest.__name__}.{path.stem}": path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.py"))
    }


_SOURCES: Mapping[str, str] = _read()


def source_of(module: ModuleType) -> str:
    """The text of a module of `harena.scoring.guest`, as it was when scoring was first used."""
    return _SOURCES[module.__name__]


@cache
def modules_of(*wanted: str) -> tuple[str, ...]:
    """These modules of `harena.scoring.guest`, by their names there, and all that they import of that folder, each
    behind those that it imports itself. Raises KeyError for a name that no module has."""
    found: dict[str, None] = {}
    begun: set[str] = set()

    def take(name: str) -> None:
        if name not in begun:
            begun.add(name)
            for other in _imported(_SOURCES[f"{guest.__name__}.{name}"]):
                take(other)
            found[name] = None

    for name in wanted:
        take(name)
    return tuple(found)


def _imported(source: str) -> list[str]:
    """The modules of the folder that a text of it imports, in the one form in which they do."""
    return [
        name
        for module, names in _IMPORT.findall(source)
        for name in ([module] if module else [each.split(" as ")[0].strip() for each in names.split(",")])
    ]


@cache
def guest_argv(modules: tuple[str, ...], start: str) -> tuple[str, ...]:
    """The command line of a program that has these modules, under the names that they have here, and calls a function
    of the last one. More words may follow; the program finds them where it would find its own."""
    sources = json.dumps([(name, _SOURCES[name]) for name in (f"{guest.__name__}.{each}" for each in modules)])
    kept = kept_code(__file__, sources.encode(), lambda: _compiled(sources), name=modules[-1])
    compiled, plain = json.loads(kept)
    return ("python", "-c", f"{_OF_WORDS}unpacked({len(compiled)}, {len(plain)}).{start}()\n", *compiled, *plain)


def _compiled(sources: str) -> bytes:
    """The words that hold the modules compiled, and those that hold their sources."""
    code = [(name, compile(text, f"<{name}>", "exec", dont_inherit=True)) for name, text in json.loads(sources)]
    compiled = _words(importlib.util.MAGIC_NUMBER + marshal.dumps(code))
    return json.dumps([compiled, _words(sources.encode())]).encode()


@cache
def guest_program(modules: tuple[str, ...], start: str) -> str:
    """The program of `guest_argv` as one text, for a program that starts it."""
    sources = [(name, _SOURCES[name]) for name in (f"{guest.__name__}.{each}" for each in modules)]
    packed = _packed(json.dumps(sources).encode())
    return (
        f"{_LOADER}"
        "import binascii, json, zlib\n"
        f"loaded(json.loads(zlib.decompress(binascii.a2b_base64({packed!r}))), False).{start}()\n"
    )


def _packed(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, _COMPRESSION)).decode()


def _words(content: bytes) -> tuple[str, ...]:
    packed = _packed(content)
    return tuple(packed[at : at + _WORD_CHARACTERS] for at in range(0, len(packed), _WORD_CHARACTERS))
