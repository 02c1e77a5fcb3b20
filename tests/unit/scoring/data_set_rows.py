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

APPS: dict[str, Any] = {
    "problem_id": 7,
    "question": "Read a number, print its double.",
    "solutions": json.dumps(["print(int(input()) * 2)\n", "print(2)\n"]),
    "input_output": json.dumps({"inputs": ["2\n", ["3"]], "outputs": ["4\n", ["6"]]}),
    "difficulty": "introductory",
    "url": "https://example.org",
    "starter_code": "",
}

APPS_CALL: dict[str, Any] = {
    "id": 8,
    "question": "Count the words.",
    "solutions": ["def count(words: List[str]):\n    return dict(Counter(words))\n"],
    "input_output": {"fn_name": "count", "inputs": [[["a", "a"]], [[]]], "outputs": [[{"a": 2}], {}]},
    "starter_code": "def count(words):\n",
}

LIVECODEBENCH: dict[str, Any] = {
    "question_title": "Double",
    "question_content": "Print the double.",
    "platform": "atcoder",
    "question_id": "abc_1",
    "contest_id": "abc",
    "contest_date": "2030-01-01T00:00:00",
    "starter_code": "",
    "difficulty": "easy",
    "public_test_cases": json.dumps([{"input": "2\n", "output": "4\n", "testtype": "stdin"}]),
    "private_test_cases": json.dumps([{"input": "3", "output": "6.0", "testtype": "stdin"}]),
    "metadata": "{}",
}

LIVECODEBENCH_CALL: dict[str, Any] = {
    **LIVECODEBENCH,
    "question_id": "lc_2",
    "starter_code": "class Solution:\n    def pair(self, x: int, y: List[int]) -> List[int]:\n",
    "public_test_cases": json.dumps([{"input": "1\n[2, 3]", "output": "[1, 2]", "testtype": "functional"}]),
    "private_test_cases": "",
    "metadata": json.dumps({"func_name": "pair"}),
}

CODECONTESTS: dict[str, Any] = {
    "name": "1_A. Halves",
    "description": "Print the half.",
    "public_tests": {"input": ["1\n"], "output": ["0.5\n"]},
    "private_tests": {"input": ["2\n"], "output": ["1\n"]},
    "generated_tests": {"input": [], "output": []},
    "solutions": {"language": [2, 3], "solution": ["int main() {}", "n = int(input())\nprint(0.5 if n == 1 else 1)\n"]},
    "time_limit": {"seconds": 1, "nanos": 500_000_000},
    "memory_limit_bytes": 256_000_000,
    "input_file": "",
    "output_file": "",
}

COMMONOJ: dict[str, Any] = {
    "id": 11,
    "content": "Say yes.",
    "test": [{"input": {"stdin": ""}, "output": {"stdout": "YES\n"}}],
    "labels": {},
}

VERIFICATION_INFO: dict[str, Any] = {
    "problem_id": "vi_1",
    "prompt": "Print the double.",
    "gold_standard_solution": "Here:\n```python\nprint(int(input()) * 2)\n```\n",
    "verification_info": json.dumps(
        {
            "language": "python",
            "test_cases": [{"input": "2\n", "output": "4\n", "type": "stdin_stdout", "fn_name": None}],
        }
    ),
}

RFT: dict[str, Any] = {
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "6 * 7?"}],
    "reference_answer": "42",
    "level": 1,
}

GRADERS: dict[str, dict[str, Any]] = {
    "string_check": {
        "type": "string_check",
        "name": "exact",
        "input": "{{ sample.output_text }}",
        "reference": "{{ item.reference_answer }}",
        "operation": "ilike",
    },
    "text_similarity": {
        "type": "text_similarity",
        "name": "near",
        "input": "{{ sample.output_text }}",
        "reference": "{{ item.reference_answer }}",
        "evaluation_metric": "fuzzy_match",
        "pass_threshold": 0.8,
    },
    "python": {
        "type": "python",
        "name": "mine",
        "source": (
            "def score(text): return float(len(text) == 2)\n"
            "def grade(sample, item) -> float:\n"
            "    return score(sample['output_text']) * float(item['reference_answer'] in sample['output_text'])\n"
        ),
    },
}
GRADERS["score_model"] = {
    "type": "score_model",
    "name": "judge",
    "model": "judge-1",
    "input": [
        {"role": "system", "content": "Judge."},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "{{ item.reference_answer }}?"},
                {"type": "input_text", "text": "{{ sample.output_text }}"},
            ],
        },
    ],
    "range": [0, 5],
    "sampling_params": {"temperature": 0, "max_completions_tokens": 50},
}
GRADERS["label_model"] = {
    "type": "label_model",
    "name": "label",
    "model": "judge-1",
    "input": [{"role": "user", "content": "{{ sample.output_text }}"}],
    "labels": ["good", "bad"],
    "passing_labels": ["good"],
}
GRADERS["multi"] = {
    "type": "multi",
    "name": "both",
    "graders": {"exact": GRADERS["string_check"], "near": GRADERS["text_similarity"]},
    "calculate_output": "0.7 * exact + 0.3 * near ^ 2",
}

GRADER_REQUEST: dict[str, Any] = {
    "grader": GRADERS["string_check"],
    "item": {"reference_answer": "42"},
    "model_sample": "The answer is 42",
}

HARBOR = {
    "task.toml": (
        'schema_version = "1.1"\n[task]\nname = "us/hello"\n[agent]\ntimeout_sec = 20\n[verifier]\ntimeout_sec = 30\n'
        'env = { WORD = "${NONE:-hello}" }\n[environment]\ncpus = 1\nmemory_mb = 512\nstorage_mb = 1024\n'
    ),
    "instruction.md": "Write hello world into hello.txt.\n",
    "environment/Dockerfile": (
        "FROM python:3.12-slim\n# packages\nRUN apt-get update && apt-get install -y \\\n    curl\n"
        'WORKDIR /app/work\nENV NAME=world PATHS="a b"\nCOPY start.txt given/\nRUN echo prepared > prepared.txt\n'
    ),
    "environment/start.txt": "start\n",
    "tests/test.sh": (
        "#!/bin/bash\n"
        'if [ "$(cat hello.txt)" = "$WORD $NAME" ] && [ -f prepared.txt ] && [ -f given/start.txt ] '
        "&& [ -f /tests/more/data.txt ]; then\n    echo 1\nelse\n    echo 0\nfi > /logs/verifier/reward.txt\n"
    ),
    "tests/more/data.txt": "x\n",
    "solution/solve.sh": "#!/bin/bash\ncat /solution/words/first.txt > hello.txt\necho $NAME >> hello.txt\n",
    "solution/words/first.txt": "hello ",
}


def harbor_task(folder: Path, **changed: str | None) -> Path:
    """A task directory with these files in place of its own; None = without it."""
    for name, text in {**HARBOR, **changed}.items():
        if text is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return folder


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
