"""Objects of a candidate's that a suite changes in place, and then compares with each other."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

BANK = """
class Account:
    def __init__(self, owner, balance=0):
        self.owner, self.balance = owner, balance
    def __iadd__(self, amount):
        self.balance += amount
        return self
    def __lt__(self, other):
        return self.balance < other.balance
class Bank:
    def __init__(self):
        self.accounts = {}
    def open(self, owner, balance=0):
        self.accounts[owner] = Account(owner, balance)
    def __getitem__(self, owner):
        return self.accounts[owner]
    def __iter__(self):
        return iter(self.accounts.values())
"""
SUITE = """
from solution import Account, Bank
def test():
    bank = Bank()
    bank.open("a", 1)
    bank.open("b", 3)
    first = bank["a"]
    first += 5
    assert first.balance == 6 and first is bank["a"]
    assert max(bank) is first and sorted(bank)[0].owner == "b"
"""


@pytest.mark.parametrize("isolate", ["auto", "sandbox"])
async def test_what_is_changed_in_place_is_compared(isolate: str) -> None:
    """It stays what it was; before, its order was refused and a right program had the lowest score."""
    assert (await scored(BANK, SUITE, kind="pytest", isolate=isolate)).score == 1.0
    for edit in (("+= amount", "+= 1"), ("balance < other", "balance > other")):
        assert (await scored(BANK.replace(*edit), SUITE, kind="pytest", isolate=isolate)).score == 0.0
