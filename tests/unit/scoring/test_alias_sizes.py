"""Aliases and merge keys of YAML stand for bounded values, whose texts are counted before they are copied."""

from __future__ import annotations

import tracemalloc

import pytest

from harena.core.models import MIB
from harena.scoring import yaml_nodes
from harena.scoring.codec import MAX_BYTES
from harena.scoring.contracts.carry import carried
from harena.scoring.reading import ScenarioFileError, read_yaml
from harena.scoring.values import NotationError


def test_texts_of_aliases_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is as long as it is at each place that names it; a document itself may be longer than the bound."""
    monkeypatch.setattr(yaml_nodes, "_MOST_EXPANDED_CHARACTERS", 120_000)
    long = "x" * 10_000
    text = f'a: &a "{long}"\nb: &b [*a, *a, *a]\nc: [*b, *b]\n'
    assert len(read_yaml(text, "a.yaml").content["c"][1]) == 3
    with pytest.raises(ScenarioFileError, match=r"its aliases stand for texts of 1[0-9]{5} characters together"):
        read_yaml(text + "d: [*b]\n", "a.yaml")
    assert read_yaml("x" * 200_000, "a.yaml").content == "x" * 200_000


def test_merge_keys_copy_a_bounded_number_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mapping of a chain has all names of those before it."""
    monkeypatch.setattr(yaml_nodes, "MOST_VALUES", 5000)

    def chain(length: int) -> str:
        first = "m0: &m0 {k: 1}\n"
        return first + "".join(f"m{n}: &m{n} {{<<: *m{n - 1}, k{n}: 1}}\n" for n in range(1, length))

    assert len(read_yaml(chain(50), "a.yaml").content["m49"]) == 50
    with pytest.raises(ScenarioFileError, match="copy more than 5000 values"):
        read_yaml(chain(200), "a.yaml")
    fans = "m0: &m0 {k: 1}\n" + "".join(
        f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 10)}]}}\n" for n in range(1, 6)
    )
    with pytest.raises(ScenarioFileError, match="copy more than 5000 values"):
        read_yaml(fans, "a.yaml")


def test_a_value_is_measured_before_it_is_encoded() -> None:
    """One text that is there a thousand times takes its memory once until it is written."""
    value = ["x" * MIB] * 1000
    tracemalloc.start()
    try:
        with pytest.raises(NotationError, match=f"bytes or more, and a value has at most {MAX_BYTES}"):
            carried(value)
        assert tracemalloc.get_traced_memory()[1] < MIB
    finally:
        tracemalloc.stop()
