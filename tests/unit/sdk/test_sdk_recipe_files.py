"""Files beside a recipe, which may be somebody else's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harena.core.blueprint_recipes import RecipeFile, read_recipe
from harena.core.errors import ValidationError
from harena.sdk import blueprint_builds


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """Its folder, in which links lead here and there."""
    folder = tmp_path / "recipe"
    folder.mkdir()
    (tmp_path / "private").write_text("secret")
    (folder / "own").write_text("own")
    (folder / "to_own").symlink_to("own")
    (folder / "out").symlink_to("../private")
    (folder / "above").symlink_to("..")
    (folder / "circle").symlink_to("circle")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    return folder


def test_links_lead_to_files_of_the_recipe(recipe: Path) -> None:
    for source in ("own", "to_own"):
        assert blueprint_builds._content(recipe, RecipeFile(source=source)) == b"own"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("out", "out is a link that leads out of the recipe's folder"),
        ("above/private", "above/private is a link that leads out"),
        ("circle", "circle cannot be read"),
        ("missing", "missing cannot be read: No such file"),
        ("folder", "folder is no file"),
        ("fifo", "fifo is no file"),
    ],
)
def test_nothing_else_is_read(recipe: Path, source: str, said: str) -> None:
    """Not for its files, and not for its locks, of which an error shows a line."""
    with pytest.raises(ValidationError, match=f"^{said}"):
        blueprint_builds._content(recipe, RecipeFile(source=source))
    asked = read_recipe({"name": "x", "base": "debian:12", "packages": {"pip": source}})
    with pytest.raises(ValidationError, match=f"^{source} (is|cannot)"):
        blueprint_builds._check_files(asked, recipe)
