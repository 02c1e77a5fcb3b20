"""Scenario files: what is read, and how every mistake is told, with its file, line and field."""

from __future__ import annotations

import contextlib
import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from harena.core.results import Reason, RunResult, Trust, Validity
from harena.scoring.contracts.contract import TestsContract
from harena.scoring.explain import MOST_EXPLAINED
from harena.scoring.load import load_scenarios
from harena.scoring.reading import ScenarioFileError, read_yaml
from harena.scoring.scenario import Expected, Scenario

TESTS: dict[str, Any] = {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 1}]}
ROW: dict[str, Any] = {"id": "a", "candidate": "def f(x): return x", "scoring": TESTS}


def written(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def mistakes_of(source: Any) -> list[tuple[int | None, str, str]]:
    with pytest.raises(ScenarioFileError) as refusal:
        load_scenarios(source)
    return [(mistake.line, mistake.field, mistake.message) for mistake in refusal.value.mistakes]


def changed(**fields: Any) -> dict[str, Any]:
    return {**ROW, **fields}


def only(source: Any) -> Scenario:
    batch = load_scenarios(source)
    assert len(batch) == 1
    return batch.scenarios[0]


BATCH = """\
version: 1
problems:
  - id: add
    statement: Add two numbers.
    entry_point: add
    files: {table.txt: "1 2"}
    limits: {memory_mb: 64, pids: 8}
    metadata: {topic: sums}
    scoring:
      type: tests
      checks:
        - {args: [1, 2], expected: 3}
scenarios:
  - id: add/right
    problem: add
    candidate: |
      def add(a, b):
          return a + b
    limits: {memory_mb: 128}
    metadata: {author: us}
    expected: {passed: true}
  - id: add/wrong
    problem: add
    candidate: {files: {main.py: "add = max", more.py: ""}, entry: main.py}
    scoring:
      type: stdio
      cases: [{stdout: "1"}]
"""


@pytest.mark.parametrize("ending", [".yaml", ".yml", ".json"])
def test_one_batch_in_each_format(tmp_path: Path, ending: str) -> None:
    """Problems are shared, and a scenario's own fields come over them."""
    text = json.dumps(yaml.safe_load(BATCH)) if ending == ".json" else BATCH
    right, wrong = load_scenarios(written(tmp_path, f"batch{ending}", text)).scenarios
    assert isinstance(right.scoring, TestsContract)
    assert right.scoring.entry_point == "add"
    assert (right.limits.memory_mb, right.limits.pids) == (128, 8)
    assert right.metadata == {"topic": "sums", "author": "us"}
    assert right.files == {"table.txt": "1 2"}
    assert right.candidate.files == {"solution.py": "def add(a, b):\n    return a + b\n"}
    assert wrong.scoring.trust is Trust.SEPARATE
    assert wrong.candidate.source == "add = max"


def test_jsonl_with_and_without_a_header(tmp_path: Path) -> None:
    """Each line a scenario; the first may hold the problems."""
    header = json.dumps({"version": 1, "problems": [{"id": "p", "scoring": TESTS}]})
    rows = [json.dumps({"id": name, "problem": "p", "candidate": "x"}) for name in "ab"]
    batch = load_scenarios(written(tmp_path, "batch.jsonl", "\n".join([header, *rows, ""])))
    assert [scenario.id for scenario in batch.scenarios] == ["a", "b"]
    assert batch.scenarios[0].scoring is batch.scenarios[1].scoring
    assert len(load_scenarios(written(tmp_path, "bare.ndjson", json.dumps(ROW)))) == 1


@pytest.mark.parametrize("name", ["candidate", "candidate_solution", "solution"])
def test_rows_of_other_platforms_are_read(name: str) -> None:
    """A bare list of rows, the candidate under any of its names."""
    scenario = only([{"scenario_id": "a", name: "x = 1", "scoring_contract": TESTS}])
    assert (scenario.id, scenario.candidate.source) == ("a", "x = 1")


def test_a_problem_may_be_written_inside_its_scenario() -> None:
    """Without an id."""
    scenario = only([{"id": "a", "candidate": "x", "problem": {"entry_point": "g", "scoring": {**TESTS}}}])
    assert isinstance(scenario.scoring, TestsContract)
    assert scenario.scoring.entry_point == "f"


def test_yaml_scalars_mean_what_they_look_like(tmp_path: Path) -> None:
    """`yes` is text, 010 is ten, 1e3 is a number, a date is text."""
    text = """\
        - id: a
          candidate: x
          scoring: {type: tests, entry_point: f, checks: [{args: [yes, on, 010, 1e3, 2024-01-01, 1:30, 0x10, true,
            .5, -.inf, .nan, null, 1_000], expected: 1}]}
        """
    scoring = only(written(tmp_path, "a.yaml", text)).scoring
    assert isinstance(scoring, TestsContract)
    args = scoring.checks[0].args
    assert args[:10] == ("yes", "on", 10, 1000.0, "2024-01-01", "1:30", 16, True, 0.5, float("-inf"))
    assert args[10] != args[10]
    assert args[11:] == (None, "1_000")


def test_every_mistake_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    """One reading, all mistakes, each where it stands."""
    path = written(
        tmp_path,
        "batch.yaml",
        """\
        problems:
          - id: p
            scoring: {type: tests, entry_point: f, checks: []}
          - id: q
            entry_point: g
            scoring: {type: tests, checks: [{expected: 1}]}
        scenarios:
          - id: one
            problem: p
            candidate: x
          - id: two
            problem: qq
            candidate: x
          - id: two
            problem: q
            canidate: x
          - id: three
            problem: q
            candidate: x
            limits:
              memory_mb: "64"
            expected: {passed: true, reason: tiemout}
        """,
    )
    found = [(line, field) for line, field, _ in mistakes_of(path)]
    assert found == [
        (3, "problems[0].scoring.checks"),
        (12, "scenarios[1].problem"),
        (14, "scenarios[2].candidate"),
        (14, "scenarios[2].id"),
        (16, "scenarios[2].canidate"),
        (21, "scenarios[3].limits.memory_mb"),
        (22, "scenarios[3].expected.reason"),
    ]
    with pytest.raises(ScenarioFileError, match=r"7 mistakes .* nothing was run") as refusal:
        load_scenarios(path)
    assert f"{path}:16: scenarios[2].canidate: unknown field; did you mean `candidate`?" in str(refusal.value)
    assert "did you mean 'q'?" in str(refusal.value)


COMMAND: dict[str, Any] = {"type": "command", "command": ["true"]}
LONG_NAME, LONG_PATH = "\u00e9" * 128, "dir/" * 255 + "\u00e9" * 3
"""few enough characters, and too many bytes"""


@pytest.mark.parametrize(
    ("row", "field", "message"),
    [
        (changed(id=""), "[0].id", "must not be empty"),
        (changed(id=3), "[0].id", "must be text"),
        (changed(candidate=3), "[0].candidate", "must be text (the program) or a mapping with `files`, not 3"),
        (changed(candidate=None), "[0].candidate", "must be text (the program) or a mapping with `files`, not None"),
        (changed(candidate={"files": {"a.py": "x"}, "entri": "x"}), "[0].candidate.entri", "did you mean `entry`?"),
        (changed(candidate={"files": {"a.py": 3}}), '[0].candidate.files["a.py"]', "must be text"),
        (changed(candidate={"files": ["x"]}), "[0].candidate.files", "must be a mapping"),
        (changed(candidate={"files": {"a.py": "x"}, "entry": 3}), "[0].candidate.entry", "must be text"),
        (changed(scoring={**COMMAND, "files": {LONG_NAME: ""}}), f"[0].scoring.files.{LONG_NAME}", "at most 255 bytes"),
        (changed(scoring={**COMMAND, "files": {LONG_PATH: ""}}), f'[0].scoring.files["{LONG_PATH}"]', "a path 1024"),
        (changed(scoring={**COMMAND, "files": {"/x": ""}}), '[0].scoring.files["/x"]', "relative path"),
        (
            changed(scoring={**COMMAND, "files": {"a.txt": "", "a.txt/b": ""}}),
            "[0].scoring.files",
            "cannot also hold",
        ),
        (changed(solution="y"), "[0].solution", "another name"),
        (changed(scoring={"type": "vibes"}), "[0].scoring.type", "must be one of"),
        (changed(scoring={}), "[0].scoring.type", "is required"),
        (changed(scoring={**TESTS, "checks": [{"args": [1]}]}), "[0].scoring.checks[0]", "is required"),
        (changed(scoring={**TESTS, "checks": [{"expected": 1, "raises": "E"}]}), "[0].scoring.checks[0]", "either"),
        (
            changed(scoring={**TESTS, "checks": [{"expected": {"$set": 1}}]}),
            "[0].scoring.checks[0].expected",
            "list of",
        ),
        (changed(scoring={**TESTS, "checks": [{"expected": 1, "weight": 0}]}), "[0].scoring", "at least one weight"),
        (
            changed(scoring={**TESTS, "entry_point": "f()"}),
            "[0].scoring.entry_point",
            "as `function` or `Class.method`, not 'f()'",
        ),
        (changed(scoring={**TESTS, "comparison": "close"}), "[0].scoring.comparison", "must be one of"),
        (changed(scoring={**TESTS, "timeout_seconds": 0}), "[0].scoring.timeout_seconds", "more than 0"),
        (changed(scoring={**TESTS, "timeout_seconds": float("inf")}), "[0].scoring.timeout_seconds", "finite"),
        (changed(scoring={"type": "tests", "checks": TESTS["checks"]}), "[0].scoring", "`entry_point` is required"),
        (changed(scoring={"type": "stdio", "cases": [{"stdin": "x"}]}), "[0].scoring.cases[0].stdout", "is required"),
        (changed(scoring={"type": "command"}), "[0].scoring", "exactly one"),
        (changed(scoring={"type": "numeric"}), "[0].scoring", "exactly one"),
        (changed(scoring={"type": "numeric", "range": [1, 1]}), "[0].scoring", "must differ"),
        (
            changed(scoring={"type": "numeric", "target": 1, "source": {"patern": "x"}}),
            "[0].scoring.source.patern",
            "`pattern`",
        ),
        (
            changed(scoring={"type": "numeric", "target": 1, "source": {"pattern": "("}}),
            "[0].scoring.source",
            "regular expression",
        ),
        (changed(limits={"pids": 0}), "[0].limits.pids", "at least 4, not 0"),
        (changed(limits={"pids": 5_000_000}), "[0].limits.pids", "at most 4194304, not 5000000"),
        (changed(limits={"memory_mb": 15}), "[0].limits.memory_mb", "at least 16, not 15 (in less, an interpreter"),
        (changed(limits={"memory_mb": 10**30}), "[0].limits.memory_mb", "at most 1099511627776"),
        (changed(limits={"open_files": 10}), "[0].limits.open_files", "at least 64"),
        (changed(id="a\nb"), "[0].id", "must be printable"),
        (changed(limits={"cpu": -1}), "[0].limits.cpu", "more than 0.001, not -1"),
        (changed(limits={"timeout_seconds": 86_401}), "[0].limits.timeout_seconds", "at most 86400"),
        (changed(scoring={**TESTS, "check_timeout_seconds": -1}), "[0].scoring.check_timeout_seconds", "more than 0"),
        ({key: ROW[key] for key in ("candidate", "scoring")}, "[0].id", "is required"),
        (changed(id="\ud800"), "[0].id", "lone surrogate"),
        (changed(metadata={"a": ["\ud800"]}), "[0].metadata", "lone surrogate"),
        (changed(scoring={"type": "command", "command": "x", "env": {"A": 1}}), "[0].scoring.env.A", "must be text"),
        (
            changed(scoring={"type": "command", "command": "x", "files": {"command": 1}}),
            "[0].scoring.files.command",
            "must be text",
        ),
        (changed(problem={"scoring": {"type": "tests"}}), "[0].problem.scoring.checks", "is required"),
        (changed(scoring={"type": "numeric", "range": [1]}), "[0].scoring.range[1]", "is required"),
        (changed(scoring={"type": "numeric", "range": [1, 2, 3]}), "[0].scoring.range", "more than the 2 allowed"),
        (changed(scoring={**TESTS, "setup": "def"}), "[0].scoring.setup", "is not Python 3"),
        (changed(scoring={**TESTS, "setup": "a\n\0"}), "[0].scoring.setup", "is not Python 3"),
        (changed(scoring={**TESTS, "setup": "(" * 10_000}), "[0].scoring.setup", "is not Python 3"),
        (
            changed(scoring={**TESTS, "checks": [{"raises": "a b"}]}),
            "[0].scoring.checks[0].raises",
            "name of an exception class alone",
        ),
        (changed(scoring={"type": "python", "source": "def score("}), "[0].scoring.source", "line 1 of it"),
        (changed(scoring={"type": "python", "source": "def scor(run): pass"}), "[0].scoring.source", "no function"),
        (
            changed(scoring={"type": "command", "command": "x", "files": {"t.py": "1 +"}}),
            "[0].scoring.files",
            "'t.py' is not Python 3",
        ),
        (
            changed(scoring={"type": "command", "pytest": ["../t.py::test"], "files": {"t.py": ""}}),
            "[0].scoring.pytest[0]",
            "'../t.py' is not among the trusted `files`: t.py",
        ),
        (changed(expected={"passed": True, "reason": "wrong_answer"}), "[0].expected", "'wrong_answer'"),
        (changed(expected={"passed": False, "reason": "passed"}), "[0].expected", "does not pass"),
        (changed(expected={"passed": False, "score": 2.0}), "[0].expected.score", "at most 1, not 2.0"),
        (changed(limits={"memory": 5}), "[0].limits.memory", "`memory_mb`"),
        (changed(problem="p"), "[0].problem", "no problem has the id 'p'"),
        (changed(problem={"language": "perl"}), "[0].problem.language", "'python'"),
        ({"id": "a", "candidate": "x"}, "[0]", "`scoring` is required"),
        ("x", "[0]", "must be a mapping"),
        (changed(metadata=3), "[0].metadata", "must be a mapping"),
    ],
)
def test_each_mistake_in_a_row(row: Any, field: str, message: str) -> None:
    """Named by its field, with what to do."""
    found = mistakes_of([row])
    assert [(where, message in what) for _, where, what in found] == [(field, True)], found


@pytest.mark.parametrize(
    ("name", "text", "line", "message"),
    [
        ("a.yaml", "", None, "there are no scenarios"),
        ("a.yaml", "[]", 1, "there are no scenarios"),
        ("a.yaml", "scenarios:\n  - {", 3, "not YAML"),
        ("a.yaml", "a: &x [*x]\n", 1, "unknown field"),
        ("a.json", '{"scenarios": [}', 1, "not JSON"),
        ("a.json", '{"version": 2, "scenarios": []}', 1, "version 1"),
        ("a.jsonl", '\n{"id": \n', 2, "not JSON"),
        ("a.txt", "[]", None, "ends in"),
        ("a.yaml", "a: !!python/object:os.system x", 1, "not YAML"),
        ("a.json", "[" * 100_000, None, "too deeply"),
        ("a.json", '["NaN",\n NaN]', 2, 'NaN (column 2) is no number of JSON; a value of a check is written {"$float"'),
        ("a.jsonl", '\n{"a": -Infinity}', 2, '{"$float": "-inf"}'),
        ("a.json", "[" + "9" * 5000 + "]", None, "$int"),
        ("a.jsonl", "\n" + "9" * 5000, 2, "$int"),
    ],
)
def test_each_mistake_of_a_whole_file(tmp_path: Path, name: str, text: str, line: int | None, message: str) -> None:
    """Nothing of the file can be read, and it says so."""
    found = mistakes_of(written(tmp_path, name, text))
    assert any(where == line and message in what for where, _, what in found), found


def test_a_missing_file_is_a_mistake(tmp_path: Path) -> None:
    """Not a traceback of the operating system."""
    assert "check the path" in mistakes_of(str(tmp_path / "no.yaml"))[0][2]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.yaml", "- id: a\n  candidate: x\n  id: b\n  scoring: {type: numeric, target: 1}\n", 3),
        ("a.json", '[{"id": "a",\n "candidate": "x",\n "id": "b",\n "scoring": {"type": "numeric", "target": 1}}]', 3),
        ("a.jsonl", '{"id": "a", "id": "b", "candidate": "x", "scoring": {"type": "numeric", "target": 1}}', 1),
    ],
)
def test_a_key_written_twice_is_a_mistake(tmp_path: Path, name: str, text: str, line: int) -> None:
    """The readers would silently take the last one."""
    assert mistakes_of(written(tmp_path, name, text)) == [
        (line, "id", "written twice in one mapping; keep one of them")
    ]


