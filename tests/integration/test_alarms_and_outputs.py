# ruff: noqa: E501 (programs are text, not code of ours)
"""What a process has of its own, where a suite and its candidate are two: alarms, descriptors, loggers, contexts."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED

LIMITED = "import signal\nclass Late(Exception): pass\ndef limited(f, s):\n    def h(*a): raise Late\n    old = signal.signal(signal.SIGALRM, h)\n    signal.setitimer(signal.ITIMER_REAL, s)\n    try: return f()\n    finally:\n        signal.setitimer(signal.ITIMER_REAL, 0)\n        signal.signal(signal.SIGALRM, old)\ndef spin():\n    while True: pass\n"
OF_ALARMS = "import time, pytest\nfrom solution import Late, limited, spin\ndef test_a(): assert limited(lambda: 5, 1) == 5\ndef test_b():\n    with pytest.raises(Late): limited(lambda: time.sleep(0.3), 0.05)\n    assert limited(lambda: 6, 1) == 6\ndef test_c():\n    with pytest.raises(Late): limited(lambda: spin(), 0.05)\n"
SERVED = {
    "an alarm": (LIMITED, OF_ALARMS),
    "a descriptor": ("import os\ndef f(): os.write(1, b'raw\\n')\n", "from solution import f\ndef test_a(capfd):\n    f()\n    assert capfd.readouterr().out == 'raw\\n'\n    f(); f()\n    assert capfd.readouterr().out == 'raw\\nraw\\n'\n"),
    "a program": ("import subprocess\ndef f(): subprocess.run(['echo', 'hi'])\n", "from solution import f\ndef test_a(capfd):\n    f()\n    assert capfd.readouterr().out == 'hi\\n'\n"),
    "both": ("import os\ndef f():\n    print('a', flush=True)\n    return os.system('echo hi')\n", "from solution import f\ndef test_a(capfd):\n    assert f() == 0\n    assert sorted(capfd.readouterr().out.split()) == ['a', 'hi']\n"),
    "a context of decimals": ("import decimal\ndef f(): return decimal.Context(prec=3)\n", "import decimal\nfrom solution import f\ndef test_a():\n    assert f().divide(decimal.Decimal(1), decimal.Decimal(3)) == decimal.Decimal('0.333') and f().prec == 3\n"),
}  # fmt: skip
WRONG = {
    "an alarm": ("raise Late", "return"), "a descriptor": ("raw", "row"), "a program": ("'hi'", "'ho'"),
    "both": ("print('a', flush=True)", "pass"), "a context of decimals": ("prec=3", "prec=4"),
}  # fmt: skip


@pytest.mark.parametrize("name", SERVED)
async def test_it_is_served(name: str) -> None:
    """And a wrong program has nothing."""
    candidate, suite = SERVED[name]
    found = await scored(candidate, suite, "pytest")
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
    if name != "a context of decimals":
        assert found.trust is Trust.SEPARATE
    wrong = candidate.replace(*WRONG[name])
    found = await scored(wrong, suite, "pytest", timeout_seconds=3)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


UNSERVED = {
    "a logger": ("import logging\ndef f(): return logging.getLogger('zz')\n", "import logging\nfrom solution import f\ndef test_a(): assert f() is logging.getLogger('zz')\n", ("'zz'", "'yy'")),
    "a module": ("import math\ndef f(): return math\n", "import math\nfrom solution import f\ndef test_a(): assert f() is math\n", ("return math", "return __import__('cmath')")),
    "a program of its own": ("print('main') if __name__ == '__main__' else None\n", "import runpy\ndef test_a(capsys):\n    runpy.run_module('solution', run_name='__main__')\n    assert capsys.readouterr().out == 'main\\n'\n", ("'main'", "'other'")),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSERVED)
async def test_who_is_right_has_no_score_where_it_is_not(name: str) -> None:
    """With a gold that is the same, it is paid beside the suite; who is wrong has the lowest score either way."""
    candidate, suite, edit = UNSERVED[name]
    found = await scored(candidate, suite, "pytest")
    expected = (1.0, "valid") if name == "a module" else (None, "invalid")  # a library's own module is had by its name
    assert (found.score, str(found.validity)) == expected, found.detail
    found = await scored(candidate + "x = 1\n", suite, "pytest", gold={"solution.py": candidate})
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
    for gold in ({}, {"gold": {"solution.py": candidate}}):
        found = await scored(candidate.replace(*edit), suite, "pytest", **gold)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (gold, found.detail)


FORGED = {
    "the suite's word": "import os\ndef f():\n    for line in (b'harena-proof ', b'harena-equal ', b'harena-report x {}', b'1 passed'):\n        os.write(1, line + b'\\n')\n    return 4\n",
    "more than there is room for": "import os\ndef f():\n    for _ in range(40): os.write(1, b'x' * 1_000_000)\n    return 4\n",
    "another file there": "import os\ndef f():\n    r, w = os.pipe()\n    os.dup2(w, 1)\n    os.write(1, b'harena-proof\\n')\n    os.close(1)\n    return 4\n",
    "an alarm for ever": "import signal\ndef h(*a): signal.setitimer(signal.ITIMER_REAL, 0.001)\nsignal.signal(signal.SIGALRM, h)\nsignal.setitimer(signal.ITIMER_REAL, 0.001)\ndef f(): return 4\n",
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
async def test_nothing_is_won_by_it(name: str) -> None:
    """A wrong answer stays wrong, and a right one right, whatever is written to the descriptor."""
    for isolate in ("auto", "sandbox", True):
        for expected, score in ((3, 0.0), (4, 1.0)):
            suite = f"from solution import f\ndef test_a(): assert f() == {expected}\n"
            found = await scored(FORGED[name], suite, "pytest", isolate=isolate)
            if score:
                assert found.score in (1.0, 0.0), (isolate, found.detail)
            else:
                assert (found.score, str(found.validity)) == (0.0, "valid"), (isolate, found.detail)
