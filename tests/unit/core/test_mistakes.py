"""What pydantic refuses, in words."""

from __future__ import annotations

from typing import Any

import pydantic
import pytest

from harena.core.mistakes import given_in, nearest_key, reason_of


class Asked(pydantic.BaseModel):
    """A request."""

    number: int = 0

    @pydantic.field_validator("number", mode="before")
    @classmethod
    def not_seven(cls, value: Any) -> Any:
        """Refuse one value with a message of harena's own."""
        if value == 7:
            raise ValueError("Must not be 7")
        return value


@pytest.mark.parametrize(
    ("value", "reason", "given"),
    [
        (7, "must not be 7", "7"),
        ("x", "input should be a valid integer, unable to parse string as an integer", "'x'"),
        ({"secret": 1}, "input should be a valid integer", "dict"),
        ("x" * 1000, "input should be a valid integer, unable to parse string as an integer", f"'{'x' * 96}..."),
    ],
)
def test_why_a_value_was_refused(value: object, reason: str, given: str) -> None:
    """The sentence goes on behind the field's name; of what was given no more than a line is shown, and no content."""
    with pytest.raises(pydantic.ValidationError) as refused:
        Asked.model_validate({"number": value})
    (details,) = refused.value.errors(include_url=False)
    assert (reason_of(details), given_in(details)) == (reason, given)


def test_a_key_that_was_perhaps_meant() -> None:
    """The nearest one, or all there are."""
    assert nearest_key("nmae", ["name", "config"]) == "did you mean 'name'?"
    assert nearest_key("x", ["name", "config"]) == "valid keys are name, config"
    assert nearest_key("cfg", ["name", "config"], cutoff=0.9) == "valid keys are name, config"