def test_a_candidates_text_is_data(tmp_path: Path) -> None:
    """A lone surrogate refuses nobody's batch, and costs nobody the lines of the file."""
    row = json.dumps({**ROW, "candidate": "\ud800"})
    mistake = only(written(tmp_path, "a.json", f"[{row}]")).candidate.mistake
    assert mistake is not None
    assert mistake[0] is Reason.SYNTAX_ERROR
    found = mistakes_of(written(tmp_path, "b.json", f'[{row},\n {{"id": "b"}}]'))
    assert {line for line, _, _ in found} == {2}


def test_rows_of_jsonl_are_named_by_their_line(tmp_path: Path) -> None:
    """An index among the rows would not be the number of anything that an editor shows."""
    header = json.dumps({"problems": [{"id": "p", "scoring": TESTS}]})
    text = f'{header}\n\nno\n{{"candidate": "x", "problem": "p"}}'
    assert [(line, field) for line, field, _ in mistakes_of(written(tmp_path, "a.jsonl", text))] == [
        (3, ""),
        (4, "id"),
    ]


@pytest.mark.parametrize(
    "source",
    ["score = len", "from judge import score", "from judge import *", "if 1:\n    def score(run): return 1"],
)
def test_a_scorer_may_be_bound_in_any_way(source: str) -> None:
    """What could define `score` is not refused, and nothing is executed to find out."""
    assert only([changed(scoring={"type": "python", "source": f"{source}\nraise SystemExit"})]).id == "a"


