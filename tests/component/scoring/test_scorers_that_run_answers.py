# ruff: noqa: E501 (programs are text, not code of ours)
"""A scorer that runs the text of an answer: what is wrong with the answer is not the scorer's fault."""

from __future__ import annotations

import asyncio
import textwrap

import pytest
from test_scorer_blame import SandboxSource

from harena.core.models import SandboxSpec
from harena.core.results import RunResult, Validity
from harena.scoring import load_scenarios
from harena.scoring.score import score_scenario

SCORERS = {
    "attr": "import sys, os\nopen('solution.py', 'w').write(run.answer)\nsys.path.insert(0, os.getcwd())\nimport solution\nreturn float(solution.add(2, 3) == 5)",
    "pathlib": "import sys, pathlib\npathlib.Path('/tmp/work').mkdir(exist_ok=True)\n(pathlib.Path('/tmp/work') / 'solution.py').write_text(run.answer)\nsys.path.insert(0, '/tmp/work')\nimport solution\nreturn float(solution.add(2, 3) == 5)",
    "modules": "import sys, types\nm = types.ModuleType('solution')\nexec(run.answer, m.__dict__)\nsys.modules['solution'] = m\nfrom solution import add\nreturn float(add(2, 3) == 5)",
    "writes": "exec(run.answer, {})\nreturn float(open('out.txt').read() == '5')",
    "writes apart": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', run.answer], timeout=3)\nwith open('out.txt') as file:\n    return float(file.read() == '5')",
    "exec": "ns = {}\nexec(run.answer, ns)\nreturn float(ns['add'](2, 3) == 5)",
    "globals": "exec(run.answer, globals())\nreturn float(add(2, 3) == 5)",
    "get": "ns = {}\nexec(run.answer, ns)\nf = ns.get('add')\nreturn sum(f(a, b) == a + b for a, b in [(1, 2), (3, 4)]) / 2",
    "import": "import sys, importlib, os\nopen('solution.py', 'w').write(run.answer)\nsys.path.insert(0, os.getcwd())\nm = importlib.import_module('solution')\nreturn float(m.add(2, 3) == 5)",
    "from": "import sys, os\nopen('solution.py', 'w').write(run.answer)\nsys.path.insert(0, os.getcwd())\nfrom solution import add\nreturn float(add(2, 3) == 5)",
    "runpy": "import runpy\nopen('solution.py', 'w').write(run.answer)\nreturn float(runpy.run_path('solution.py')['add'](2, 3) == 5)",
    "spec": "import importlib.util\nopen('solution.py', 'w').write(run.answer)\nspec = importlib.util.spec_from_file_location('solution', 'solution.py')\nm = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(m)\nassert m.add(2, 3) == 5\nreturn 1.0",
    "eval": "return float(eval(run.answer)(2, 3) == 5)",
    "module": "import types\nm = types.ModuleType('m')\nexec(compile(run.answer, 'solution.py', 'exec'), m.__dict__)\nreturn float(abs(m.add(2, 3) - 5) < 1e-9)",
    "class": "ns = {}\nexec(run.answer, ns)\ns = ns['Stack']()\ns.push(1)\nreturn float(s.pop() == 1)",
    "keys": "ns = {}\nexec(run.answer, ns)\nout = ns['add'](2, 3)\nreturn float(out['total'] == 5 and out['items'][0] == 2)",
    "subprocess": "import subprocess, sys, json\nout = subprocess.run([sys.executable, '-c', run.answer + '\\nimport json; print(json.dumps(add(2, 3)))'], capture_output=True, text=True, timeout=3)\nreturn float(json.loads(out.stdout.splitlines()[-1]) == 5)",
    "helper": "def check(f, cases): return sum(f(*a) == b for a, b in cases) / len(cases)\nns = {}\nexec(run.answer, ns)\nreturn check(ns['add'], [((1, 2), 3), ((0, 0), 0)])",
    "share": "ns = {}\nexec(run.answer, ns)\nreturn ns['share'](2)",
    "ast": "import ast\ntree = ast.parse(run.answer)\nname = tree.body[0].name\nns = {}\nexec(run.answer, ns)\nreturn float(ns[name](2, 3) == 5)",
}  # fmt: skip
ANSWERS = {
    'syntax': 'def add(a, b:\n',
    'raises': "raise ValueError('no')\n",
    'missing': 'def sub(a, b): return a - b\n',
    'type': 'def add(a, b): return None\nclass Stack: push = pop = 3\ndef share(n): return [n]\n',
    'loop': 'while True: pass\n',
    'exit': 'import sys\nsys.exit(0)\n',
    'empty': '',
    'huge': "print('x' * 10**8)\ndef add(a, b): return 'x' * 10**7\ndef share(n): return 'x' * 10**7\n",
}  # fmt: skip
BROKEN = {
    "own numpy": "import torch_of_nobody\nns = {}\nexec(run.answer, ns)\nreturn float(ns['add'](2, 3) == 5)",
    "own file": "exec(run.answer, {})\nreturn float(open('/data/right.txt').read() == '5')",
    "own program": "import subprocess\nopen('solution.py', 'w').write(run.answer)\nreturn float(subprocess.run(['program_of_nobody', 'solution.py']).returncode == 0)",
    "own module": "ns = {}\nexec(run.answer, ns)\nfrom torch_of_nobody import close\nreturn float(close(ns['add'](2, 3), 5))",
}  # fmt: skip
ADD = "def add(a, b): return a + b\n"


async def scored(body: str, answer: str) -> RunResult:
    """An answer that only the scorer runs."""
    source = "def score(run):\n" + textwrap.indent(body, "    ")
    scoring = {"type": "python", "run_candidate": False, "source": source, "scorer_timeout_seconds": 2}
    (scenario,) = load_scenarios([{"id": "one", "candidate": answer, "scoring": scoring}]).scenarios
    return await score_scenario(scenario, sandboxes=SandboxSource(), base_spec=SandboxSpec(), timeout_seconds=60)


@pytest.mark.parametrize("name", SCORERS)
async def test_a_wrong_answer_that_is_run_scores_0(name: str) -> None:
    """Whatever it does while it is executed or imported, and whatever it lacks."""
    results = await asyncio.gather(*(scored(SCORERS[name], answer) for answer in ANSWERS.values()))
    found = {each: (one.score, one.validity, one.detail) for each, one in zip(ANSWERS, results, strict=True)}
    assert not {each: one for each, one in found.items() if one[:2] != (0.0, Validity.VALID)}


@pytest.mark.parametrize("name", BROKEN)
async def test_what_no_answer_can_bring_breaks_the_scorer(name: str) -> None:
    """A module, a file or a program of the image that is not there."""
    result = await scored(BROKEN[name], "def sub(a, b): return a - b\n" if name == "own numpy" else ADD)
    assert (result.score, result.validity) == (None, Validity.INVALID), result.detail


@pytest.mark.parametrize("name", ["attr", "pathlib", "modules", "from", "module"])
async def test_a_right_answer_that_is_imported_is_paid(name: str) -> None:
    """The module that the scorer makes of it has what it asks for."""
    result = await scored(SCORERS[name], ADD)
    assert result.score == 1.0, result.detail
