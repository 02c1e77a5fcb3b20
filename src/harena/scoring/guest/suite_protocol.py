"""What trusted programs and the host say to one another: exit codes, beginnings of lines, and reasons.

The host reads them here, and loads none of the programs that say them.
"""

from __future__ import annotations

NO_MODULE, NO_PYTEST, HAS_TAKEN = 85, 86, 88
"""exit codes: a module that the asserts import is missing; pytest is; something of the asserts was taken"""
TAKES = "the candidate takes "
TOOK = b"harena-took "
"""before the word: all has passed, and the candidate has taken something of the tests"""
EQUAL = b"harena-equal "
"""before the word: all has passed, and there is a class of the candidate's that equals everything"""
BESIDE, ELSEWHERE, NOWHERE = "", "elsewhere", "nowhere"
"""where the candidate of a suite is: in its process, in another sandbox, or there is none"""
BY_MARK = "*"
"""the place of a skip that no code of the suite's has raised: a mark says it"""
EVERY_SKIPPED = "every test is skipped"
ONLY_GOLD = ", and only a gold solution can tell that a right one does"
NOTHING = "the test code came to its end and executed no assertion"
COMPARES_NOTHING = "compares nothing: what the candidate gave has no elements, and what is expected has some"
