"""What an audit tries beside a calibration, and what it says of a problem: nothing is run here.

A calibration asks whether a right answer passes and nothing else does. An audit asks besides whether the statement
gives the answers away (`visible`, `given_away`), whether the tests depend on their order (`orders`), whether another
problem is this one again (`likeness`), and says for each fault how grave it is and what to do (`findings`).
"""

from __future__ import annotations

from harena.scoring.audit.findings import findings
from harena.scoring.audit.given_away import given_away, holds_solution
from harena.scoring.audit.likeness import like_problems, renamed
from harena.scoring.audit.orders import Reordered, in_another_order
from harena.scoring.audit.visible import lookups

__all__ = [
    "Reordered",
    "findings",
    "given_away",
    "holds_solution",
    "in_another_order",
    "like_problems",
    "lookups",
    "renamed",
]
