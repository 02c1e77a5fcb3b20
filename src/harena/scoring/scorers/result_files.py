"""Files that a verifier's own Python writes, and that a candidate may have prepared under the same name.

Such a file counts for the candidate only where the verifier has not come to write it: it crashed before, or writes it
for what is right alone. Whether it has, its time tells. That a text writes a file does not tell that it is none of the
candidate's: so the file is only left out, and the candidate judged anew, where it was there before and stayed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from harena.core.models import ExecOutcome, ExecRequest
from harena.core.ports import SandboxPort

_SECONDS = 60.0
_MOST_TEXT, _LONGEST_LINE = 64 * 1024, 2000
_MOST_PATHS = 200
_LITERAL = re.compile(r"[\"']((?:/|\./)?[\w@%+,-][\w.@%+,/-]{0,300})[\"']")
_ALONE = re.compile(r"(?:(?:pathlib\.)?Path\()?[\"']([\w@%+,-][\w.@%+,/-]{0,300})[\"']\)?")
"""a path from the folder that a program runs in, joined to nothing"""
_WORD = re.compile(r"[A-Za-z_]\w*")
_CHANGES_FOLDER = re.compile(r"\bchdir\b|\bcwd[ \t]*=")
_ASSIGNS = re.compile(r"(?m)^[ \t]*([A-Za-z_]\w*)(?:[ \t]*:[^=\n]{1,100})?[ \t]*=[ \t]*(?!=)([^\n]{1,500})")
_SETS = re.compile(
    r"(?<![\w./-])(?:--([a-z][\w-]{0,60})[= \t]|([A-Za-z_]\w{0,60})=)[\"']?((?:/|\./)?[\w@%+,-][\w.@%+,/-]{0,300})"
)
"""an option, or a variable, to which a line of shell gives a path"""
_WRITES = re.compile(
    r"\bopen\([ \t]*(?P<opened>[^\n]{1,300}?),[ \t]*(?:mode[ \t]*=[ \t]*)?[\"'][wax]"
    r"|(?P<written>[^\s=;]{1,300}?)\.(?:write_text|write_bytes)\(|(?P<held>[^\s=;]{1,300}?)\.open\([ \t]*[\"'][wax]"
    r"|\b(?:to_\w+|save\w*)\([ \t]*(?P<saved>[^\n,)]{1,300})"
    r"|\b(?:copy\w*|move|rename|replace)\([^\n,]{1,300},[ \t]*(?P<moved>[^\n,)]{1,300})"
)
_READS = (
    r"(?:\bopen\([ \t]*{0}[ \t]*(?:\)|,[ \t]*[\"']r|,[ \t]*encoding)"
    r"|{0}[\"'\)]*\.(?:read_|exists|is_file|stat|open\([ \t]*(?:\)|[\"']r))"
    r"|\b(?:exists|isfile|getsize|load\w*|read_\w+)\([ \t]*{0})"
)
_UNWRITTEN = """\
command -v find >/dev/null || exit 0
guard=$1 began=$2
shift 2
for path do
    [ -f "$path" ] && find "$path" -maxdepth 0 -newerct "@$began" ! -cnewer "$guard" -printf '%p\\0'
done
exit 0
"""


def written_by_python(tests: Mapping[str, str], workdir: str) -> list[str]:
    """Paths that the verifier's Python writes, and does not read before: as it names them, or as lines of shell give
    them to it by an option or a variable. Not for an event loop where the texts are long.

    >>> written_by_python({"w.py": "assert right()\\nopen('/tmp/result', 'w').write('PASS')"}, "/app")
    ['/tmp/result']
    """
    shell = "\n".join(text[:_MOST_TEXT] for path, text in tests.items() if path.endswith((".sh", ".bash")))
    given: dict[str, str] = {}
    for found in _SETS.finditer(shell):
        name = rf"env\w{{0,4}}\W[^\n]{{0,10}}\b{found[2]}\b"
        if found[1]:
            name = rf"\w\.{re.escape(found[1].replace('-', '_'))}\b"
        if len(given) < _MOST_PATHS and ("/" in found[3] or "." in found[3]):
            given[name] = found[3]
    python = {path: text for path, text in tests.items() if path.endswith(".py") and len(text) <= _MOST_TEXT}
    paths: dict[str, None] = {}
    for text in python.values():
        if len(paths) < _MOST_PATHS:
            paths.update(dict.fromkeys(_written_in(text, given)))
    lines = [line for text in python.values() for line in text.split("\n") if len(line) <= _LONGEST_LINE]
    own = [path for path in list(paths)[:_MOST_PATHS] if not _reads(lines, path)]
    absolute = dict.fromkeys(str(PurePosixPath(workdir, path)) for path in own)
    return [path for path in absolute if ".." not in path.split("/") and path.count("/") > 1]


def _reads(lines: list[str], path: str) -> bool:
    """A line reads something of this name, wherever it lies."""
    name = PurePosixPath(path).name
    # what stands between does not open it: `if exists("/app/a"): open("/tmp/b", "w")`
    reads = re.compile(_READS.format(rf"(?:(?!\bopen\()[^\n]){{0,200}}[\"'/]{re.escape(name)}[\"']\)?"))
    return any(reads.search(line) for line in lines if name in line)


def _written_in(text: str, given: Mapping[str, str]) -> Iterator[str]:
    """Paths as one text says them."""
    variables: dict[str, list[str]] = {}
    for found in _ASSIGNS.finditer(text):
        variables.setdefault(found[1], []).append(found[2])
    changes_folder = _CHANGES_FOLDER.search(text) is not None

    def meant(expression: str) -> Iterator[str]:
        said = [expression, *(value for word in _WORD.findall(expression)[:8] for value in variables.get(word, ())[:4])]
        for part in said:
            alone = _ALONE.fullmatch(part.strip())
            if alone is not None and not changes_folder:
                yield alone[1]
            yield from (found[1] for found in _LITERAL.finditer(part) if found[1][0] == "/")
            yield from (path for name, path in given.items() if re.search(name, part))

    done: set[str] = set()
    for found in _WRITES.finditer(text):
        expression = next(part for part in found.groups() if part)
        if expression in done or len(done) >= _MOST_PATHS:
            continue
        done.add(expression)
        name = re.escape(expression.strip())
        if not re.search(_READS.format(f"(?:{name})"), text[: found.start()]):
            yield from meant(expression)


async def unwritten(sandbox: SandboxPort, paths: list[str], guard_path: str, began: float) -> tuple[str, ...]:
    """Tell which of the files were made since `began` (by the clock of files), and not changed since the guard was."""
    argv = ("sh", "-c", _UNWRITTEN, "sh", guard_path, f"{began:.9f}", *paths)
    request = ExecRequest(argv=argv, cwd="/", timeout_seconds=_SECONDS, warm=False)
    done = await (await sandbox.exec(request)).wait()
    if done.outcome is not ExecOutcome.EXITED:
        return ()
    return tuple(path for path in done.stdout.decode("utf-8", "surrogateescape").split("\0") if path)
