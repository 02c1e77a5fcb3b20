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


@pytest.mark.cheap
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_same_as_a_real_start(case: Case, template: Template, tmp_path: Path) -> None:
    """stdout, stderr, exit status and the files left behind are equal."""
    if case.before <= VERSION:
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


# What differs, as docs/explanation/warm-exec.md lists it: (name, program, output of a real start, of a warm one).
DIFFERENCES = [
    ("the command line in /proc", "print('main.py' in open('/proc/self/cmdline').read())", "True", "False"),
    (
        "objects that only a library's module holds",
        "import json\nclass C:\n    def __del__(self): print('del')\njson.kept = C()",
        "del",
        "",
    ),
    (
        "finalising",
        "class C:\n    def __del__(self): print(f())\nimport sys\nf = sys.is_finalizing\nc = C()",
        "True",
        "False",
    ),
    (
        "what the collector knows",
        "import gc, os\nprint(any(o is os.environ for o in gc.get_objects()))",
        "True",
        "False",
    ),
    ("C's exit handlers", "import ctypes\nl = ctypes.CDLL(None)\nl.__cxa_atexit(l.puts, b'bye', None)", "bye", ""),
    (
        "a dump of all frames",
        "import faulthandler as h\nf = open('d', 'w+')\nh.dump_traceback(f)\nf.seek(0)\nprint('_top' in f.read())",
        "False",
        "True",
    ),
]
if VERSION < (3, 12):
    DIFFERENCES += [
        ("frozen objects", "import gc\nprint(gc.get_freeze_count() > 0)", "False", "True"),
        (
            "a profiler left on",
            "import os, sys\n"
            "sys.setprofile(lambda f, *a: f.f_code.co_name == '_end' and (print('seen', flush=True), os._exit(0)))",
            "",
            "seen",
        ),
    ]


@pytest.mark.parametrize(
    ("program", "really", "warmly"), [case[1:] for case in DIFFERENCES], ids=[case[0] for case in DIFFERENCES]
)
def test_listed_differences(program: str, really: str, warmly: str, template: Template, tmp_path: Path) -> None:
    """Each difference on the list is there: one that has gone is taken off the list."""
    real, warm = _run_both(program, template, tmp_path)
    assert (real.stdout.decode().strip(), warm.stdout.decode().strip()) == (really, warmly)


def test_listed_difference_of_addresses(template: Template, tmp_path: Path) -> None:
    """All programs of a template share its addresses."""
    first, second = (_run_both("print(id(print), id(object()))", template, tmp_path)[1] for _ in range(2))
    assert first.stdout == second.stdout


PRELOADED = [
    "import json, sys\nprint(json.loads('[1]'), json.__file__)",
    "import numpy as np\nprint(np.arange(3).sum(), np.__version__)\nnp.random.seed(3)\nprint(np.random.rand())",
    "import numpy as np\nnp.array([1]) / 0",
    "import numpy as np\nnp.array([1]).nope",
    "import numpy as np\nprint(np.get_printoptions(), np.geterr())\nprint(np.ones((200, 200)) @ np.ones((200, 200)))",
    "import random\nrandom.seed(1)\nprint(random.random())\nimport threading\nprint(threading.active_count())",
    "import multiprocessing as m\nimport numpy as np\nif __name__ == '__main__':\n"
    "    with m.get_context('fork').Pool(2) as p: print(p.map(np.sqrt, [1.0, 4.0]))",
    "def d(n):\n    try: return d(n + 1)\n    except RecursionError: return n\nprint(d(0))",
]


@pytest.fixture(scope="module")
def preloaded() -> Iterator[Template]:
    """A template with numpy, where this interpreter has it."""
    if subprocess.run([INTERPRETER, "-c", "import numpy"], env=BASE_ENVIRONMENT, check=False, stderr=-3).returncode:
        pytest.skip("this interpreter has no numpy")
    started = Template(["json", "numpy"])
    yield started
    started.close()


@pytest.mark.parametrize("program", PRELOADED)
def test_preloaded_modules(program: str, preloaded: Template, tmp_path: Path) -> None:
    """What is imported already behaves as if the program had imported it."""
    real, warm = _run_both(program, preloaded, tmp_path)
    assert warm.is_warm
    assert (warm.status, _plain(warm.stdout), _plain(warm.stderr)) == (
        real.status,
        _plain(real.stdout),
        _plain(real.stderr),
    )


def test_listed_difference_of_preloaded_modules(preloaded: Template, tmp_path: Path) -> None:
    """They are in sys.modules before the program imports them."""
    real, warm = _run_both("import sys\nprint('numpy' in sys.modules)", preloaded, tmp_path)
    assert (real.stdout, warm.stdout) == (b"False\n", b"True\n")


@pytest.mark.parametrize(
    "program",
    [
        "import numpy as np; print(np.random.rand())",
        "import numpy as np; print(np.random.default_rng().random())",
        "import random; print(random.random())",
        "import multiprocessing as m; print(bytes(m.current_process().authkey))",
        "import uuid, os; print(uuid.uuid4(), os.urandom(8))",
    ],
)
def test_no_two_programs_share_randomness(program: str, preloaded: Template, tmp_path: Path) -> None:
    """What a start seeds from the system is seeded for each program."""
    outputs = {_run_both(program, preloaded, tmp_path)[1].stdout for _ in range(3)}
    assert len(outputs) == 3
    assert b"" not in outputs


def test_a_file_shadows_a_preloaded_module(preloaded: Template, tmp_path: Path) -> None:
    """A program's own numpy.py is what it imports: in a real start."""
    (tmp_path / "numpy.py").write_text("print('mine')")
    real, warm = _run_both("import numpy", preloaded, tmp_path)
    assert real.stdout == b"mine\n"
    assert not warm.is_warm


def test_a_module_that_cannot_be_preloaded() -> None:
    """The error says which one, why, and what to do."""
    with pytest.raises(ImportError, match=r"'no_such_module' cannot be imported.*No module named.*warm list"):
        Template(["json", "no_such_module"])


def _run_both(program: str, template: Template, place: Path) -> tuple[Outcome, Outcome]:
    (place / "main.py").write_text(program)
    command = ["python3", "main.py"]
    real = run_really(INTERPRETER, command, BASE_ENVIRONMENT, place, None)
    return real, template.run(command, BASE_ENVIRONMENT, place, None)


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
    names = {
        "{python}": INTERPRETER,
        "{versioned}": "python" + ".".join(map(str, VERSION)),
        "{cwd}/main.py": f"{place}/main.py",
    }
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
