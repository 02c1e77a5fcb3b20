"""Primitives and what is composed of them: nothing is executed here."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from harena.scoring.battery import Target
from harena.scoring.battery.composition import Composition, PlacedPrimitive, composed, drawn, smaller
from harena.scoring.battery.forgery import ANY, CALLED, JUDGED, SCRIPTS, TEXTS
from harena.scoring.battery.primitives import PRIMITIVES, Kind


def test_every_primitive_has_a_name_of_its_own_and_something_to_do() -> None:
    """And a contract and a place for it."""
    assert [name for name, count in Counter(primitive.name for primitive in PRIMITIVES).items() if count > 1] == []
    for primitive in PRIMITIVES:
        assert primitive.act or primitive.top or primitive.value or primitive.text or primitive.files, primitive.name
        assert primitive.contracts, primitive.name
        assert primitive.places, primitive.name
        assert bool(primitive.value) == (primitive.kind is Kind.VALUE), primitive.name
    assert len(PRIMITIVES) >= 530


@pytest.mark.parametrize("contract", sorted(ANY - SCRIPTS))
def test_every_primitive_is_a_program(contract: str) -> None:
    """Whatever a generator draws can be run."""
    target = Target(contract, ("secret",) if contract in CALLED else (), "solution.py")
    for number, primitive in enumerate(PRIMITIVES):
        if contract in primitive.contracts:
            places = sorted(primitive.places)
            composition = Composition(contract, 0, (PlacedPrimitive(primitive, places[number % len(places)]),))
            ast.parse(composed(composition, target).files["solution.py"])


@pytest.mark.parametrize("contract", sorted(ANY | TEXTS | JUDGED))
def test_a_seed_draws_one_composition(contract: str) -> None:
    """The same one each time, and it can be made smaller until one primitive is left."""
    first, again = drawn(seed=17, contract=contract), drawn(seed=17, contract=contract)
    assert first == again
    while len(first.parts) > 1:
        less = list(smaller(first))
        assert {len(composition.parts) for composition in less} == {len(first.parts) - 1}
        first = less[0]
    assert not list(smaller(first))
