"""A `python` scorer that compares an answer with numbers does not pay one that is no number."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

from harena.core.models import SandboxSpec
from harena.core.results import Reason, RunResult, Trust, Validity
from harena.scoring import load_scenarios, score_scenario
from harena.scoring.guest import scorer, scorer_faults, scorer_orders
from harena.scoring.guest_sources import source_of
from sandbox_source import SandboxSource

PAID = {
    "a clamp": ("x = float(run.stdout)\nreturn max(0.0, min(1.0, 1 - abs(x - 3.14) / 3.14))", "nan"),
    "a clamp of one side": ("return min(1, 1 - abs(float(run.stdout) - 3.14))", "nan"),
    "a clamp from above": ("return min(1, max(0, 1 - abs(float(run.stdout) - 3.14)))", "-NaN"),
    "too far off": ("if abs(float(run.stdout) - 3.14) > 0.01:\n    return 0\nreturn 1", "nan"),
    "not more": ("err = abs(float(run.stdout) - 3.14)\nreturn 1.0 if not err > 1e-6 else 0.0", "NaN"),
    "out of bounds": ("x = float(run.stdout)\nif x < 3 or x > 4: return 0\nreturn 1", "nan"),
    "an assert": ("x = float(run.stdout)\nassert not x < 3\nassert not x > 4\nreturn 1", "nan"),
    "the largest": (
        "import json\ngot = json.loads(run.stdout)\nerr = max(abs(a - b) for a, b in zip(got, [1.0, 2.0]))\n"
        "return 1.0 if not err > 1e-6 else 0.0",
        "[NaN, NaN]",
    ),
    "the mean": (
        "import json, statistics\nm = statistics.mean(json.loads(run.stdout))\nreturn max(0, min(1, 1 - abs(m - 2)))",
        "[NaN]",
    ),
    "a median": (
        "import json, statistics\nm = statistics.median(json.loads(run.stdout))\nreturn 0 if abs(m - 2) > 0.1 else 1",
        "[NaN, NaN, 2]",
    ),
    "sorted": (
        "import json\ngot = json.loads(run.stdout)\n"
        "return float(len(got) == 3 and sorted(got) == got and not got[0] < 5)",
        "[NaN, NaN, NaN]",
    ),
    "the method": (
        "import json\ngot = json.loads(run.stdout)\nwas = list(got)\ngot.sort()\n"
        "return 0 if got[0] < 1 or got != was else 1",
        "[NaN, 1]",
    ),
    "a mark": ("import bisect\nreturn bisect.bisect([0.5, 0.8], float(run.stdout)) / 2", "nan"),
    "Decimal": ("from decimal import Decimal\nreturn float(min(1.0, float(Decimal(run.stdout.strip()))))", "NaN"),
    "complex": ("return 0 if abs(complex(run.stdout.strip()) - 3j) > 0.1 else 1", "nan+0j"),
    "of infinities": ("x = float(run.stdout)\nreturn max(0, min(1, 1 - abs(x - 3) / abs(x)))", "1e999"),
    "an operator": ("import operator\nreturn 0 if operator.gt(abs(float(run.stdout) - 3.14), 0.1) else 1", "nan"),
    "a grader": (
        "space = {}\n"
        "exec(compile('def grade(x):\\n    return max(0, min(1, 1 - abs(float(x) - 3)))', 'g.py', 'exec'), space)\n"
        "return space['grade'](run.stdout)",
        "nan",
    ),
    "in a tuple": ("return 0 if (abs(float(run.stdout) - 3.14), 0) > (0.1, 0) else 1", "nan"),
}  # fmt: skip
HONEST = {
    "a clamp": ("x = float(run.stdout)\nreturn max(0.0, min(1.0, 1 - abs(x - 3.14) / 3.14))", "3.14", 1.0),
    "part of a clamp": ("return max(0, min(1, 1 - abs(float(run.stdout) - 4) / 4))", "3", 0.75),
    "NaN is right": ("import math\nreturn 1.0 if math.isnan(float(run.stdout)) else 0.0", "nan", 1.0),
    "unequal to itself": ("x = float(run.stdout)\nreturn 1.0 if x != x else 0.0", "nan", 1.0),
    "NaN for what is missing": (
        "import json, math\ngot = json.loads(run.stdout)\nreturn 0 if abs(got[0] - 1) > 0.1 else math.isnan(got[1])",
        "[1, NaN]",
        1.0,
    ),
    "the word": ("return float(run.stdout.strip() == 'nan')", "nan", 1.0),
    "a name": ("return float(run.stdout.strip() == 'Nan Goldin')", "Nan Goldin", 1.0),
    "elsewhere": ("import json\nreturn float(json.loads(run.stdout)['a'] > 1)", '{"a": 2, "b": NaN}', 1.0),
    "infinity is right": ("return float(float(run.stdout) == float('inf'))", "inf", 1.0),
    "the rest is right": (
        "import json\ngot = json.loads(run.stdout)\n"
        "return sum(abs(a - b) < 0.1 for a, b in zip(got, [1, 2, 3, 4])) / 4",
        "[1, NaN, 3, 4]",
        0.75,
    ),
    "the rest of a clamp": (
        "import json\ngot = json.loads(run.stdout)\n"
        "return sum(max(0, min(1, 1 - abs(a - b))) for a, b in zip(got, [1, 2, 3, 4])) / 4",
        "[1, NaN, 3, 4]",
        0.75,
    ),
    "sorted by the author": (
        "words = sorted(run.stdout.split(), key=len, reverse=True)\nwords.sort(key=str.lower)\n"
        "return float(words == ['a', 'inf', 'Nano'] and max(words, key=len) == 'Nano' and min(words) < 'b')",
        "Nano inf a",
        1.0,
    ),
    "a module": ("import struct\nreturn float(struct.calcsize('d') == 8 and 1 < 2 < 3)", "x", 1.0),
}


async def scored(body: str, text: str) -> RunResult:
    """The verdict on a program that prints a text."""
    scoring = {"type": "python", "source": "def score(run):\n" + textwrap.indent(body, "    ")}
    (scenario,) = load_scenarios([{"id": "one", "candidate": f"print({text!r})", "scoring": scoring}]).scenarios
    return await score_scenario(scenario, sandboxes=SandboxSource(), base_spec=SandboxSpec(), timeout_seconds=60)


@pytest.mark.parametrize("name", PAID)
async def test_no_comparison_with_a_nan_pays(name: str) -> None:
    """However a scorer asks whether a number is too far off: the answer has a valid 0."""
    result = await scored(*PAID[name])
    assert (result.score, result.validity, result.passed) == (0.0, Validity.VALID, False), result.detail
    assert result.reason is Reason.SCORER_REJECTED


@pytest.mark.parametrize("name", HONEST)
async def test_what_rests_on_no_nan_is_paid(name: str) -> None:
    """Whether an answer has one, is one, or only reads so."""
    body, text, score = HONEST[name]
    result = await scored(body, text)
    assert (result.score, result.validity) == (score, Validity.VALID), result.detail
    assert result.trust is Trust.SEPARATE or "struct" in body


def lowest_of(body: str, text: str) -> tuple[float, float | None]:
    """(the score, the lowest of both orders) of a scorer in the interpreter of the tests, which has numpy."""
    request = {
        "source": "def score(run):\n" + textwrap.indent(body, "    "),
        "faults": source_of(scorer_faults),
        "if_paid": source_of(scorer_orders),
        "run": {"stdout": text, "stderr": "", "answer": "", "files": {}, "candidate": {}, "output_files": []},
        "is_idle": False,
        "nonce": "n",
    }
    told = []
    for asked in (request, {**request, "orders": request["if_paid"]}):
        argv = [sys.executable, "-c", source_of(scorer) + "\n\nmain()\n"]
        ended = subprocess.run(argv, input=json.dumps(asked), capture_output=True, text=True, check=True)
        told.append(json.loads(ended.stdout.splitlines()[-1].removeprefix("n ")))
    assert told[0]["may_rest_on_nan"]
    return told[0]["score"], told[1]["lowest"]


@pytest.mark.parametrize(
    ("body", "text", "expected"),
    [
        ("return 0 if (abs(got - want) > 0.1).any() else 1", "[NaN, 2, 3]", (1.0, 0.0)),
        ("return 0 if np.any(np.greater(abs(got - want), 0.1)) else 1", "[NaN, 2, 3]", (1.0, 0.0)),
        ("return max(0, min(1, np.corrcoef(got, want)[0, 1]))", "[1, 1, 1]", (1.0, 0.0)),
        ("return max(0, min(1, 1 - np.mean(abs(got - want))))", "[NaN, 2, 3]", (1.0, 0.0)),
        ("return 0 if np.float32(got.sum()) > 7 else 1", "[NaN, 2, 3]", (1.0, 0.0)),
        ("return float(np.mean(abs(got - want) < 0.1))", "[NaN, 2, 3]", (2 / 3, 2 / 3)),
        ("return float(np.allclose(got, want))", "[1, 2, 3]", (1.0, None)),
    ],
)
def test_numbers_of_numpy(body: str, text: str, expected: tuple[float, float | None]) -> None:
    """A NaN in an array, in a number of its own, and one that a library makes of plain numbers."""
    pytest.importorskip("numpy")
    first = "import json\nimport numpy as np\ngot = np.array(json.loads(run.stdout), dtype=float)\n"
    assert lowest_of(f"{first}want = np.array([1.0, 2.0, 3.0])\n{body}", text) == expected
