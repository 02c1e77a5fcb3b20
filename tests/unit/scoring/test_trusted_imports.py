"""What trusted programs import is read once for all candidates, in time that grows with the text."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.scorers import trusted_names
from harena.scoring.scorers.trusted_names import optional_names, taken_names
from harena.scoring.slices import SMALL


def suite(text: str) -> CommandContract:
    return CommandContract(type="command", pytest=("test_it.py",), files={"test_it.py": text})


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The threads in which a program's text was read."""
    found: list[int] = []
    tree = trusted_names.syntax_tree

    def noting(source: str, **options: Any) -> Any:
        found.append(threading.get_ident())
        return tree(source, **options)

    monkeypatch.setattr(trusted_names, "syntax_tree", noting)
    return found


async def test_a_suite_is_read_once_and_in_a_thread(readers: list[int]) -> None:
    """A long one, of which nothing has to be asked of an image."""
    contract = suite("import os\n" * SMALL + "import pytest\n")

    class Here:
        source: Any = object()
        base_spec: Any = None

    for _ in range(3):
        with pytest.raises(AttributeError):  # it would ask the image for pytest, which is read of the text by then
            await taken_names(Here(), contract, contract.files)  # type: ignore[arg-type]
    assert len(readers) == 1
    assert readers[0] != threading.get_ident()


def test_modules_that_a_program_goes_on_without_are_counted_once() -> None:
    """Each of them is imported in its own `try`; a list that is counted for each would take hours."""
    text = "".join(f"try:\n    import m{n}\nexcept ImportError:\n    pass\n" for n in range(20_000)) + "import m7\n"
    names = optional_names(suite(text), suite(text).files)
    assert len(names) == 19_999
    assert "m7" not in names
