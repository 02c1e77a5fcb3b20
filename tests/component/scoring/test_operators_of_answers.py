"""Each operation of the data model between plain operands and objects of a candidate's: a right answer is served as
plain Python would, or what was done is noted, so that a failure of the test does not count as the candidate's."""

from __future__ import annotations

from pathlib import Path

import pytest
from operator_table import compared

BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "lshift": "<<",
    "rshift": ">>", "and": "&", "xor": "^", "or": "|", "matmul": "@",
}  # fmt: skip
COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
DOES = {"matmul": "self.v * 100 + other"}


def _methods(made: str, other: str) -> str:
    """The text of every operator's methods; `made` makes the result, `other` is the operand's value."""
    lines = []
    for name, sign in BINARY.items():
        does = DOES.get(name, f"self.v {sign} other")
        for side in ("", "i"):
            lines.append(f"    def __{side}{name}__(self, other): other = {other}; return {made}({does})")
        does = does.replace("self.v", "OTHER").replace("other", "self.v").replace("OTHER", "other")
        lines.append(f"    def __r{name}__(self, other): other = {other}; return {made}({does})")
    lines += [
        f"    def __{name}__(self, other): other = {other}; return self.v {sign} other"
        for name, sign in COMPARISONS.items()
    ]
    return "\n".join(lines) + "\n"


