"""A warm program cannot be told from a really started one: same output, same errors, same end, same files left."""

from __future__ import annotations

import os
import py_compile
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from warm_programs import CASES, Case
from warm_template import BASE_ENVIRONMENT, INTERPRETER, Outcome, Template, run_really

VERSION = tuple(
    map(int, subprocess.check_output([INTERPRETER, "-c", "import sys; print(*sys.version_info[:2])"]).split())
)


@pytest.fixture(autouse=True)
def _test_leaves_nothing() -> None:
    """Not after each of some four hundred programs: the module's own check comes when the template has ended."""


@pytest.fixture(scope="module")
def template() -> Iterator[Template]:
    """A template with nothing preloaded."""
    started = Template([])
    yield started
    started.close()


def test_names_of_cases_are_unique() -> None:
    """No case hides another."""
    assert len({case.name for case in CASES}) == len(CASES) > 300


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_same_as_a_real_start(case: Case, template: Template, tmp_path: Path) -> None:
    """stdout, stderr, exit status and the files left behind are equal."""
    if VERSION >= case.before:
        pytest.skip("a listed difference of this version")
    if case.command[0] == "python" and not shutil.which("python", path=os.path.dirname(INTERPRETER)):
        pytest.skip("there is no `python` beside this interpreter")
    place = tmp_path / "work"
    _lay_out(case, place)
    command, environment = _command(case, place), _environment(case, place)
    real = run_really(INTERPRETER, command, environment, place, case.stdin)
    real_files = _take_files(place)
    _lay_out(case, place)
    warm = template.run(command, environment, place, case.stdin)
    assert warm.is_warm == case.warm
    if case.warm:
        assert warm.status == real.status
        assert _plain(warm.stdout) == _plain(real.stdout)
        assert _plain(warm.stderr) == _plain(real.stderr)
        assert _take_files(place) == real_files


def _plain(output: bytes) -> bytes:
    """Without the addresses of objects and the times of test runs."""
    return re.sub(rb"0x[0-9a-f]{6,}|in \d\.\d{3}s", b"", output)


def _lay_out(case: Case, place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    files = (
        {"main.py": case.program, **case.files} if case.command[1:2] and "main.py" in str(case.command) else case.files
    )
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = content.encode() if isinstance(content, str) else content
        if content[:2] == b"->":
            path.symlink_to(content[2:].decode())
        elif content[:4] == b"zip:":
            path.write_bytes(_zipped(content[4:]))
        elif content[:4] == b"pyc:":
            path.write_bytes(_compiled(content[4:], place))
        else:
            path.write_bytes(content)
            path.chmod(0o755)


def _zipped(program: bytes) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("__main__.py", program)
    return file.getvalue()


def _compiled(program: bytes, place: Path) -> bytes:
    source = place.parent / "source.py"
    source.write_bytes(program)
    made = py_compile.compile(str(source), str(place.parent / "made.pyc"), dfile="source.py", doraise=True)
    assert made is not None
    return Path(made).read_bytes()


def _command(case: Case, place: Path) -> list[str]:
    names = {"{python}": INTERPRETER, "{versioned}": "python%d.%d" % VERSION, "{cwd}/main.py": f"{place}/main.py"}
    return [names.get(word, word) for word in case.command]


def _environment(case: Case, place: Path) -> dict[str, str]:
    environment = dict(BASE_ENVIRONMENT)
    for name, value in case.env.items():
        if value == "-":
            del environment[name]
        else:
            environment[name] = value.replace("{cwd}", str(place)).replace("{bin}", os.path.dirname(INTERPRETER))
    return environment


def _take_files(place: Path) -> dict[str, bytes]:
    """What lies there, byte code and databases by name only: they carry times."""
    return {
        str(path.relative_to(place)): path.read_bytes() if path.suffix in {".txt", ".csv", ".gz", ".bin"} else b""
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }
