"""Paths in requests for training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.core.training_sources import MOST_TOLD, check_no_paths, path_version, paths_of, with_versions

REF = {"name": "sums", "version": "1"}
REQUEST: dict[str, Any] = {
    "model": "~/weights",
    "config": {"dataset_ref": "a.jsonl", "eval_dataset_ref": REF, "trajectory_dataset_refs": [REF, "t"], "steps": 3},
}


def test_versions_take_the_place_of_paths() -> None:
    """Of every field that may hold one; all else stays, and the request is not changed."""
    assert [given[:2] for given in paths_of(REQUEST)] == [
        ("model", "model"), ("config.dataset_ref", "dataset"), ("config.trajectory_dataset_refs[1]", "dataset"),
    ]  # fmt: skip
    made = with_versions(REQUEST, {given.where: (given.path.strip("~/"), "v") for given in paths_of(REQUEST)})
    assert made == {
        "model": "weights@v",
        "config": {
            "dataset_ref": {"name": "a.jsonl", "version": "v"},
            "eval_dataset_ref": REF,
            "trajectory_dataset_refs": [REF, {"name": "t", "version": "v"}],
            "steps": 3,
        },
    }
    assert paths_of(made) == []
    assert REQUEST["config"]["dataset_ref"] == "a.jsonl"


@pytest.mark.parametrize("model", ["tiny-llama", "small@1", "acme/small", "", 7, None])
def test_names_of_models_are_no_paths(model: object) -> None:
    """Nor is what has a wrong type: that is said by whoever checks the request."""
    assert paths_of({"model": model, "config": {"trajectory_dataset_refs": "t", "dataset_ref": 7}}) == []
    assert paths_of({"model": model, "config": "none"}) == []


def test_a_server_takes_no_paths() -> None:
    """Each is named."""
    check_no_paths({"model": "small", "config": {"dataset_ref": REF}})
    with pytest.raises(ValidationError) as raised:
        check_no_paths(REQUEST)
    assert [line.split(":")[0] for line in str(raised.value).split("\n  ")[1:]] == [
        "model", "config.dataset_ref", "config.trajectory_dataset_refs[1]",
    ]  # fmt: skip


@pytest.mark.parametrize(("given", "name"), [("rows.jsonl", "rows"), ("a b (2).jsonl", "a-b-2-"), ("å", "data")])
def test_a_path_is_named_by_its_content(tmp_path: Path, given: str, name: str) -> None:
    """The name is for people; the version tells what it is."""
    (tmp_path / given).write_text("{}")
    first = path_version(tmp_path / given)
    assert (first[0], first[1][:7], len(first[1])) == (name, "sha256-", 23)
    (tmp_path / given).write_text("[]")
    assert path_version(tmp_path / given)[1] != first[1]


def test_paths_without_number_are_few_lines() -> None:
    """A refusal names the first of them: a request can hold a million."""
    paths = [f"y{number}" for number in range(100_000)]
    with pytest.raises(ValidationError) as caught:
        check_no_paths({"model": "small", "config": {"trajectory_dataset_refs": paths}})
    assert len(str(caught.value).splitlines()) == MOST_TOLD + 2
    assert len(str(caught.value)) < 10_000
