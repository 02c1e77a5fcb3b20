"""Names that a contract or a candidate brings in great number cost no more than each of them does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from harena.scoring import ScenarioFileError, load_scenarios
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.contracts.judge import MAX_LABEL, MOST_LABELS, LabelModelContract
from harena.scoring.contracts.patterns import compiled
from harena.scoring.guest.module_names import module_name
from harena.scoring.scorers import trusted_suite, weak_lines
from harena.scoring.scorers.trusted_suite import files_on_both_sides, named_files


def contract(**fields: Any) -> CommandContract:
    return CommandContract.model_validate({"type": "command", **fields})


class _Counted(list[str]):
    """Paths that count how often somebody goes through all of them."""

    times = 0

    def __iter__(self) -> Iterator[str]:
        self.times += 1
        return super().__iter__()


def test_shared_modules_are_gone_through_once_however_many_folders_have_tests() -> None:
    tests = [f"t{number}/test_it.py" for number in range(50)]
    shared = _Counted([f"t{number}/node.py" for number in range(49)] + ["t1/a/tree.py", "node.py", "t49/rope.py"])
    made = contract(unittest=tests, files=dict.fromkeys([*tests, *shared, "t49/__init__.py"], ""))
    before = shared.times
    found = named_files(made, shared)
    assert shared.times - before <= 2
    assert found.keys() == {*shared, "a/tree.py"}
    deep = contract(pytest=["a/test_it.py", "a/b/test_it.py"], files=dict.fromkeys(["a/b/c.py"], "x = 1"))
    assert named_files(deep, ["a/b/c.py"]).keys() == {"a/b/c.py", "b/c.py", "c.py"}


def test_modules_that_import_each_other_are_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each that is found imports another one."""
    asked: list[str] = []

    def named(path: str, real: Any = module_name) -> Any:
        asked.append(path)
        return real(path)

    monkeypatch.setattr(trusted_suite, "module_name", named)
    chain = {f"m{number}.py": f"import m{number + 1}\nx = {{1: 2}}" for number in range(200)}
    files = {"test_a.py": "", "other.py": "x = {1: 2}", **chain}
    assert files_on_both_sides(contract(unittest=["test_a.py"], files=files, gold="import m0")) == sorted(chain)
    assert len(asked) == len(chain) + 1


def test_a_suite_of_missing_files_is_told_in_few_words() -> None:
    """Each mistake quoted the names of all files that are there, and there was one for each of any number."""
    files = {f"{'x' * 200}{number}.py": "" for number in range(500)}
    scoring = {"type": "command", "pytest": [f"test_{number}.py" for number in range(3000)], "files": files}
    with pytest.raises(ScenarioFileError) as raised:
        load_scenarios([{"id": "a", "candidate": "", "scoring": scoring}])
    assert len(raised.value.mistakes) <= 1001
    assert max(len(each.message) for each in raised.value.mistakes) < 3000
    assert ", ..." in raised.value.mistakes[0].message


def test_few_of_a_candidates_names_are_looked_for_in_a_commands_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is looked for at each place of a text, by one expression, which no other thread can interrupt."""
    sizes: list[int] = []

    def measured(pattern: str) -> re.Pattern[str]:
        sizes.append(len(pattern))
        return compiled(pattern)

    monkeypatch.setattr(weak_lines, "compiled", measured)
    names = ["solution.py", *(f"{number}{'/x' * 200}.py" for number in range(1000)), *(f"{n}.py" for n in range(1000))]
    text = "read w\npython check.py && echo harena-proof $w"
    (sentence,) = weak_lines.weak_lines(["sh", "-c", text], {"check.py": "import solution"}, names)
    assert sentence.startswith("line 2 of the command runs the candidate")
    assert max(sizes) < 100 * 2 * 256


def test_large_expressions_are_not_kept() -> None:
    """`re` keeps hundreds, whatever their size."""
    large = "|".join(f"name{number}" for number in range(1000))
    assert compiled(large).search("a name500 b")
    assert compiled("(?m)^b").search("a\nb")
    assert large not in {key[1] for key in getattr(re, "_cache")}  # noqa: B009 (it has no other name)


@pytest.mark.parametrize("field", ["labels", "passing_labels"])
@pytest.mark.parametrize(
    ("labels", "said"),
    [(["a"] * (MOST_LABELS + 1), "at most 100 items"), (["a" * (MAX_LABEL + 1)], "at most 256 characters")],
)
def test_labels_are_bounded(field: str, labels: list[str], said: str) -> None:
    written = {"type": "label_model", "model": "m", "input": [{"role": "user", "content": "{{ sample.output_text }}"}]}
    with pytest.raises(ValueError, match=said):
        LabelModelContract.model_validate({**written, "labels": ["a"], "passing_labels": ["a"], field: labels})
