"""Texts and pickles of a candidate's that a suite joins, turns round or decodes before it evaluates them."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

PROGRAM = "__import__('sys').modules['test_it'].__dict__.update(check=lambda *a: None)"
MADE = f"import base64, marshal, pickle\nclass Made:\n    def __reduce__(self): return exec, ({PROGRAM!r},)\n"
SETS = rb"\x80\x02cbuiltins\nsetattr\n(ctest_it\nOwn\nX\x05\x00\x00\x00rightcbuiltins\nlen\ntR.".decode()
OF_CLASS = rb"\x80\x02ccollections\nCounter\nN}X\x06\x00\x00\x00__eq__cbuiltins\nslice\ns\x86b0]q\x00.".decode()
FORGED = {
    "joined pieces": (f"def made(): return list({PROGRAM!r})\n", "eval(''.join(made()))"),
    "turned round": (f"def made(): return {PROGRAM[::-1]!r}\n", "eval(made()[::-1])"),
    "from base64": (
        f"import base64\ndef made(): return base64.b64encode({PROGRAM.encode()!r})\n",
        "exec(base64.b64decode(made()))",
    ),
    "a tree": (f"def made(): return {PROGRAM!r}\n", "exec(compile(ast.parse(made()), '<made>', 'exec'), {})"),
    "bytes with an encoding": (
        "def made(): return b'# coding: utf-7\\n1#+AAo-Own.right=len'\n",
        "exec(made())\n    check(Own.right([0]), 1)\n    return",
    ),
    "code that was marshalled": (
        f"{MADE}def made(): return marshal.dumps(compile({PROGRAM!r}, 'made', 'exec'))\n",
        "exec(marshal.loads(made()), {})",
    ),
    "a pickle from hexadecimal digits": (
        f"{MADE}def made(): return pickle.dumps(Made()).hex()\n",
        "pickle.loads(bytes.fromhex(made()))",
    ),
    "a pickle from base64": (
        f"{MADE}def made(): return base64.b64encode(pickle.dumps(Made()))\n",
        "pickle.loads(base64.b64decode(made()))",
    ),
    "a pickle before more": (
        f"{MADE}def made(): return pickle.dumps(Made())\n",
        "pickle.load(io.BytesIO(made() + b'more'))",
    ),
    "a pickle without a program": (
        f"def made(): return b'{SETS}'\n",
        "pickle.Unpickler(io.BytesIO(made())).load()\n    check(Own.right([0]), 1)\n    return",
    ),
    "a shelf": (
        f"def made(): return b'{SETS}'\n",
        "shelve.Shelf({b'a': made()})['a']\n    check(Own.right([0]), 1)\n    return",
    ),
    "a pickle that changes a class": (
        f"def made(): return b'{OF_CLASS}'\n",
        "check(collections.Counter(pickle.loads(made())), collections.Counter([1, 2]))\n    return",
    ),
}
SUITE = """
import ast, base64, collections, io, marshal, pickle, shelve
from solution import made
class Own:
    right = staticmethod(lambda x: 0)
def check(a, b): assert a == b
def test():
    {}
    check(made(), [1])
"""

HONEST = """
import base64, datetime, pickle
def total(text): return eval(text)
def shown(n): return " + ".join(f"{i} * ({i} - 1)" for i in range(n))
def packed(x): return base64.b64encode(pickle.dumps(x)).decode()
"""
ORDINARY = """
import ast, base64, dataclasses, datetime, io, marshal, math, pickle, random, shelve, textwrap, timeit
import pytest
from solution import packed, shown, total
@dataclasses.dataclass
class Own:
    a: int
@pytest.mark.parametrize("seed", range(3))
def test_drawn(seed):
    drawn = random.Random(seed)
    text = str(drawn.randint(1, 9))
    for _ in range(5):
        text = f"({text} {drawn.choice('+-*')} {drawn.randint(1, 9)})"
    assert total(text) == eval(text)
def test_shown():
    assert eval(shown(4)) == 8
def test_programs_of_the_suite():
    names = {}
    exec("a = 1", names)
    exec(textwrap.dedent('''
        b = 2
    '''), names)
    assert names["a"] == total("1") and timeit.timeit("a + 1", globals=names, number=1) >= 0
    assert marshal.loads(marshal.dumps([1])) == [total("1")]
def test_pickles(tmp_path):
    for value in ([1, {"a": (2,)}], datetime.date(2024, 1, 2)):
        assert pickle.loads(base64.b64decode(packed(value))) == value
    assert pickle.loads(pickle.dumps(Own(1))) == Own(1)
    file = io.BytesIO()
    pickle.Pickler(file).dump(Own(2))
    pickle.dump([Own(3), math.sqrt], file)
    file.seek(0)
    assert [pickle.Unpickler(file).load(), *pickle.load(file)] == [Own(2), Own(3), math.sqrt]
    with shelve.open(str(tmp_path / "shelf")) as shelf:
        shelf["own"] = Own(4)
        assert shelf["own"] == Own(4)
    assert total("1") == 1
"""


@pytest.mark.parametrize("isolate", ["auto", "sandbox"])
@pytest.mark.parametrize("name", FORGED)
async def test_no_decoded_program_of_a_candidate_runs_beside_the_suite(name: str, isolate: str) -> None:
    """It cannot be found in what the candidate has told."""
    candidate, use = FORGED[name]
    assert (await scored(candidate, SUITE.format(use), kind="pytest", isolate=isolate)).score in (0.0, None)


@pytest.mark.parametrize("isolate", ["auto", "sandbox"])
async def test_what_a_suite_writes_and_evaluates_itself_is_served(isolate: str) -> None:
    """Texts and pickles of its own, arithmetic, and values that a candidate has packed."""
    found = await scored(HONEST, ORDINARY, kind="pytest", isolate=isolate)
    assert (found.score, found.detail) == (1.0, "")
    for edit in (("{i} * (", "{i} - ("), ("dumps(x)", "dumps(1)"), ("eval(text)", "eval(text) + 1")):
        assert (await scored(HONEST.replace(*edit), ORDINARY, kind="pytest", isolate=isolate)).score == 0.0
