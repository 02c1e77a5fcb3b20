# ruff: noqa: E501 (programs are text, not code of ours)
"""Skips whose conditions a candidate steers without being named in them, and those that nobody steers."""

from __future__ import annotations

import pytest

from harena.scoring.scorers import defined_tests
from harena.scoring.scorers.defined_tests import dependence
from harena.scoring.scorers.stated_excuses import StatedExcuses
from harena.scoring.scorers.suite_syntax import MOST_ROUNDS

HEAD = "import contextlib, datetime, io, os, sys, platform, signal, socket, time, pytest, unittest, urllib.request, requests\nfrom unittest import mock\nimport solution\nfrom solution import D, main, one\n"
CASE = HEAD + "class T(unittest.TestCase):\n    def setUp(self): self.d = D()\n    def test_b(self):\n        "
TEST = HEAD + "@pytest.fixture\ndef d(): return D()\ndef test_b(d, monkeypatch):\n    "
SKIP, PSKIP = "self.skipTest('no')", "pytest.skip('no')"
COUNTER = "class Counter:\n    n = 0\n    def hit(self, v=None): self.n = 1\n"
STEERED = {
    "captured": CASE + f"buf = io.StringIO()\n        with contextlib.redirect_stdout(buf): main()\n        if 'not' in buf.getvalue(): {SKIP}",
    "captured in setUp": CASE.replace("self.d = D()", "\n        self.buf = io.StringIO()\n        with contextlib.redirect_stdout(self.buf): main()") + f"if 'not' in self.buf.getvalue(): {SKIP}",
    "a stream that is replaced": CASE + f"buf = io.StringIO()\n        old, sys.stdout = sys.stdout, buf\n        main()\n        sys.stdout = old\n        if buf.getvalue(): {SKIP}",
    "a stream that is patched": TEST + f"buf = io.StringIO()\n    monkeypatch.setattr(sys, 'stdout', buf)\n    main()\n    if buf.getvalue(): {PSKIP}",
    "the stream itself": CASE + f"main()\n        if sys.stdout.getvalue(): {SKIP}",
    "a clock": CASE + f"start = time.time()\n        one()\n        if time.time() - start > 1: {SKIP}",
    "a clock, kept": TEST + f"start = time.perf_counter()\n    one()\n    took = time.perf_counter() - start\n    if took > 1: {PSKIP}",
    "a date": CASE + f"start = datetime.datetime.now()\n        one()\n        if (datetime.datetime.now() - start).seconds: {SKIP}",
    "a clock in a function": CASE.replace("class T", "def is_late(): return time.monotonic() > 9\nclass T") + f"if is_late(): {SKIP}",
    "a callback's item": CASE + f"state = {{}}\n        def cb(v): state['v'] = v\n        main(cb)\n        if state['v'] == 'no': {SKIP}",
    "a callback's list": CASE + f"seen = []\n        def cb(v): seen.append(v)\n        main(cb)\n        if seen[0] == 'no': {SKIP}",
    "a callback's flag": CASE + f"flag = False\n        def cb(v):\n            nonlocal flag\n            flag = True\n        main(cb)\n        if flag: {SKIP}",
    "a callback's attribute": CASE + f"def cb(v): self.seen = v\n        main(cb)\n        if self.seen == 'no': {SKIP}",
    "a callback's constant": CASE + f"self.seen = 0\n        def cb(v): self.seen = 1\n        main(cb)\n        if self.seen: {SKIP}",
    "a callback of a callback": CASE + f"self.seen = 0\n        def mark(): self.seen = 1\n        main(lambda: mark())\n        if self.seen: {SKIP}",
    "a lambda": CASE + f"main(lambda v: setattr(self, 'seen', v))\n        if self.seen == 'no': {SKIP}",
    "a mock": CASE + f"m = mock.Mock()\n        main(m)\n        if m.called: {SKIP}",
    "a mock in a lambda": CASE + f"m = mock.Mock()\n        main(lambda v: m(v))\n        if m.called: {SKIP}",
    "a collector": CASE.replace("class T", "class Col:\n    def __init__(self): self.items = []\n    def __call__(self, v): self.items.append(v)\nclass T") + f"c = Col()\n        main(c)\n        if c.items: {SKIP}",
    "a counter": CASE.replace("class T", COUNTER + "class T") + f"c = Counter()\n        main(c.hit)\n        if c.n: {SKIP}",
    "a counter of the test": CASE.replace("class T", COUNTER + "class T").replace("self.d = D()", "self.c = Counter()") + f"main(self.c)\n        if self.c.n: {SKIP}",
    "the file's list": CASE.replace("class T", "LOG = []\ndef cb(v): LOG.append(v)\nclass T") + f"if LOG: {SKIP}\n    def test_a(self): main(cb)",
    "a list that goes by another name": CASE.replace("class T", "class Box:\n    def __init__(self, items): self.held = items\n    def put(self, v): self.held.append(v)\nclass T") + f"seen = []\n        main(Box(seen))\n        if seen: {SKIP}",
    "a generator": CASE + f"done = [0]\n        def gen():\n            done[0] = 1\n            yield 1\n        main(gen())\n        if done[0]: {SKIP}",
    "the environment": CASE + f"def cb(v): os.environ['MODE'] = v\n        main(cb)\n        if os.environ.get('MODE'): {SKIP}",
    "the test itself": CASE + f"self.n = 0\n        main(self)\n        if self.n: {SKIP}",
    "a function of the test's": CASE + f"main(self.hit)\n        if self.n: {SKIP}\n    n = 0\n    def hit(self): self.n = 1",
    "a try": CASE + f"seen = []\n        def cb(v): seen.append(v)\n        main(cb)\n        try:\n            seen[0]\n        except IndexError:\n            {SKIP}",
    "a pattern": CASE + f"seen = []\n        def cb(v): seen.append(v)\n        main(cb)\n        match seen:\n            case [1]: {SKIP}",
    "a method in a list": CASE + f"seen = []\n        main([seen.append])\n        if seen: {SKIP}",
    "a method by a name": CASE + f"seen = []\n        put = seen.append\n        main(put)\n        if seen: {SKIP}",
    "an attribute of the candidate's": CASE + f"seen = []\n        self.d.on = seen.append\n        one()\n        if seen: {SKIP}",
    "an item in a list": CASE + f"state = {{'x': []}}\n        main([state['x']])\n        if state['x']: {SKIP}",
    "one of two": CASE + f"a = []\n        b = a or []\n        main(b)\n        if a: {SKIP}",
    "what a function gives": CASE.replace("class T", "SEEN = []\ndef get(): return SEEN\nclass T") + f"main(get())\n        if SEEN: {SKIP}",
    "an item of a loop": CASE + f"xs = [[]]\n        for x in xs: main(x)\n        if xs[0]: {SKIP}",
    "a list of a list": CASE + f"xs = [[]]\n        main(list(xs))\n        if xs[0]: {SKIP}",
    "the test itself, in a list": CASE + f"self.n = 0\n        main([self])\n        if self.n: {SKIP}",
    "a guard": CASE + f"buf = io.StringIO()\n        with contextlib.redirect_stdout(buf): main()\n        match os.name:\n            case 'posix' if buf.getvalue(): {SKIP}",
}  # fmt: skip
NOBODYS = {
    "a cleanup": CASE.replace("self.d = D()", "self.d = D(); self.addCleanup(lambda: os.environ.pop('NET', None))") + f"if os.environ.get('NET') == 'off': {SKIP}",
    "a cleanup by a function": CASE.replace("self.d = D()", "self.d = D(); self.addCleanup(self.back)") + f"if os.environ.get('NET') == 'off': {SKIP}\n    def back(self): os.environ.pop('NET', None)",
    "a network": CASE.replace("class T", "def online():\n    try:\n        socket.create_connection(('example.org', 80), 1).close()\n        return True\n    except OSError:\n        return False\nclass T") + f"if not online(): {SKIP}",
    "a network, here": CASE + f"try:\n            urllib.request.urlopen('http://example.org')\n        except OSError:\n            {SKIP}",
    "a network, kept": CASE.replace("class T", "_online = None\ndef online(host='example.org'):\n    global _online\n    if _online is None:\n        try:\n            requests.get('http://' + host)\n            _online = True\n        except OSError:\n            _online = False\n    return _online\nclass T") + f"if not online(): {SKIP}",
    "a network, in a with": CASE + f"with socket.socket() as s:\n            if s.connect_ex(('localhost', 9)): {SKIP}",
    "a feature": CASE + f"if not hasattr(signal, 'SIGALRM') or not hasattr(os, 'fork'): {SKIP}",
    "a platform, in a function": CASE.replace("class T", "def is_old(least): return sys.version_info < least\nclass T") + f"if is_old((3, 99)): {SKIP}",
    "a platform, by a method": CASE + f"if self.is_there(): {SKIP}\n    def is_there(self): return platform.system() != 'Windows'",
    "a library": CASE + f"try:\n            import numpy\n        except ImportError:\n            {SKIP}",
    "a library's own word": "import numpy as np\n" + CASE + f"if not np.show_config(): {SKIP}",
    "the test's own name": CASE + f"if self._testMethodName in ('test_b',) or self.id().endswith('b'): {SKIP}",
    "a table": CASE.replace("class T", "SLOW = {'test_b': sys.platform}\nclass T") + f"if SLOW.get('test_b') == 'linux': {SKIP}",
    "a callback that keeps something else": CASE + f"seen = []\n        main(seen.append)\n        level = os.environ.get('LEVEL', '0')\n        if int(level) < 3: {SKIP}",
}  # fmt: skip