def test_test_files_may_be_the_problems_and_options_are_no_files() -> None:
    """Only what names a file is looked for."""
    scoring = {"type": "command", "pytest": ["./tests/t.py::test", "-k", "a/b"]}
    assert only([{"id": "a", "candidate": "x", "problem": {"scoring": scoring, "files": {"tests/t.py": ""}}}])


def test_aliases_cannot_blow_up(tmp_path: Path) -> None:
    """A few hundred bytes that stand for billions of values are refused before they are made."""
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert "aliases" in mistakes_of(written(tmp_path, "bomb.yaml", "\n".join(lines)))[0][2]


def test_many_rows_are_read_quickly_and_share_their_contract(tmp_path: Path) -> None:
    """Ten thousand rows hold one contract between them."""
    rows = [{"id": str(n), "problem": "p", "candidate": "x"} for n in range(10_000)]
    header = {"problems": [{"id": "p", "entry_point": "g", "scoring": {"type": "tests", "checks": TESTS["checks"]}}]}
    batch = load_scenarios(written(tmp_path, "many.jsonl", "\n".join(map(json.dumps, [header, *rows]))))
    assert len({id(scenario.scoring) for scenario in batch.scenarios}) == 1


def result(**fields: Any) -> RunResult:
    given = {
        "score": 0.0,
        "passed": False,
        "validity": Validity.VALID,
        "trust": Trust.SEPARATE,
        "reason": Reason.TIMEOUT,
    }
    return RunResult(scenario_id="a", **{**given, **fields})


