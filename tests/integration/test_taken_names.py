"""A candidate's module never takes the name of one that a trusted part imports."""

from __future__ import annotations

from typing import Any

import pytest
from battery_world import Source

from harena.core.models import SandboxSpec
from harena.core.results import RunResult, Validity
from harena.scoring import load_scenarios, score_scenario
from harena.testing import FakeRuntime

pytestmark = pytest.mark.alone

CHECK = """
import sys
word = sys.stdin.readline().strip()
import yaml
import cases
import solution
assert all(yaml.safe_load(text) == solution.load(text) for text in cases.TEXTS)
print("harena-proof", word)
"""
FILES = {"check.py": CHECK, "cases.py": "TEXTS = ['1', '[2, 3]']\n"}
COMMAND = {"type": "command", "command": ["python", "check.py"], "files": FILES}
SUITE = "import yaml\nimport cases\nimport solution\n\n\ndef test_all():\n" + "".join(
    f"    assert yaml.safe_load(cases.TEXTS[{n}]) == solution.load(cases.TEXTS[{n}])\n" for n in (0, 1)
)
PYTEST = {"type": "command", "pytest": ["test_it.py"], "files": {"test_it.py": SUITE, "cases.py": FILES["cases.py"]}}
HOMES: dict[str, dict[str, Any]] = {"command": COMMAND, "pytest, apart": {**PYTEST, "isolate": "sandbox"}}
RIGHT = {"solution.py": "import helper\ndef load(text): return helper.load(text)\n"}
HELPER = {"helper.py": "import ast\ndef load(text): return ast.literal_eval(text)\n"}
WRONG = "def load(text): return None\n"
FORGERIES = {
    "a module": {"yaml.py": "def safe_load(text): return None\n"},
    "a package": {"yaml/__init__.py": "def safe_load(text): return None\n"},
    "the cases": {"cases/__init__.py": "TEXTS = ['null', 'null']\n"},
}


async def scored(files: dict[str, str], scoring: dict[str, Any], source: Source | None = None) -> RunResult:
    row = {"id": "one", "candidate": {"files": files}, "scoring": scoring}
    (made,) = load_scenarios([row]).scenarios
    return await score_scenario(
        made, sandboxes=source or Source(FakeRuntime()), base_spec=SandboxSpec(), timeout_seconds=30
    )


@pytest.mark.parametrize("home", HOMES)
async def test_a_trusted_part_imports_what_it_means(home: str) -> None:
    """Modules of the image and its own; the candidate has others, and they stay."""
    assert (await scored({**RIGHT, **HELPER}, HOMES[home])).score == 1.0
    for name, files in FORGERIES.items():
        result = await scored({"solution.py": WRONG, **files}, HOMES[home])
        assert (name, result.score, result.validity) == (name, 0.0, Validity.VALID), result.detail


async def test_what_is_left_out_is_told() -> None:
    """Beside a verdict that does not pass: an honest program may have meant something by it."""
    result = await scored({"solution.py": "import yaml\nload = yaml.mine\n", "yaml.py": "mine = int\n"}, COMMAND)
    assert result.score == 0.0
    assert result.detail.endswith("left out of the candidate's files, because their names are taken: yaml.py")


async def test_what_a_contract_requires_is_never_the_candidates() -> None:
    """A module that the image lacks is the contract's fault, and nobody passes by bringing it."""
    check = CHECK.replace("import yaml\n", "import yaml_that_is_missing as yaml\n")
    scoring = {**COMMAND, "files": {**FILES, "check.py": check}, "requires": ["yaml_that_is_missing"]}
    files = {"solution.py": WRONG, "yaml_that_is_missing.py": "def safe_load(text): return None\n"}
    result = await scored(files, scoring)
    assert (result.score, result.validity) == (None, Validity.INVALID)


async def test_the_image_is_asked_once_for_a_contract() -> None:
    """A run asks nothing more."""
    source, made = Source(FakeRuntime()), 0
    create = source.runtime.create

    async def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal made
        made += 1
        return await create(*arguments, **options)

    source.runtime.create = counted  # type: ignore[method-assign]
    for _ in range(2):
        assert (await scored({**RIGHT, **HELPER}, COMMAND, source)).score == 1.0
    assert made == 3


async def test_a_trusted_program_that_was_changed_proves_nothing() -> None:
    """By a step that ran the candidate before it; data that the contract calls changeable may be written."""
    later = (
        "import sys\nword = sys.stdin.readline().strip()\nprint('harena-proof', word * (open('data').read() == 'x'))\n"
    )
    steps = {
        "type": "command",
        "command": "python solution.py </dev/null; python later.py",
        "files": {"later.py": later},
    }
    honest = "open('data', 'w').write('x')\n"
    data = {**steps, "files": {"later.py": later, "data": "y"}}
    assert (await scored({"solution.py": honest}, {**data, "changeable": ["da*"]})).score == 1.0
    refused = await scored({"solution.py": honest}, data)
    assert (refused.score, refused.detail.endswith("name it in `changeable`")) == (0.0, True)
    itself = {**steps, "command": f"{steps['command']}; echo '# run' >> later.py"}
    assert (await scored({"solution.py": honest}, itself)).score == 1.0
    evil = "open('later.py', 'w').write('print(\"harena-proof\", input())')\n"
    result = await scored({"solution.py": evil}, steps)
    assert (result.score, result.validity) == (0.0, Validity.SUSPECT)
    assert result.detail == "the trusted later.py was changed while the command ran"


OPTIONAL = """
import sys
word = sys.stdin.readline().strip()
try:
    import numpy_that_is_missing as numpy
except ImportError:
    numpy = None
try:
    from solution import load
except ImportError:
    load = None
assert load is not None and load("1") == 1
print("harena-proof", word)
"""


@pytest.mark.parametrize(
    ("command", "check"),
    [
        (["python", "check.py"], OPTIONAL),
        (["bash", "check.sh"], f"python -c 'import sys' && exec python check.py\n: <<X\n{OPTIONAL}X\n"),
    ],
)
async def test_what_a_trusted_program_does_without_is_not_the_candidates(command: list[str], check: str) -> None:
    """The candidate's own module stays, although the program does without it, too."""
    scoring = {"type": "command", "command": command, "files": {"check.py": OPTIONAL, command[-1]: check}}
    assert (await scored({"solution.py": "load = int\n"}, scoring)).score == 1.0
    evil = "import os, sys\nprint('harena-proof', sys._getframe(6).f_globals['word'], flush=True)\nos._exit(0)\n"
    result = await scored({"solution.py": WRONG, "numpy_that_is_missing.py": evil}, scoring)
    assert (result.score, "numpy_that_is_missing.py" in result.detail) == (0.0, True), result.detail


async def test_a_module_beside_the_candidate_is_not_for_calls() -> None:
    """Neither one that a contract's PYTHONPATH would find, nor one that the candidate writes."""
    late = "import statistics\nassert statistics.mean([f(2)]) == 5"
    scoring = {"type": "command", "calls": {"f": "f"}, "env": {"PYTHONPATH": "lib"}, "asserts": "f(1)\n" + late}
    evil = "def mean(x): return 5\n"
    written = f"import os\nos.makedirs('lib', exist_ok=True)\nopen('lib/statistics.py', 'w').write({evil!r})\n"
    result = await scored({"solution.py": written + "def f(x): return 0\n"}, scoring)
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail
    assert (await scored({"solution.py": "def f(x): return 5\n"}, scoring)).score == 1.0
