"""A warm program's text: read and compiled as a start does it, or left to a real start where that is not certain."""
# ruff: noqa: BLE001
# (whatever compiling raises, a real start says it in the interpreter's own words)

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import CodeType
    from typing import NoReturn

    from harena.runtime.guest.warm_state import Plan

_VERSION = sys.version_info[:2]  # a name of its own: newer checkers take what is below 3.11 for dead code
_ZIP_END = b"PK\x05\x06"
_ZIP_TAIL_BYTES = 65535 + 22  # the longest archive comment, and the record it belongs to
_MAX_SOURCE_BYTES = 64 << 20


class _Report:
    """Stands in for sys.stderr while a program is compiled, so that its warnings can still be taken back."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.write = self.parts.append

    def flush(self) -> None:
        """Do nothing; files have this method, too."""


_report = _Report()


def load(plan: Plan) -> CodeType | None:
    """The program's code (None for a module, which runpy loads), with `__main__` and sys.path completed. Ends in a real
    start where compiling fails: only the interpreter itself words such errors, and nothing has been done yet."""
    code = None
    known = _known.get(plan.target) if plan.kind == "code" else None
    if known is not None:
        name, namespace, code = known
        plan.main[name] = namespace
    elif plan.kind != "module":
        source, name = (plan.target, "<string>") if plan.kind == "code" else _read(plan)
        screen = sys.stderr
        report = _report
        sys.stderr = report
        try:
            code = compile(source, name, "exec", dont_inherit=True)
        except BaseException:  # whatever it is, an interpreter of its own reports it
            start_really(plan)
        sys.stderr = screen
        if report.parts and screen is not None:
            screen.write("".join(report.parts))
        if plan.kind == "file":
            _complete_main(plan, name)
    if plan.kind == "code" and _VERSION >= (3, 13):
        loaded = plan.baseline.ours.get("linecache")
        if loaded is not None:  # by the template
            sys.modules["linecache"] = loaded  # type: ignore[assignment]
        import linecache

        linecache._register_code("<string>", plan.target + "\n", "<string>")  # type: ignore[attr-defined]
    _place_on_path(plan)
    return code


_known: dict[str, tuple[str, dict[str, object], CodeType]] = {}


def know(programs: Iterable[tuple[str, bytes, str, Sequence[bytes], bytes]]) -> None:
    """In the template: do ahead what these programs begin with (see `core.models.KnownProgram`, of which each is the
    fields). Those for other interpreters are left out, and then run as any text does."""
    from _frozen_importlib_external import MAGIC_NUMBER

    for text, magic, name, preparation, program in programs:
        if magic != MAGIC_NUMBER:
            continue
        namespace: dict[str, object] = {"__name__": name}
        for code in preparation:
            exec(marshal.loads(code), namespace)  # noqa: S102, S302 (from our own node)
        _known[text] = name, namespace, marshal.loads(program)  # noqa: S302 (likewise)


def start_really(plan: Plan) -> NoReturn:
    """Become a real interpreter after all."""
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ):
        _signal.signal(number, _signal.SIG_DFL)
    try:
        os.execve(plan.executable, plan.argv, plan.environment)
    except OSError as error:
        os.write(2, f"harena: {plan.executable}: {error.strerror}\n".encode())
        os._exit(126)


def _read(plan: Plan) -> tuple[bytes, str]:
    """The program's text and the name that its code carries."""
    try:
        descriptor = os.open(plan.target, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        status = os.fstat(descriptor)
        size = status.st_size
        if status.st_mode & 0o170000 != 0o100000 or size > _MAX_SOURCE_BYTES:
            start_really(plan)
        source = os.read(descriptor, size + 1)
        plan.place = _directory(descriptor, plan.target)
        os.close(descriptor)
        name = plan.target
        if name[:1] != "/" and _VERSION >= (3, 9):
            name = os.getcwd().rstrip("/") + "/" + (name[2:] if name[:2] == "./" else name)
    except OSError:
        start_really(plan)
    if len(source) != size or not is_plain(source):
        start_really(plan)
    return source, name


def _directory(descriptor: int, name: str) -> str:
    """Where the open file really lies. Asking the kernel takes one call, realpath a hundred lines."""
    try:
        real = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        real = ""
    if real[:1] != "/" or real.endswith(" (deleted)"):
        real = os.path.realpath(name)
    return real.rpartition("/")[0] or "/"


def is_plain(source: bytes) -> bool:
    """Text that `compile` and the interpreter's own file reader surely take for the same."""
    if b"\0" in source or _ZIP_END in source[-_ZIP_TAIL_BYTES:]:
        return False
    if b"\r" in source and source.count(b"\r") != source.count(b"\r\n"):
        return False
    head = b"".join(source.split(b"\n", 2)[:2]).lower()
    return b"coding" not in head or b"utf-8" in head or b"utf8" in head


def _complete_main(plan: Plan, name: str) -> None:
    main = plan.main
    main["__file__"] = name
    main["__cached__"] = None
    main["__loader__"] = sys.modules["_frozen_importlib_external"].SourceFileLoader("__main__", name)
    sys.path_importer_cache[name] = None  # a start asks first whether it is an archive


def _place_on_path(plan: Plan) -> None:
    if not plan.baseline.adds_directory:
        return
    try:
        if plan.kind == "code":
            place = ""
        elif plan.kind == "module":
            place = os.getcwd()
        else:
            place = plan.place
    except OSError:
        start_really(plan)
    sys.path.insert(0, place)