@pytest.mark.parametrize(
    ("expected", "matches"),
    [
        ({"passed": False}, True),
        ({"passed": True}, False),
        ({"passed": False, "reason": "timeout"}, True),
        ({"passed": False, "reason": ["memory_limit", "timeout"]}, True),
        ({"passed": False, "reason": "exception"}, False),
        ({"passed": False, "score": 0.0}, True),
        ({"passed": False, "score": 0.5}, False),
    ],
)
def test_a_known_verdict_is_compared_as_far_as_it_is_stated(expected: dict[str, Any], matches: bool) -> None:
    """Pass or fail, one reason of several, and the score."""
    assert Expected.model_validate(expected).matches(result()) is matches


def test_no_score_is_no_known_score() -> None:
    """A run that the platform lost does not match a score of 0."""
    expected = Expected.model_validate({"passed": False, "score": 0.0})
    assert not expected.matches(result(score=None, validity=Validity.INFRA))


@pytest.mark.parametrize("wrong_from", [0, 5000])
def test_mistakes_without_number_are_not_all_put_into_words(wrong_from: int) -> None:
    """Of the first items of a list each is told, and that there are more."""
    good = {"stdin": "1", "stdout": "1"}
    cases = [good if number < wrong_from else number for number in range(10_000)]
    row = {"id": "a", "candidate": "x", "scoring": {"type": "stdio", "cases": cases}}
    with pytest.raises(ScenarioFileError) as raised:
        load_scenarios([row])
    told = [mistake.message for mistake in raised.value.mistakes]
    assert len(told) <= MOST_EXPLAINED + 1
    assert told[0].startswith(f"has more than {MOST_EXPLAINED} mistakes")
    assert any("must be a mapping" in message for message in told) is (wrong_from == 0)


