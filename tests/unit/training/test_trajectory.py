"""How tokens are drawn, and what is kept of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harena.core.errors import ValidationError
from harena.training.loop.ledger import Ledger
from harena.training.loop.schedule import Admission
from harena.training.rollouts.trajectory import Reward, Sampled, Sampling, StopReason, single_turn


def test_every_mistake_is_named_at_once() -> None:
    with pytest.raises(ValidationError) as caught:
        Sampling(max_new_tokens=0, temperature=-1, top_k=0, top_p=1.5)
    said = str(caught.value)
    assert all(name in said for name in ("max_new_tokens", "temperature", "top_k", "top_p"))
    with pytest.raises(ValidationError, match="temperature"):
        Sampling(temperature=float("nan"))


@pytest.mark.parametrize(
    ("sampling", "truncated"), [(Sampling(), False), (Sampling(top_k=5), True), (Sampling(top_p=0.9), True)]
)
def test_truncation_is_known(sampling: Sampling, truncated: bool) -> None:
    assert sampling.truncated is truncated


def test_what_a_token_was_drawn_among_is_stored_with_it(tmp_path: Path) -> None:
    sampled = Sampled(tokens=(7, 8), logprobs=(-0.5, 0.0), versions=(3, 3), stop=StopReason.LENGTH, kept=((5, 7), (8,)))
    trajectory = single_turn(
        prompt_id="p", sample=0, prompt=(1, 2), sampled=sampled, text="", reward=Reward(value=1.0), seconds={}
    )
    assert trajectory.kept == ((), (), (5, 7), (8,))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.add_admissions([Admission(number=0, prompt=0, version=3)])
    ledger.add_rollout(0, trajectory)
    found = ledger.group(0)
    ledger.close()
    assert found is not None
    assert found[0].trajectories == (trajectory,)
