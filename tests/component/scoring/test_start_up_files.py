"""What a verifier's programs start with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harena.scoring.guest.sitecustomize import is_trusted
from harena.scoring.scorers.start_up_files import first_module_of, guard, guarded_shell


@pytest.mark.cheap
@pytest.mark.parametrize(
    ("line", "trusted"),
    [
        ("-c pass", True),
        ("-m pytest /tests", True),
        ("-Bm pytest", True),
        ("-Xutf8 -W ignore -m x", True),
        ("-", True),
        ("", True),
        ("/tests/check.py", True),
        ("-u /tests/check.py -c", True),
        ("HERE-too/main.py", True),
        ("main.py", False),
        ("./sub/main.py -m", False),
        ("-W ignore HERE/main.py", False),
        ("-Wignore::ResourceWarning main.py", False),
        ("--check-hash-based-pycs never main.py", False),
    ],
)
def test_a_program_in_the_working_directory_is_the_candidates(
    line: str, trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other one looks elsewhere first."""
    monkeypatch.chdir(tmp_path)
    here = str(tmp_path.resolve())
    assert is_trusted(line.replace("HERE", here).split(), here) is trusted


@pytest.mark.parametrize("line", ["usr/bin/pytest -q", "app/main.py", "/main.py"])
def test_the_root_folder_makes_no_program_the_candidates(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program lies below it."""
    monkeypatch.chdir("/")
    assert is_trusted(line.split(), "/")


def test_a_folder_that_its_owner_has_closed_is_not_trusted(tmp_path: Path) -> None:
    """A candidate takes the right to write from itself, and leaves modules there."""
    place = tmp_path / "lib"
    place.mkdir()
    (place / "json.py").write_text("mine = True\n")
    place.chmod(0o555)
    path, source, environment = guard(str(tmp_path / "tests"), {"PYTHONPATH": str(place)})
    Path(path).parent.mkdir(parents=True)
    Path(path).write_bytes(source)
    told = subprocess.run(
        [sys.executable, "-c", "import json; print(hasattr(json, 'mine'))"],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.stdout, told.stderr) == ("False\n", "")


def test_a_guard_keeps_the_contracts_own_search_path() -> None:
    """Its folder comes first, under a name that nobody knows."""
    path, source, environment = guard("/tests", {"PYTHONPATH": "/lib", "A": "b"})
    folder, _, name = path.rpartition("/")
    assert (name, environment) == ("sitecustomize.py", {"A": "b", "PYTHONPATH": f"{folder}:/lib"})
    assert b"install()" in source
    assert guard("/tests", {})[0] != path


LOOK = """
import importlib.metadata, json, sys
import helper
assert json.__file__.startswith(sys.base_prefix) and not hasattr(json, "mine"), json.__file__
assert [one for one in importlib.metadata.distributions() if one.metadata["Name"] == "evil"] == []
assert importlib.metadata.version("pytest")
print(helper.ANSWER)
"""


def test_modules_and_plug_ins_are_found_elsewhere_first(tmp_path: Path) -> None:
    """The helper is only in the working directory; a program there finds its own."""
    path, source, environment = guard(str(tmp_path / "tests"), {})
    for name, text in {
        path: source.decode(),
        "app/json.py": "mine = True\n",
        "app/helper.py": "ANSWER = 42\n",
        "app/evil-1.0.dist-info/METADATA": "Name: evil\nVersion: 1.0\n",
        "app/main.py": "import json\nprint(json.mine)\n",
    }.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    for arguments, said in ((["-c", LOOK], "42\n"), (["main.py"], "True\n")):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path / "app",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout, done.stderr) == (said, "")


SHOWS = "import sys, encodings.idna; print(sys.path[:3], encodings.__spec__.name, hasattr(encodings.idna, 'mine'))"


def test_what_python_begins_with_is_the_librarys(tmp_path: Path) -> None:
    """A folder of the search path comes before the library, but for modules that are imported before the guard."""
    folder, own = tmp_path / "tests", tmp_path / "app"
    path, source, environment = guard(str(folder), {"PYTHONPATH": f"{own}::/nowhere"})
    first = first_module_of(path, environment, [])
    assert first is not None
    (own / "encodings").mkdir(parents=True)
    (own / "encodings/__init__.py").write_text("raise SystemExit(0)\n")
    (own / "main.py").write_text(SHOWS)
    Path(path).parent.mkdir(parents=True)
    for name, content in ((path, source), first):
        Path(name).write_bytes(content)
    for arguments in (["-c", SHOWS], ["main.py"]):
        done = subprocess.run(
            [sys.executable, *arguments], cwd=own, env=environment, capture_output=True, text=True, check=False
        )
        before = "" if arguments[0] == "-c" else str(own)
        assert (done.stdout, done.stderr) == (f"{[before, str(own), '/nowhere']} encodings False\n", "")


def test_without_a_search_path_nothing_comes_before_the_guard() -> None:
    """It is one file less to write."""
    path, _, environment = guard("/tests", {})
    assert first_module_of(path, environment, ["python3 -m pytest"]) is None
    assert first_module_of(path, environment, ["PYTHONPATH=/app python3 -m pytest"]) is not None


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("unset PYTHONPATH PYTHONHOME; python3 x", "export PYTHONPATH=/g; unset  PYTHONHOME; python3 x"),
        ('env -i PATH="$PATH" python3 x', 'env -i PYTHONPATH=/g PATH="$PATH" python3 x'),
        ("env -i ./app", "env -i ./app"),
        ("env -u PYTHONPATH python3 x", "env PYTHONPATH=/g python3 x"),
        ("PYTHONPATH= python3 x", "PYTHONPATH=/g python3 x"),
        ("declare -x PYTHONPATH=/a", "declare -x PYTHONPATH=/g:/a"),
        ("echo 'unset PYTHONPATH'", "echo 'unset PYTHONPATH'"),
        ("env PATH=/a python3 x; printenv -0", "env PATH=/a python3 x; printenv -0"),
    ],
)
def test_a_line_that_clears_the_search_path_keeps_the_guard(line: str, kept: str) -> None:
    assert guarded_shell(line, "/g") == kept
