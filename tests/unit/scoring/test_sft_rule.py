"""Rules: what may be asked for, and what is said where it may not."""

from __future__ import annotations

from typing import Any

import pytest
from sft_candidates import a_rule

from harena.core.errors import ValidationError
from harena.scoring.verified_data.rule import checked_rule, refuse


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"form": "chta"}, "form: 'chta' is not known; did you mean 'chat'?"),
        ({"form": 3}, "form: 3 is not known; there are chat, prompt-completion, preference, preference-chat"),
        ({"keep": "best"}, "did you mean 'best-of-n'?"),
        ({"dedupe": ["exact"]}, "dedupe: ['exact'] is not known"),
        ({"completion": "codes"}, "did you mean 'code'?"),
        ({"max_per_problem": 0}, "max_per_problem: must be a whole number from 1 to 1000000 (got 0)"),
        ({"max_per_problem": True}, "(got True)"),
        ({"form": "preference", "max_pairs": 1.5}, "max_pairs: must be a whole number"),
        ({"max_pairs": 1}, "max_pairs: is for pairs, and the form is 'chat'"),
        ({"min_score": 0}, "min_score: must be a score above 0, at most 1 (got 0)"),
        ({"min_score": float("nan")}, "min_score: must be"),
        ({"min_score": "1"}, "min_score: must be"),
        ({"keep": "random", "seed": "x"}, "seed: must be a whole number (got 'x')"),
        ({"seed": 1}, "seed: is for keep 'random', and keep is 'all'"),
        ({"system": " "}, "system: must be text that is not empty"),
        ({"system": "\ud800"}, "system: cannot be written as UTF-8"),
        ({"system": "x", "form": "preference"}, "system: is for conversations, and the form is 'preference'"),
    ],
)
def test_each_mistake_is_one_sentence(fields: dict[str, Any], says: str) -> None:
    """With the field, what was given, and what would be right."""
    _, (mistake,) = checked_rule(fields)
    assert says in mistake


def test_all_mistakes_are_told_at_once() -> None:
    """In one error."""
    _, mistakes = checked_rule({"form": "x", "keep": "y", "min_score": 2})
    with pytest.raises(ValidationError, match="nothing was run") as caught:
        refuse(mistakes)
    assert [line.split(":")[0].strip() for line in str(caught.value).splitlines()[1:]] == ["form", "keep", "min_score"]
    refuse([])


def test_only_all_is_without_a_limit_of_its_own() -> None:
    """Every other order is there to take its first."""
    assert a_rule().limit is None
    assert a_rule(keep="shortest").limit == 1
    assert a_rule(keep="shortest", max_per_problem=3).limit == 3
    assert a_rule(max_per_problem=3).limit == 3
