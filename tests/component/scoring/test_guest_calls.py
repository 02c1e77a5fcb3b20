"""Trusted `asserts` that call a candidate in another process: what comes back of a call, and what does not."""

from __future__ import annotations

import base64
import importlib.util
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from harena.scoring.guest import driver as guest_driver
from harena.scoring.scorers.driver_boot import driver_code

DRIVER = {
    "magic": importlib.util.MAGIC_NUMBER.hex(),
    "compiled": base64.b64encode(driver_code()).decode(),
    "source": Path(guest_driver.__file__).read_text(encoding="utf-8"),
}


def proven(where: Path, source: str, candidate: str, driver: Mapping[str, str] = DRIVER) -> bool:
    """The tests reach their end; `f` is the candidate's."""
    (where / "solution.py").write_text(candidate)
    request = {"source": source, "calls": {"f": "f"}, "path": "solution.py", "driver": driver, "modules": []}
    said = subprocess.run(
        [sys.executable, "-c", "from harena.scoring.guest.calls import main; main()"],
        input="word\n" + json.dumps(request),
        cwd=where,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return "harena-proof word" in said.stdout


@pytest.mark.cheap
@pytest.mark.parametrize("kept", ["compiled", "source"])
def test_an_interpreter_takes_the_driver_in_the_form_that_it_can_load(tmp_path: Path, kept: str) -> None:
    """Compiled, where its version has compiled it; from source where another one has."""
    left_out = {"compiled": {"source": "1 +"}, "source": {"magic": "00000000", "compiled": ""}}[kept]
    source = "for x in range(3): assert f(x) == x + 1"
    assert proven(tmp_path, source, "def f(x): return x + 1", {**DRIVER, **left_out})
    assert not proven(tmp_path, source, "def f(x): return x", {**DRIVER, **left_out})


@pytest.mark.cheap
@pytest.mark.parametrize(
    ("source", "candidate"),
    [
        ("xs = [3, 1]\nassert f(xs) == max(xs, default=None)", "def f(xs): xs.clear()"),
        ("d = {'a': 5}\nassert f(d=d) == d.get('a')", "def f(d): d.clear()"),
        ("g = [[1, 2]]\nr = f(g)\nassert r == (g[0][0] if g[0] else None)", "def f(g): g[0].clear()"),
        ("xs = [3, 1]\nif f(xs) != max(xs, default=None): raise ValueError", "def f(xs): xs.clear()"),
        ("assert f(1)", "def f(x): return iter([])"),
        ("r = f(5)\nfor p in (2, 3): assert p in r\nassert 1 not in r", "def f(x): return iter([2, 3, 1][:1 + 2])"),
        ("r = f(4)\nassert [*r] and all(a == 7 for a in r)", "def f(x): return iter([1])"),
        ("assert f(1) != [3]", "def f(x): return iter([3])"),
        ("assert f(1)", "class R:\n    def __iter__(self): return iter([])\ndef f(x): return R()"),
        ("assert list(f(1)) != [3]", "class R:\n    def __iter__(self): return iter([3])\ndef f(x): return R()"),
        ("assert f({}) != [3]", "def f(x): return {1: 3}.values()"),
        (
            "d = f('a')\nassert d['a'] == 1 and d['z'] == 0",
            "import collections\ndef f(s): return collections.Counter(s)",
        ),
        ("assert f(3)[9] == []", "import collections\ndef f(x): return collections.defaultdict(list)"),
        (
            "r = f(1)\nr.append(9)\nassert len(r) == 3",
            "import collections\ndef f(x): return collections.deque('abc', 3)",
        ),
    ],
)
def test_what_comes_back_decides_nothing_by_its_kind(tmp_path: Path, source: str, candidate: str) -> None:
    """A candidate that returns None where its value is used changes none of the tests' arguments, and no iterator,
    mapping of every key or bounded deque comes back to tests that do not speak of one."""
    assert not proven(tmp_path, source, candidate)


@pytest.mark.parametrize(
    ("source", "candidate"),
    [
        ("xs = [3, 1]\nf(xs)\nassert xs == [1, 3]", "def f(xs): xs.sort()"),
        ("xs = [3, 1]\n_ = f(xs)\nassert xs == [1, 3]", "def f(xs): xs.sort()"),
        ("xs = [3, 1]\nassert f(xs) is None\nassert xs == [1, 3]", "def f(xs): xs.sort()"),
        ("for xs in ([3, 1], [2, 1]):\n    f(xs)\n    assert xs == sorted(xs)", "def f(xs): xs.sort()"),
        ("r = f(3)\nassert next(r) == 0 and list(r) == [1, 2]", "def f(x): return iter(range(x))"),
        ("assert list(f(3)) == [0, 1, 2]", "def f(x): yield from range(x)"),
        (
            "r = f(3)\nassert list(r) == [*r] == [0, 1, 2] and sum(r) == 3",
            "class R:\n    def __init__(self, n): self.n = n\n    def __iter__(self): return iter(range(self.n))\n"
            "def f(x): return R(x)",
        ),
        ("assert sorted(f({1: 3})) == [3]", "def f(d): return d.values()"),
        (
            "from collections import Counter\nassert f('aab') == Counter('aab') and f('a')['z'] == 0",
            "from collections import Counter\ndef f(s): return Counter(s)",
        ),
        ("assert f('aab') == {'a': 2, 'b': 1}", "from collections import Counter\ndef f(s): return Counter(s)"),
        (
            "assert f('aab').most_common(1) == [('a', 2)]",
            "from collections import Counter\ndef f(s): return Counter(s)",
        ),
        (
            "from collections import deque\nassert f(2) == deque([0, 1])",
            "from collections import deque\ndef f(n): return deque(range(n), n)",
        ),
    ],
)
def test_honest_answers_come_back(tmp_path: Path, source: str, candidate: str) -> None:
    """As tests expect them that change a list, ask for the next item or count."""
    assert proven(tmp_path, source, candidate)