def test_a_contract_that_no_image_can_have_is_a_mistake_of_its_row() -> None:
    """The file is refused where it is checked, not only where a job of it would begin."""
    trusted = {"type": "command", "asserts": "assert f(2) == 4"}
    inner = {"type": "weighted", "parts": {"style": {"weight": 1, "scoring": trusted}}}
    problems = [{"id": "p", "image": "debian:12", "scoring": trusted}]
    rows = [
        {"id": "own", "image": "debian:12", "candidate": "x", "scoring": inner},
        {"id": "shared", "problem": "p", "candidate": "x"},
        {"id": "elsewhere", "problem": "p", "candidate": "x", "image": "default"},
        {"id": "other", "problem": "p", "candidate": "x", "scoring": TESTS},
    ]
    told = mistakes_of({"problems": problems, "scenarios": rows})
    assert [field for _, field, _ in told] == ["scenarios[0].scoring", "scenarios[1].scoring"]
    assert "image 'debian:12': part 'style': `command` runs trusted programs" in told[0][2]
    assert "image 'debian:12': `command` runs trusted programs" in told[1][2]


@pytest.mark.parametrize(
    "value",
    [
        "!!timestamp xyz", "!!bool zzz", "!!int []", "!!int {a: b}", "!!float [1]", "!!int {=: 5}", "!!binary []",
        "!!binary a", "!!set [1]", "!!omap {a: 1}", "!!pairs 1", "!!null [a]", "!!str [a]", "!!map 1", "!!seq 1",
        "!!int 0x", "!!int ''", "!!float a", "!!merge x", "!!timestamp 2024-99-99", "!!python/name:os.system x",
        "!!timestamp 2024-01-01T00:00:00+99:99", "!other x",
    ],
)  # fmt: skip
@pytest.mark.parametrize("template", ["a: {}", "- {}", "{{a: {}, b: [{}]}}", "? {}\n: 1"])
def test_tags_that_a_text_writes_itself_are_mistakes_or_values(value: str, template: str) -> None:
    """Their constructors expect what the tag says, and raise whatever they raise."""
    with contextlib.suppress(ScenarioFileError):
        read_yaml(template.format(value, value), "a.yaml")


def test_a_tag_that_does_not_fit_is_told_with_its_line() -> None:
    with pytest.raises(ScenarioFileError, match=r"a.yaml.*2.*what is written is no !!int"):
        read_yaml("a: 1\nb: !!int []\n", "a.yaml")