def _kinds(text: str) -> list[str]:
    return list(
        dependence({"test_it.py": text + "\n"}, {"pytest", "numpy", "requests"}, is_beside=False).skips.values()
    )


@pytest.mark.parametrize("name", STEERED)
def test_a_skip_that_a_candidate_may_steer_is_its_own_doing(name: str) -> None:
    """It is decided by runs without a candidate; before, it gave no score."""
    assert not _kinds(STEERED[name])


@pytest.mark.parametrize("name", NOBODYS)
def test_a_skip_that_nobody_steers_costs_nobody_the_score(name: str) -> None:
    """It is stated, or it gives no score."""
    assert _kinds(NOBODYS[name]) in (["own"], ["unknown"], ["always"])


CHAINS = {
    "names": ("a{0} = a{1}\n", "a{0} = one()\n", "a0"),
    "functions": ("def f{0}(): return f{1}()\n", "def f{0}(): return one()\n", "f0()"),
    "functions, the other way round": ("def f{1}(): return f{0}()\n", "def f0(): return one()\n", "f{0}()"),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_of_names_takes_few_rounds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each link against the order of the text took another round through all of it: a minute for 2,000 functions. What
    is not found in a few rounds is the candidate's."""
    link, end, first = CHAINS[name]
    length, steps = 300, []
    text = "".join(link.format(each, each + 1) for each in range(length)) + end.format(length)
    plain = StatedExcuses._add_theirs
    monkeypatch.setattr(StatedExcuses, "_add_theirs", lambda file: (steps.append(None), plain(file)))
    followed = defined_tests._File._follow
    monkeypatch.setattr(defined_tests._File, "_follow", lambda file, node: (steps.append(None), followed(file, node)))
    assert not _kinds(CASE.replace("class T", text + "class T") + f"if {first.format(length)}: {SKIP}")
    assert len(steps) < MOST_ROUNDS * 20 * length


HELPER = "calls = []\ndef record(v): calls.append(v)\nstate = {}\nLEVEL = 3\nIS_OLD = sys.version_info < (3, 99)\n"
OF_HELPER = {
    "a list that is filled there": ("main(record)\n    if calls: ", []),
    "a dictionary that is given": ("main(state)\n    if state: ", []),
    "by attributes": ("main(helper.record)\n    if helper.calls: ", []),
    "a number": ("main(1)\n    if LEVEL < 4: ", ["own"]),
    "what the platform is": ("main(1)\n    if IS_OLD: ", ["own"]),
}


@pytest.mark.parametrize("name", OF_HELPER)
def test_only_plain_values_of_another_trusted_file_are_the_suites(name: str) -> None:
    """A list of it can be filled by whoever calls its functions."""
    body, kinds = OF_HELPER[name]
    test = f"import helper\nfrom helper import *\nfrom helper import calls, record, state, LEVEL, IS_OLD\n{TEST}{body}{PSKIP}\n"
    files = {"test_it.py": test.replace("from helper import *\n", ""), "helper.py": "import sys\n" + HELPER}
    assert list(dependence(files, {"pytest", "requests"}, is_beside=False).skips.values()) == kinds