OF_OBJECTS = "getattr(other, 'v', other)"
BOX = f"""class CLASS:
    def __init__(self, v): self.v = v
{_methods("type(self)", OF_OBJECTS)}
    def __divmod__(self, other): return (self.v // other, self.v % other)
    def __rdivmod__(self, other): return (other // self.v, other % self.v)
    def __hash__(self): return hash(self.v)
    def __contains__(self, other): return other == self.v
    def __len__(self): return self.v
    def __bool__(self): return self.v > 0
    def __getitem__(self, key): return (key, self.v) if key != self.v else [][0]
    def __setitem__(self, key, value): self.v = (key, value)
    def __delitem__(self, key): self.v = key
    def __call__(self, *given, **more): return (given, more, self.v)
    def __str__(self): return f"<{{self.v}}>"
    def __repr__(self): return f"box {{self.v}}"
    def __format__(self, form): return f"{{self.v}}|{{form}}"
    def __bytes__(self): return bytes([self.v])
    def __int__(self): return self.v
    def __float__(self): return float(self.v)
    def __complex__(self): return complex(self.v)
    def __index__(self): return self.v
    def __round__(self, n=0): return self.v * 10 + n
    def __trunc__(self): return self.v + 1
    def __floor__(self): return self.v + 2
    def __ceil__(self): return self.v + 3
    def __neg__(self): return type(self)(-self.v)
    def __pos__(self): return type(self)(self.v)
    def __invert__(self): return type(self)(~self.v)
    def __abs__(self): return abs(self.v)
    def __enter__(self): return self.v
    def __exit__(self, *error): return False
    async def __aenter__(self): return self.v
    async def __aexit__(self, *error): return False
    def __await__(self):
        return self.v
        yield
    def __copy__(self): return type(self)(self.v)
    def __fspath__(self): return str(self.v)
"""
LOOP = """    def __iter__(self): return iter(range(self.v))
    def __reversed__(self): return iter([self.v, 1])
    def __aiter__(self): return self.steps()
    async def steps(self):
        for each in range(self.v): yield each
    def __next__(self): return self.v
"""
RESULTS = """class Dot:
    def __init__(self, v): self.v = v
    def __repr__(self): return "dot"
""" + _methods("(lambda found: found)", OF_OBJECTS)
NUMBER = "class Whole(int):\n    @property\n    def v(self): return int(self)\n" + _methods(
    "(lambda n: ('own', n))", OF_OBJECTS
)
NUMBER = NUMBER.replace("self.v", "int(self)")
TEXT = """class Name(str):
    def __eq__(self, other): return str(self).lower() == str(other).lower()
    def __ne__(self, other): return not self == other
    __hash__ = str.__hash__
    def __contains__(self, other): return str.__contains__(self.lower(), other.lower())
    def __add__(self, other): return str(self) + "-" + other
    def __len__(self): return 99
    def __getitem__(self, key): return str(self)[key - 1]
    def __mod__(self, other): return "%%"
    def __lt__(self, other): return True if len(other) == 3 else False
"""
PAIR = """class Pair(tuple):
    def __add__(self, other): return Pair(a + b for a, b in zip(self, other))
    __radd__ = __add__
    def __mul__(self, n): return Pair(each * n for each in self)
    __rmul__ = __mul__
    def __sub__(self, other): return Pair(a - b for a, b in zip(self, other))
    def __eq__(self, other): return sorted(self) == sorted(other)
    __hash__ = None
    def __bool__(self): return sum(self) > 3
    def __contains__(self, other): return -other in tuple(self)
"""
COIN = """import enum
class Coin(enum.Enum):
    PENNY = 1
    DIME = 10
    def __add__(self, other): return self.value + getattr(other, 'value', other)
    __radd__ = __add__
    def __mul__(self, n): return self.value * n
    __rmul__ = __mul__
    def __sub__(self, n): return Coin(self.value - n)
    def __lt__(self, other): return self.value < getattr(other, 'value', other)
    def __eq__(self, other): return self.value == getattr(other, 'value', other)
    def __hash__(self): return 3
def coin(n): return Coin(n)
"""
CANDIDATE = (
    BOX.replace("CLASS", "Box") + LOOP.replace("    def __next__(self): return self.v\n", "")
    + BOX.replace("CLASS", "Plain") + RESULTS + NUMBER + TEXT + PAIR + COIN
    + "def box(v): return Box(v)\ndef plain(v): return Plain(v)\ndef dot(v): return Dot(v)\n"
    + "def held(v): return {'x': [Plain(v)]}\ndef whole(v): return Whole(v)\ndef text(v): return Name(v)\n"
    + "def pair(*v): return Pair(v)\n"
    + "def local(v):\n    class local(Plain): pass\n    return local(v)\n"
    + "class lower(Plain): pass\nclass Kit:\n    def part(self, v): return Plain(v)\n"
    + "class Shelf:\n    class Inner(Plain): pass\n    @classmethod\n    def of(cls, v): return Plain(v)\n"
)  # fmt: skip
MAKERS = {
    "named": "solution.Box(12)", "named without a loop": "solution.Plain(12)", "of a function": "solution.plain(12)",
    "of a function, with a loop": "solution.box(12)", "of a function, of numbers": "solution.dot(12)",
    "in a container": "solution.held(12)[\"x\"][0]", "of a local class": "solution.local(12)",
    "of a class in small letters": "solution.lower(12)", "of a method": "solution.Kit().part(12)",
    "of a class in a class": "solution.Shelf.Inner(12)", "of a class method": "solution.Shelf.of(12)",
    "of a function, the class is named": "(solution.Plain, solution.plain(12))[1]",
    "a number": "solution.whole(12)", "a named number": "solution.Whole(12)",
}  # fmt: skip
OPERANDS = ("3", "1")
IN_PLACE = "x = MAKER\nx {sign}= 3\nreturn x"
OPERATIONS = [
    *(f"return MAKER {sign} {n}" for sign in BINARY.values() for n in OPERANDS),
    *(f"return {n} {sign} MAKER" for sign in BINARY.values() for n in OPERANDS),
    *(IN_PLACE.replace("{sign}", sign) for sign in BINARY.values()),
    *(f"return MAKER {sign} MAKER" for sign in BINARY.values()),
    *(f"return MAKER {sign} {n}" for sign in COMPARISONS.values() for n in ("3", "12", "20")),
    *(f"return {n} {sign} MAKER" for sign in COMPARISONS.values() for n in ("3", "12", "20")),
    *(f"return MAKER {sign} MAKER" for sign in COMPARISONS.values()),
    "return pow(MAKER, 2)", "return divmod(MAKER, 5)", "return divmod(50, MAKER)", "return -MAKER", "return +MAKER",
    "return ~MAKER", "return abs(MAKER)", "return 12 in MAKER", "return 5 in MAKER", "return 12 in [MAKER]",
    "return [1, MAKER, 3].index(12)", "return [MAKER].count(12)", "return len(MAKER)", "return bool(MAKER)",
    "return MAKER[5]", "return MAKER[1:2]", "x = MAKER\nx[3] = 4\nreturn x", "x = MAKER\ndel x[3]\nreturn x",
    "return MAKER(1, a=2)", "return str(MAKER)", "return repr(MAKER)", "return f'{MAKER:>4}'", "return '%s' % MAKER",
    "return bytes(MAKER)", "return int(MAKER)", "return float(MAKER)", "return complex(MAKER)",
    "return [0] * 20 and list(range(20))[MAKER]", "return round(MAKER)", "return round(MAKER, 2)",
    "import math\nreturn [math.trunc(MAKER), math.floor(MAKER), math.ceil(MAKER), math.sqrt(MAKER)]",
    "return hash(MAKER)", "return {MAKER: 1}.get(12)", "with MAKER as x: return x",
    "async with MAKER as x: return x", "return await MAKER", "import copy\nreturn copy.copy(MAKER)",
    "return sum([MAKER, MAKER], MAKER)", "return sum([1, MAKER])", "return sum([MAKER, 5], 0)", "return max(MAKER, 3)",
    "return min([3, MAKER])", "return sorted([20, MAKER, 3])", "return list(MAKER)", "return [*MAKER][:2]",
    "return list(reversed(MAKER))", "return [x async for x in MAKER]", "return iter(MAKER) is not None",
    "import operator\nreturn operator.index(MAKER)", "import os\nreturn os.fspath(MAKER)", "return any([MAKER > 3])",
    "return 3 < MAKER < 20", "return not MAKER", "return MAKER and 5", "return isinstance(MAKER, int)",
    "return range(MAKER)[-1]", "return 'ab' * MAKER", "return (1, 2) * MAKER", "return [1] + [MAKER + 1]",
]  # fmt: skip
OTHERS = [
    *(f"return solution.pair(1, 2) {rest}" for rest in (
        "+ (3, 4)", "* 3", "- (1, 1)", "== (2, 1)", "== [2, 1]", "!= (2, 1)", "+ solution.pair(1, 1)")),
    "return (3, 4) + solution.pair(1, 2)", "return 3 * solution.pair(1, 2)", "return bool(solution.pair(1, 2))",
    "return -1 in solution.pair(1, 2)", "return (2, 1) == solution.pair(1, 2)",
    *(f"return solution.text('Ab') {rest}" for rest in (
        "== 'aB'", "!= 'aB'", "+ 'c'", "< 'xyz'", "[1]", "% ()")),
    "return 'aB' == solution.text('Ab')", "return 'B' in solution.text('ab')", "return len(solution.text('ab'))",
    *(f"return {coin} {rest}" for coin in ("solution.Coin.DIME", "solution.coin(10)") for rest in (
        "+ 1", "* 3", "+ solution.Coin.PENNY", "< 11", "== 10", "!= 10", "- 9")),
    *(f"return {rest} solution.coin(10)" for rest in ("1 +", "3 *", "11 >", "10 ==")),
]  # fmt: skip


def differences(folder: Path, operations: list[str]) -> dict[str, list[str]]:
    """Operations that come to something else, and are not noted."""
    found = compared(folder, CANDIDATE, operations)
    return {name: [plain, apart] for name, (plain, apart, notes) in found.items() if plain != apart and not notes}


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_a_right_answer_is_served_or_noted(tmp_path: Path, maker: str) -> None:
    """Of every operator, builtin and statement that the data model has a method for."""
    assert differences(tmp_path, [each.replace("MAKER", maker) for each in OPERATIONS]) == {}


def test_a_right_answer_made_of_a_value_is_served_or_noted(tmp_path: Path) -> None:
    """Of tuples, texts and members of enumerations whose classes have operators of their own."""
    assert differences(tmp_path, OTHERS) == {}
