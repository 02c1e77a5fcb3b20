"""Which losses there are, and which are refused."""

from __future__ import annotations

from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.training.loop.algorithms import ALGORITHMS, DEFAULT_CLIPS, loss_spec


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_defaults_are_each_algorithms_own(algorithm: Any) -> None:
    spec = loss_spec(algorithm, max_steps_off_policy=0)
    assert (spec.clip_low, spec.clip_high) == DEFAULT_CLIPS[algorithm]
    assert not spec.needs_prox
    assert not spec.needs_reference


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"algorithm": "importance_sampling", "max_steps_off_policy": 2}, "staleness 1"),
        ({"algorithm": "cispo", "clip_low": 0.2}, "clip_low: cispo has no such clip"),
        ({"algorithm": "importance_sampling", "clip_high": 0.2}, "clip_high"),
        ({"algorithm": "grpo", "clip_low": 1.0}, "below 1"),
        ({"algorithm": "grpo", "clip_high": -0.1}, "above 0"),
        ({"algorithm": "gspo", "correction": "decoupled"}, "ppo and grpo"),
        ({"algorithm": "grpo", "correction_cap": 2.0}, "belongs to correction"),
        ({"algorithm": "grpo", "correction": "decoupled", "correction_cap": 0.5}, "at least 1"),
        ({"algorithm": "grpo", "kl_coefficient": -1.0}, "kl_coefficient"),
    ],
)
def test_what_is_none_of_the_formulas(asked: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        loss_spec(**{"max_steps_off_policy": 0, **asked})


def test_every_mistake_is_told() -> None:
    with pytest.raises(ValidationError) as raised:
        loss_spec("gspo", max_steps_off_policy=0, clip_low=2.0, correction="decoupled", kl_coefficient=-1.0)
    assert str(raised.value).count("\n") == 3
