"""Which sequences are asked for together, and what becomes of those that are not waited for any more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from fake_engine import FakeEngine

from harena.core.errors import ValidationError
from harena.training.rollouts.rollout import MOST_CALLS, Policy, Seat
from harena.training.rollouts.trajectory import Sampled, SampleRequest, Sampling, StopReason


class Calls(FakeEngine):
    """Keeps each call; sequences end when they are told to."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[tuple[int, ...]]] = []
        self.open: dict[tuple[int, ...], asyncio.Future[Sampled]] = {}

    def sample(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        if any(not request.prompt for request in requests):
            raise ValidationError("there is no prompt")
        self.calls.append([request.key for request in requests])
        futures = [asyncio.get_running_loop().create_future() for _ in requests]
        self.open |= {request.key: future for request, future in zip(requests, futures, strict=True)}
        return futures

    def end(self, *key: int) -> None:
        self.open[key].set_result(Sampled(tokens=(1,), logprobs=(0.0,), versions=(0,), stop=StopReason.STOP))


def asked(*key: int) -> SampleRequest:
    return SampleRequest(prompt=(1,), key=key)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def talk(policy: Policy, number: int, turns: int) -> None:
    with policy.seat() as seat:
        for turn in range(turns):
            await seat.sample(asked(number, turn))


async def test_lockstep_waits_for_every_seat_and_orders_by_key() -> None:
    engine = Calls()
    policy = Policy(engine, Sampling(), lockstep=True)
    tasks = [asyncio.create_task(talk(policy, number, turns=2)) for number in (2, 0, 1)]
    await settled()
    assert engine.calls == [[(0, 0), (1, 0), (2, 0)]]
    engine.end(0, 0)
    engine.end(2, 0)
    await settled()
    assert len(engine.calls) == 1  # the third is still speaking
    engine.end(1, 0)
    await settled()
    assert engine.calls[1:] == [[(0, 1), (1, 1), (2, 1)]]
    for number in range(3):
        engine.end(number, 1)
    await asyncio.gather(*tasks)


async def test_lockstep_does_not_wait_for_who_has_left() -> None:
    engine = Calls()
    policy = Policy(engine, Sampling(), lockstep=True)
    short, long = (asyncio.create_task(talk(policy, number, turns=1 + number)) for number in (0, 1))
    await settled()
    engine.end(1, 0)
    await settled()
    assert len(engine.calls) == 1
    short.cancel()
    await settled()
    assert engine.open[0, 0].cancelled()
    assert engine.calls[1:] == [[(1, 1)]]
    engine.end(1, 1)
    await long


async def test_otherwise_nobody_waits_for_a_straggler_and_later_turns_are_gathered() -> None:
    engine = Calls()
    policy = Policy(engine, Sampling(), lockstep=False)
    tasks = [asyncio.create_task(talk(policy, number, turns=2)) for number in range(8)]
    await settled()
    assert engine.calls == [[(number, 0) for number in range(8)]]
    for number in range(MOST_CALLS - 1):  # each goes on alone while there is room for calls
        engine.end(number, 0)
        await settled()
    assert len(engine.calls) == MOST_CALLS
    for number in (4, 5, 6):
        engine.end(number, 0)
        await settled()
    assert len(engine.calls) == MOST_CALLS
    engine.end(0, 1)
    await settled()
    assert engine.calls[-1] == [(4, 1), (5, 1), (6, 1)]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_what_the_engine_refuses_is_told_to_whoever_asked() -> None:
    policy = Policy(Calls(), Sampling(), lockstep=True)
    with policy.seat() as seat, pytest.raises(ValidationError, match="no prompt"):
        await seat.sample(SampleRequest(prompt=(), key=(0,)))


async def test_a_sequence_that_fails_fails_its_rollout() -> None:
    engine = Calls()
    policy = Policy(engine, Sampling(), lockstep=True)

    async def one(seat: Seat) -> None:
        await seat.sample(asked(0))

    with policy.seat() as seat:
        task = asyncio.create_task(one(seat))
        await settled()
        engine.open[0,].set_exception(RuntimeError("out of memory"))
        with pytest.raises(RuntimeError, match="out of memory"):
            await task
