"""Hand-made rows of the data sets that harena reads, and how tests put them into files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harena.scoring.formats import import_scenarios
from harena.scoring.reading import ScenarioFileError
from harena.scoring.scenario import Scenario

HUMANEVAL: dict[str, Any] = {
    "task_id": "HumanEval/900",
    "prompt": 'def double(x):\n    """Twice x."""\n',
    "canonical_solution": "    return x * 2\n",
    "test": (
        "\n\nMETADATA = {'author': 'us'}\n\n\ndef check(candidate):\n"
        "    # easy\n    assert candidate(2) == 4\n    assert candidate([1]) == [1, 1], 'lists'\n    assert True\n"
    ),
    "entry_point": "double",
}

HUMANEVAL_PLUS_TEST: dict[str, Any] = {
    **HUMANEVAL,
    "test": (
        "import numpy as np\n\ndef is_floats(x):\n    return isinstance(x, float)\n\n"
        "def assertion(out, exp, atol):\n    exact_match = out == exp\n    assert exact_match\n\n"
        "def check(candidate):\n    inputs = [[2], [0.1], ['a']]\n    results = [4, 0.2, 'aa']\n"
        "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n        assertion(candidate(*inp), exp, 0)\n"
    ),
}

EVALPLUS: dict[str, Any] = {
    "task_id": "HumanEval/900",
    "prompt": HUMANEVAL["prompt"],
    "canonical_solution": HUMANEVAL["canonical_solution"],
    "entry_point": "double",
    "contract": "    assert type(x) == int\n",
    "base_input": [[2], [0]],
    "plus_input": [[0.1], [[1]]],
    "atol": 0,
}

MBPP: dict[str, Any] = {
    "task_id": 902,
    "text": "Write a function to find the shared elements of two tuples.",
    "code": "def shared(a, b):\n    return tuple(set(a) & set(b))\n",
    "test_list": [
        "assert set(shared((3, 4), (4, 5))) == set((4,))",
        "assert shared((1,), (2,)) == ()",
    ],
    "test_setup_code": "",
    "challenge_test_list": ["assert shared((), ()) == ()"],
}

MBPP_SANITISED: dict[str, Any] = {
    "source_file": "some.ipynb",
    "task_id": 903,
    "prompt": "Write a function to add.",
    "code": "def add(a, b):\n    return a + b\n",
    "test_imports": ["import math"],
    "test_list": ["assert math.isclose(add(0.1, 0.2), 0.3, rel_tol=1e-6)"],
}

MBPP_FUSION: dict[str, Any] = {
    "id": 904,
    "content": "Write a function to add.",
    "canonical_solution": MBPP_SANITISED["code"],
    "test_list": ["assert add(1, 2) == 3"],
    "labels": '{"test_setup_code": "import math", "challenge_test_list": []}',
}


def written(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Rows as JSONL (also gzipped) or JSON, by the name's ending."""
    listed = list(rows)
    text = json.dumps(listed) if ".json" in path.suffixes else "".join(json.dumps(row) + "\n" for row in listed)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def only(source: Any, **options: Any) -> Scenario:
    """The one scenario of a source."""
    batch = import_scenarios(source, **options)
    assert len(batch) == 1
    return batch.scenarios[0]


def mistakes_of(source: Any, **options: Any) -> list[tuple[int | None, str, str]]:
    """(line, field, message) of every mistake."""
    with pytest.raises(ScenarioFileError) as refusal:
        import_scenarios(source, **options)
    return [(mistake.line, mistake.field, mistake.message) for mistake in refusal.value.mistakes]
