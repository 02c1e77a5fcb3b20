# ruff: noqa: E501 (programs are text, not code of ours)
"""Ordinary objects that a candidate's functions and classes hand to tests, and what tests do with them: the text of a
candidate, and operations, each the body of a test that returns what it finds."""

from __future__ import annotations

import re

CANDIDATE = r"""
import abc, asyncio, collections, contextlib, dataclasses, enum, functools, typing, weakref
class Seq:
    def __init__(self, *v): self.items = list(v)
    def __getitem__(self, i): return self.items[i]
class SeqLen(Seq):
    def __len__(self): return len(self.items)
class SeqIn(SeqLen):
    def __contains__(self, x): return x in self.items
class Squares:
    def __getitem__(self, i):
        if i >= 5: raise IndexError(i)
        return i * i
class DictLike:
    def __init__(self, **k): self._d = k
    def __getitem__(self, k): return self._d[k]
    def __setitem__(self, k, v): self._d[k] = v
    def __delitem__(self, k): del self._d[k]
class DictLen(DictLike):
    def __len__(self): return len(self._d)
    def __contains__(self, k): return k in self._d
class DictKeys(DictLen):
    def keys(self): return self._d.keys()
class DictIter(DictKeys):
    def __iter__(self): return iter(self._d)
    def get(self, k, d=None): return self._d.get(k, d)
    def items(self): return self._d.items()
    def values(self): return self._d.values()
class Interval:
    def __init__(self, a, b): self.a, self.b = a, b
    def __contains__(self, x): return self.a <= x < self.b
    def __len__(self): return self.b - self.a
    def __bool__(self): return self.b > self.a
    def __eq__(self, o): return isinstance(o, Interval) and (self.a, self.b) == (o.a, o.b)
    def __hash__(self): return hash((self.a, self.b))
    def __lt__(self, o): return self.a < o.a
class Ctx(dict):
    def __enter__(self): self['in'] = True; return self
    def __exit__(self, *e): self['in'] = False; return False
class CtxList(list):
    def __enter__(self): self.append('enter'); return self
    def __exit__(self, *e): self.append('exit')
class CtxStr(str):
    def __enter__(self): return self
    def __exit__(self, *e): return e[0] is KeyError
class CtxInt(int):
    def __enter__(self): return self + 1
    def __exit__(self, *e): return False
class CtxTuple(tuple):
    def __enter__(self): return self
    def __exit__(self, *e): return False
class ACtx(dict):
    async def __aenter__(self): self['in'] = True; return self
    async def __aexit__(self, *e): self['in'] = False
class IntCount(int):
    def __iter__(self): return iter(range(self))
    def __len__(self): return int(self)
    def __contains__(self, x): return 0 <= x < self
    def __getitem__(self, i): return int(str(int(self))[i])
    def __call__(self, x): return self * x
class ListOne(list):
    def __getitem__(self, i): return super().__getitem__(i - 1)
    def __call__(self): return sum(self)
class ListNext(list):
    def __next__(self):
        if not self: raise StopIteration
        return self.pop(0)
class ListIter(list):
    def __iter__(self): return reversed(self)
    def __reversed__(self): return (self[i] for i in range(len(self) - 1, -1, -1))
class ListIn(list):
    def __contains__(self, x): return any(abs(x - y) < 0.5 for y in list.__iter__(self))
class ListLen(list):
    def __len__(self): return 2 * super().__len__()
class ListBool(list):
    def __bool__(self): return any(list.__iter__(self))
class ListEq(list):
    def __eq__(self, o): return sorted(self) == sorted(o)
    __hash__ = None
class TupleIter(tuple):
    def __iter__(self): return (2 * x for x in tuple.__iter__(self))
class Missing(dict):
    def __missing__(self, k): return k * 2
class MissingSet(dict):
    def __missing__(self, k): self[k] = v = len(self); return v
class Lower(dict):
    def __getitem__(self, k): return super().__getitem__(k.lower())
    def __setitem__(self, k, v): super().__setitem__(k.lower(), v)
    def __contains__(self, k): return super().__contains__(k.lower())
    def get(self, k, d=None): return self[k] if k in self else d
class Attr(dict):
    def __getattr__(self, k):
        try: return self[k]
        except KeyError: raise AttributeError(k) from None
    def __setattr__(self, k, v): self[k] = v
    def __delattr__(self, k): del self[k]
class Multi(collections.defaultdict):
    def total(self): return sum(map(len, self.values()))
class Tally(collections.Counter):
    def top(self): return self.most_common(1)[0][0]
class Recent(collections.OrderedDict):
    def __setitem__(self, k, v):
        super().__setitem__(k, v)
        if len(self) > 2: self.popitem(last=False)
class UD(collections.UserDict):
    def __setitem__(self, k, v): super().__setitem__(k.upper(), v)
class UL(collections.UserList):
    def first(self): return self[0]
class US(collections.UserString):
    def shout(self): return self.upper() + '!'
class Text(str):
    def __eq__(self, o): return str(self).lower() == str(o).lower()
    def __hash__(self): return hash(str(self).lower())
    def words(self): return self.split()
    def __iter__(self): return iter(self.split())
class TextLen(str):
    def __len__(self): return len(self.split())
    def __contains__(self, w): return w in self.split()
    def __call__(self, **k): return self.format(**k)
class Bits(bytes):
    def __getitem__(self, i): return bin(super().__getitem__(i))
    def hexed(self): return self.hex()
class Money(float):
    def __str__(self): return f'${float(self):.2f}'
    def __format__(self, s): return f'${float(self):.2f}'
    def __eq__(self, o): return abs(float(self) - float(o)) < 0.01
    def __lt__(self, o): return float(self) + 0.01 < float(o)
    __hash__ = float.__hash__
class Mod7(int):
    def __new__(cls, v): return super().__new__(cls, v % 7)
    def __add__(self, o): return Mod7(int(self) + int(o))
    def __eq__(self, o): return int(self) % 7 == int(o) % 7
    def __hash__(self): return hash(int(self))
    def __bool__(self): return int(self) != 3
class Tags(set):
    def __contains__(self, x): return super().__contains__(x.lower())
    def add(self, x): super().add(x.lower())
class Frozen(frozenset):
    def __call__(self, x): return x in self
    def __len__(self): return 7
class P(typing.NamedTuple):
    x: int
    y: int = 0
    def __add__(self, o): return P(self.x + o[0], self.y + o[1])
    def norm(self): return self.x ** 2 + self.y ** 2
class P3(collections.namedtuple('P3', 'x y z')):
    __slots__ = ()
    def __len__(self): return 3
    def __bool__(self): return any(tuple(self))
    def __contains__(self, v): return v == 99 or v in tuple(self)
    def __enter__(self): return self
    def __exit__(self, *e): return False
@dataclasses.dataclass
class D:
    a: int
    b: list = dataclasses.field(default_factory=list)
    def __iter__(self): return iter((self.a, self.b))
    def __getitem__(self, k): return getattr(self, k)
    def __len__(self): return 2
    def __contains__(self, x): return x == self.a
@dataclasses.dataclass(order=True, frozen=True)
class V:
    n: int
    tag: str = dataclasses.field(default='', compare=False)
@dataclasses.dataclass
class DD(dict):
    k: int = 3
class Err(Exception):
    def __init__(self, code): super().__init__(code); self.code = code
    def __len__(self): return self.code
    def __iter__(self): return iter([self.code, 'x'])
    def __getitem__(self, i): return [self.code, 'x'][i]
    def __contains__(self, x): return x == self.code
    def __bool__(self): return self.code > 3
    def __enter__(self): return self
    def __exit__(self, *e): return False
    def __call__(self): return self.code
    def __lt__(self, o): return self.code < o.code
    def __int__(self): return self.code
    def __hash__(self): return self.code
    def __eq__(self, o): return isinstance(o, Err) and self.code == o.code
class Color(enum.Enum):
    RED = 1
    BLUE = 2
    def __call__(self): return self.value
    def __len__(self): return self.value
    def __iter__(self): return iter(range(self.value))
    def __contains__(self, x): return x == self.value
    def __getitem__(self, i): return self.name[i]
    def __bool__(self): return self.value > 1
    def __enter__(self): return self.value
    def __exit__(self, *e): return False
    @property
    def hexed(self): return hex(self.value)
    @classmethod
    def of(cls, n): return cls(n)
class Num(enum.IntEnum):
    ONE = 1
    TWO = 2
    def __str__(self): return self.name
    def __len__(self): return 5
    def __iter__(self): return iter([1, 2])
    def __enter__(self): return 7
    def __exit__(self, *e): return False
class Perm(enum.Flag):
    R = 1
    W = 2
class StrE(str, enum.Enum):
    A = 'a'
    def __enter__(self): return self
    def __exit__(self, *e): return False
class Countdown:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n <= 0: raise StopIteration
        self.n -= 1
        return self.n + 1
class NextOnly:
    def __init__(self): self.n = 0
    def __next__(self): self.n += 1; return self.n
class AIter:
    def __init__(self, n): self.n = n
    def __aiter__(self): return self
    async def __anext__(self):
        if not self.n: raise StopAsyncIteration
        self.n -= 1
        return self.n
class Await:
    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return 5
class Adder:
    def __init__(self, n): self.n = n
    def __call__(self, x, *a, k=0, **m): return self.n + x + sum(a) + k
class Node:
    __slots__ = ('value', 'next', '__weakref__')
    def __init__(self, value, next=None): self.value, self.next = value, next
    def __iter__(self):
        n = self
        while n: yield n.value; n = n.next
class Prop:
    def __init__(self): self._x = 1
    @property
    def x(self): return self._x
    @x.setter
    def x(self, v):
        if v < 0: raise ValueError('neg')
        self._x = v
    @x.deleter
    def x(self): self._x = 0
    @functools.cached_property
    def big(self): self._x += 1; return self._x
    @functools.singledispatchmethod
    def kind(self, v): return 'any'
    @kind.register
    def _(self, v: int): return 'int'
class Dyn:
    def __getattr__(self, n):
        if n.startswith('get_'): return lambda: n[4:]
        raise AttributeError(n)
    def __setattr__(self, n, v): object.__setattr__(self, n, v * 2)
    def __dir__(self): return ['zig', 'zag']
class Meta(type):
    def __len__(cls): return 3
    def __iter__(cls): return iter('abc')
    def __getitem__(cls, k): return k * 2
    def __contains__(cls, x): return x == 'a'
    def __call__(cls, *a): o = super().__call__(*a); o.made = True; return o
class WithMeta(metaclass=Meta): pass
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...
class Sq(Shape):
    def area(self): return 4
@typing.runtime_checkable
class HasArea(typing.Protocol):
    def area(self): ...
@functools.total_ordering
class Ver:
    def __init__(self, s): self.t = tuple(map(int, s.split('.')))
    def __eq__(self, o): return self.t == o.t
    def __lt__(self, o): return self.t < o.t
    def __hash__(self): return hash(self.t)
    def __repr__(self): return 'v' + '.'.join(map(str, self.t))
class Mat:
    def __init__(self, rows): self.rows = rows
    def __getitem__(self, ij):
        if isinstance(ij, tuple): return self.rows[ij[0]][ij[1]]
        return self.rows[ij]
    def __setitem__(self, ij, v): self.rows[ij[0]][ij[1]] = v
    def __matmul__(self, o): return Mat([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.rows)] for r in self.rows])
    def __eq__(self, o): return self.rows == o.rows
class Generic(typing.Generic[typing.TypeVar('T')]):
    def __init__(self, v): self.v = v
class Fluent:
    def __init__(self): self.s = []
    def add(self, x): self.s.append(x); return self
    def build(self): return self.s
class Tmp:
    log = []
    def __enter__(self): self.log.append('in'); return self
    def __exit__(self, t, v, tb): self.log.append(t.__name__ if t else 'out'); return t is KeyError
class Slice:
    def __getitem__(self, s): return (s.start, s.stop, s.step) if isinstance(s, slice) else s
class Key:
    def __init__(self, k): self.k = k
    def __hash__(self): return hash(self.k)
    def __eq__(self, o): return isinstance(o, Key) and self.k == o.k
def f(name, *a, **k): return globals()[name](*a, **k)
def gen(n):
    total = 0
    try:
        for i in range(n):
            try: got = yield i + total
            except KeyError: got = 100
            if got: total += got
    finally: Tmp.log.append('closed')
    return total
async def co(x): await asyncio.sleep(0); return x + 1
async def agen(n):
    for i in range(n): yield i
@contextlib.contextmanager
def cm(x):
    try: yield x
    except ValueError: pass
@contextlib.asynccontextmanager
async def acm(x): yield x
@functools.lru_cache(None)
def cached(n): return n * 2
@functools.singledispatch
def disp(x): return 'obj'
@disp.register(int)
def _(x): return 'int'
@functools.partial
def part(a, b=2): return (a, b)
add3 = functools.partial(lambda a, b: a + b, 3)
def deco(f):
    @functools.wraps(f)
    def w(*a): return f(*a) * 2
    return w
@deco
def doubled(x): return x
def register(cls): cls.tagged = True; return cls
@register
class Tagged: pass
def lazy(n): return map(str, range(n))
def zipped(): return zip('ab', [1, 2])
def view(): return {'a': 1}.items()
def rng(): return range(3)
def mv(): return memoryview(b'abc')
def maker():
    class Inner:
        def __getitem__(self, i): return [7, 8][i]
    return Inner()
class point:
    def __init__(self, x, y): self.x, self.y = x, y
    def __eq__(self, o): return (self.x, self.y) == (o.x, o.y)
    def __len__(self): return 2
    def __contains__(self, v): return v in (self.x, self.y)
    def __add__(self, o): return point(self.x + o[0], self.y + o[1])
    def __bool__(self): return bool(self.x)
    def __lt__(self, n): return self.x < n
class Flags:
    def __init__(self, **k): self.k = k
    def __getitem__(self, n): return self.k[n]
class Bitset:
    def __init__(self, v): self.v = v
    def __getitem__(self, i): return bool(self.v >> i & 1)
class Hand(list):
    def has(self, c): return c in self
class Linked:
    def __init__(self, *v):
        self.head = None
        for x in reversed(v): self.head = Node(x, self.head)
    def __getitem__(self, i):
        n = self.head
        for _ in range(i): n = n.next
        return n.value
    def __len__(self): return len(list(self.head))
    def __contains__(self, x): return x in list(self.head)
class Big:
    def __iter__(self): return iter(range(20000))
    def __len__(self): return 20000
    def __contains__(self, x): return x in range(20000)
class Span:
    def __init__(self, a, b): self.a, self.b = a, b
    def startswith(self, a): return self.a == a
    def equals(self, o): return (self.a, self.b) == tuple(o)
    def isdisjoint(self, o): return self.b <= o[0] or o[1] <= self.a
    def union(self, o): return Span(min(self.a, o[0]), max(self.b, o[1]))
    def __eq__(self, o): return (self.a, self.b) == (o.a, o.b)
class SInt(str):
    def __int__(self): return 7
class SelfIter(list):
    def __iter__(self): return self
    def __next__(self):
        if not len(self): raise StopIteration
        return self.pop(0)
class Obs:
    def run(self, g): return g(2)
class Shelf:
    def __init__(self, *v): self.v = v
    def __contains__(self, x): return x in self.v
Factory = Interval
make_interval = Interval
"""
OPERATIONS: list[str] = []


def _rows(cls: str, args: str, *operations: str) -> None:
    """Do this with an object that a function makes, and with one that the tests make of the class, which they name."""
    _on(f"solution.f('{cls}'{', ' if args else ''}{args})", *operations)
    _on(f"solution.{cls}({args})", *operations)


def _on(maker: str, *operations: str) -> None:
    for operation in operations:
        quoted = re.sub(r"f'(\{M[^']*\})'", r'f"\1"', operation)
        OPERATIONS.append(re.sub(r"\bM\b", lambda _: maker, quoted))


SEQ = [
    "return 4 in M",
    "return 9 in M",
    "return len(M)",
    "return list(M)",
    "return [x for x in M]",
    "a, *b = M\nreturn (a, b)",
    "return tuple(M)",
    "return sum(M)",
    "return max(M)",
    "return sorted(M, reverse=True)",
    "return M[-1]",
    "return M[0]",
    "return M[1:]",
    "return list(zip(M, 'abc'))",
    "return list(enumerate(M))",
    "return list(map(str, M))",
    "return next(iter(M))",
    "return list(reversed(M))",
    "return bool(M)",
    "x = M\nreturn [list(x), list(x)]",
    "return set(M)",
    "return dict.fromkeys(M)",
    "return (lambda *a: a)(*M)",
    "return any(x > 3 for x in M)",
    "return 4 not in M",
    "return M == [1, 4, 6]",
    "return isinstance(M, list)",
    "return hasattr(M, '__iter__')",
    "return M[99]",
    "import itertools\nreturn list(itertools.islice(M, 2))",
    "return ','.join(map(str, M))",
    "import collections\nreturn collections.Counter(M)[4]",
    "return not M",
    "return 'yes' if M else 'no'",
]
for c in ("Seq", "SeqLen", "SeqIn"):
    _rows(c, "1, 4, 6", *SEQ)
_rows("Squares", "", *SEQ)
_on("solution.maker()", *SEQ)
DL = [
    "return M['a']",
    "return M['z']",
    "return 'a' in M",
    "return 'z' in M",
    "return len(M)",
    "return list(M)",
    "return sorted(M)",
    "return dict(M)",
    "return {**M}",
    "return dict(**M)",
    "x = M\nx['c'] = 3\nreturn x['c']",
    "x = M\ndel x['a']\nreturn x['a']",
    "return '{a}'.format_map(M)",
    "return '%(a)s' % M",
    "return bool(M)",
    "x = M\nx['c'] = 3\nreturn 'c' in x",
    "x = M\nx['c'] = 3\nreturn len(x)",
    "return M.get('a')",
    "return 'a' not in M",
    "return sorted(M.keys())",
    "return 0 in M",
]
for c in ("DictLike", "DictLen", "DictKeys", "DictIter"):
    _rows(c, "a=1, b=2", *DL)
_rows(
    "Interval",
    "2, 5",
    "return 3 in M",
    "return 7 in M",
    "return len(M)",
    "return bool(M)",
    "return M == solution.Interval(2, 5)",
    "return M == solution.f('Interval', 2, 6)",
    "return M in [solution.Interval(2, 5)]",
    "return len({M, solution.Interval(2, 5)})",
    "return {M: 1}[solution.f('Interval', 2, 5)]",
    "return [i.a for i in sorted([M, solution.Interval(0, 1)])]",
    "return min(M, solution.Interval(0, 1)).a",
    "return M < solution.Interval(3, 4)",
    "return M != 3",
    "return M is None",
    "return [x for x in range(8) if x in M]",
)
for c, a in (
    ("Ctx", ""),
    ("CtxStr", "'ab'"),
    ("ACtx", "a=1"),
    ("CtxList", "[1, 2]"),
    ("CtxInt", "4"),
    ("CtxTuple", "(1, 2)"),
):
    w = "async with" if c == "ACtx" else "with"
    _rows(
        c,
        a,
        f"{w} M as y: return y",
        f"x = M\n{w} x: pass\nreturn x",
        f"x = M\n{w} x as y: z = list(y) if not isinstance(y, int) else y\nreturn (z, x)",
        "return M",
        "return hasattr(M, '__enter__')",
        "import contextlib\nwith contextlib.ExitStack() as s: return s.enter_context(M)",
    )
_rows(
    "IntCount",
    "3",
    "return list(M)",
    "return len(M)",
    "return 2 in M",
    "return 3 in M",
    "return M[0]",
    "return M(5)",
    "return M + 1",
    "return M == 3",
    "return callable(M)",
    "return [x for x in M]",
    "return sum(M)",
)
_rows(
    "ListOne",
    "[5, 6, 7]",
    "return M[1]",
    "return list(M)",
    "return M()",
    "return M == [5, 6, 7]",
    "return callable(M)",
    "return len(M)",
)
_rows(
    "ListNext",
    "[5, 6]",
    "return next(M)",
    "x = M\nnext(x)\nreturn x",
    "return list(M)",
    "return len(M)",
    "x = M\nnext(x); next(x)\nreturn next(x, 'end')",
)
_rows(
    "ListIter",
    "[5, 6]",
    "return list(M)",
    "return [x for x in M]",
    "return list(reversed(M))",
    "a, b = M\nreturn a",
    "return M[0]",
    "return sorted(M)",
)
_rows("ListIn", "[5, 6]", "return 5.2 in M", "return 7 in M", "return 5 in M", "return M.index(6)")
_rows("ListLen", "[5, 6]", "return len(M)", "return list(M)")
_rows("ListBool", "[0, 0]", "return bool(M)", "return not M", "return 'a' if M else 'b'", "return M == [0, 0]")
_rows(
    "ListEq",
    "[2, 1]",
    "return M == [1, 2]",
    "return [1, 2] == M",
    "return M == [2, 1]",
    "return M != [2, 2]",
    "return M == solution.ListEq([1, 2])",
)
_rows("TupleIter", "(1, 2)", "return list(M)", "a, b = M\nreturn a", "return M[0]", "return M == (1, 2)")
_rows(
    "Missing",
    "{1: 9}",
    "return M[1]",
    "return M[4]",
    "return M.get(4)",
    "return 4 in M",
    "x = M\nx[4]\nreturn len(x)",
    "return '%(a)s' % M",
    "return '{a}'.format_map(M)",
)
_rows(
    "MissingSet",
    "",
    "x = M\nreturn [x['a'], x['b'], x['a']]",
    "x = M\nx['a']\nreturn x",
    "x = M\nx['a']\nreturn 'a' in x",
)
_rows(
    "Lower",
    "{'a': 1}",
    "return M['A']",
    "return 'A' in M",
    "x = M\nx['B'] = 2\nreturn x",
    "x = M\nx['B'] = 2\nreturn x['b']",
    "return M.get('A')",
    "return M == {'a': 1}",
    "return M.get('Z', 7)",
)
_rows(
    "Attr",
    "{'a': 1}",
    "return M.a",
    "return M.zz",
    "x = M\nx.b = 2\nreturn x",
    "x = M\ndel x.a\nreturn x",
    "return hasattr(M, 'a')",
    "return getattr(M, 'q', 5)",
    "import json\nreturn json.dumps(M)",
    "return M['a']",
    "x = M\nx.b = 2\nreturn x['b']",
)
_rows(
    "Multi",
    "list",
    "x = M\nx['a'].append(1)\nreturn x",
    "x = M\nx['a'].append(1)\nreturn x.total()",
    "x = M\nx['b']\nreturn 'b' in x",
)
_rows(
    "Tally",
    "'abca'",
    "return M['a']",
    "return M['z']",
    "return M.top()",
    "return M.most_common(1)",
    "return M == {'a': 2, 'b': 1, 'c': 1}",
    "x = M\nx.update('zz')\nreturn x['z']",
    "return M + M",
    "return sorted(M.elements())",
)
_rows(
    "Recent",
    "[('a', 1)]",
    "x = M\nx['b'] = 2; x['c'] = 3\nreturn list(x)",
    "return M.popitem()",
    "x = M\nx['b'] = 2\nx.move_to_end('a')\nreturn list(x)",
)
_rows(
    "UD",
    "{'a': 1}",
    "return dict(M)",
    "return M == {'A': 1}",
    "return 'A' in M",
    "return len(M)",
    "return sorted(M.items())",
    "x = M\nx['q'] = 3\nreturn x['Q']",
    "return M.get('A')",
    "import json\nreturn json.dumps(dict(M))",
)
_rows(
    "UL",
    "[3, 4]",
    "return list(M)",
    "return M == [3, 4]",
    "return M.first()",
    "return len(M)",
    "return 3 in M",
    "return M[1:] == [4]",
    "x = M\nx.append(5)\nreturn len(x)",
    "return M + [1] == [3, 4, 1]",
    "return sorted(M)",
    "return 3 in M",
)
_rows(
    "US",
    "'ab'",
    "return M.shout() == 'AB!'",
    "return M == 'ab'",
    "return str(M)",
    "return 'a' in M",
    "return len(M)",
    "return M + 'c' == 'abc'",
    "return f'{M}'",
)
_rows(
    "Text",
    "'Ab cd'",
    "return M == 'ab CD'",
    "return M.words()",
    "return list(M)",
    "return {M: 1}['ab cd']",
    "return M in {'ab cd'}",
    "return M.upper()",
    "return M[0]",
    "return len(M)",
    "return M + 'x'",
    "return f'{M:>7}'",
    "return hash(M) == hash('ab cd')",
)
_rows(
    "TextLen",
    "'a {b} c'",
    "return len(M)",
    "return 'c' in M",
    "return ' ' in M",
    "return M(b=3)",
    "return M == 'a {b} c'",
)
_rows("Bits", "b'ab'", "return M[0]", "return M.hexed()", "return M == b'ab'", "return list(M)", "return bytes(M)")
_rows(
    "Money",
    "2.5",
    "return str(M)",
    "return f'{M}'",
    "return M == 2.505",
    "return M + 1",
    "return M < 2.505",
    "return round(M)",
    "return M == 2.5",
    "return '%.1f' % M",
    "return float(M)",
)
_rows(
    "Mod7",
    "10",
    "return M == 3",
    "return M == 10",
    "return M + 5 == 1",
    "return bool(M)",
    "return int(M)",
    "return [M].count(3)",
    "return isinstance(M, int)",
    "return M",
    "return sum([M, M]) == 6",
    "return hash(M)",
)
_rows(
    "Tags",
    "['a']",
    "return 'A' in M",
    "x = M\nx.add('B')\nreturn sorted(x)",
    "return M | {'c'}",
    "return M == {'a'}",
    "return len(M)",
)
_rows(
    "Frozen",
    "[1, 2]",
    "return M(1)",
    "return M(3)",
    "return len(M)",
    "return M == {1, 2}",
    "return {M: 1}[frozenset([1, 2])]",
)
_rows(
    "P",
    "1, 2",
    "return M",
    "return M + (1, 1)",
    "return M.norm()",
    "return M.x",
    "x, y = M\nreturn y",
    "return M == (1, 2)",
    "return M._replace(x=5)",
    "return M._asdict()",
    "return M[1]",
    "return len(M)",
    "return 2 in M",
    "return M._fields",
    "return isinstance(M, tuple)",
    "match M:\n    case solution.P(x, y): return (x, y)",
    "return sorted([M, (0, 5)])[0]",
    "return repr(M)",
    "return hash(M) == hash((1, 2))",
)
_rows(
    "P3",
    "0, 0, 0",
    "return bool(M)",
    "return 99 in M",
    "return 5 in M",
    "with M as p: return p.x",
    "return len(M)",
    "return M == (0, 0, 0)",
)
_rows(
    "D",
    "3, [1]",
    "return M == solution.D(3, [1])",
    "a, b = M\nreturn (a, b)",
    "return M['a']",
    "return len(M)",
    "return 3 in M",
    "return 5 in M",
    "import dataclasses\nreturn dataclasses.is_dataclass(M)",
    "return repr(M)",
    "return vars(M)",
    "return M.b",
    "x = M\nx.b.append(7)\nreturn x.b",
    "return M.__dict__",
    "return list(M)",
)
_rows(
    "V",
    "3",
    "return M == solution.V(3, 'q')",
    "return M < solution.V(4)",
    "return len({M, solution.V(3)})",
    "x = M\nx.n = 5",
    "return sorted([M, solution.V(1)])[0].n",
    "return hash(M) == hash(solution.V(3))",
    "return max(M, solution.V(1)) == solution.V(3)",
)
_rows("DD", "4", "return M.k", "return M == {}", "return len(M)")
_rows(
    "Err",
    "5",
    "return len(M)",
    "return list(M)",
    "return M[1]",
    "return 5 in M",
    "return bool(M)",
    "with M as e: return e.code",
    "return M()",
    "return M < solution.Err(7)",
    "return int(M)",
    "return hash(M)",
    "return M == solution.Err(5)",
    "raise M",
    "try: raise M\nexcept solution.Err as e: return (e.args, e.code, len(e), 5 in e)",
    "return str(M)",
    "return isinstance(M, Exception)",
    "a, b = M\nreturn a",
    "return len({M, solution.Err(5)})",
)
for m in ("solution.Color.BLUE", "solution.f('Color', 2)", "solution.Color.of(2)"):
    _on(
        m,
        "return M()",
        "return len(M)",
        "return list(M)",
        "return 2 in M",
        "return 1 in M",
        "return M[0]",
        "return bool(M)",
        "with M as v: return v",
        "return M.hexed",
        "return M.value",
        "return M is solution.Color.BLUE",
        "return M == solution.Color.BLUE",
        "return M in solution.Color",
        "return [c.name for c in solution.Color]",
        "return {M: 1}[solution.Color.BLUE]",
        "return repr(M)",
        "return str(M)",
        "return f'{M}'",
        "return isinstance(M, solution.Color)",
        "return M.name",
        "return len(solution.Color)",
        "return solution.Color['RED'].value",
        "return hash(M) == hash(solution.Color.BLUE)",
        "return M.__class__.__name__",
        "return solution.Color(9)",
        "return a if (a := M) else 3",
        "import copy\nreturn copy.deepcopy(M) is M",
        "return 5 if M else 6",
    )
for m in ("solution.Num.TWO", "solution.f('Num', 2)"):
    _on(
        m,
        "return M",
        "return len(M)",
        "return list(M)",
        "with M as v: return v",
        "return str(M)",
        "return M + 1",
        "return M == 2",
        "return f'{M}'",
        "return [10, 20, 30][M]",
        "return sorted([M, solution.Num.ONE])",
        "return M > solution.Num.ONE",
        "import json\nreturn json.dumps([M])",
        "return '%d' % M",
        "return range(M)[-1]",
    )
for m in ("(solution.Perm.R | solution.Perm.W)", "solution.f('Perm', 3)"):
    _on(
        m,
        "return solution.Perm.R in M",
        "return bool(M)",
        "return M.value",
        "return (M & solution.Perm.R) == solution.Perm.R",
        "return list(M)",
        "return len(M)",
        "return (M ^ solution.Perm.R).value",
        "return (~M).value",
        "return M == solution.Perm.R",
    )
for m in ("solution.StrE.A", "solution.f('StrE', 'a')"):
    _on(
        m,
        "return M == 'a'",
        "with M as v: return v == 'a'",
        "return M.upper()",
        "return M + 'b'",
        "return M in ('a', 'b')",
        "return {'a': 1}[M]",
        "return len(M)",
        "return 'a' in M",
        "import json\nreturn json.dumps(M)",
        "return list(M)",
        "return ''.join([M])",
    )
_rows(
    "Countdown",
    "3",
    "return list(M)",
    "x = M\nreturn [list(x), list(x)]",
    "x = M\nreturn [next(x), next(x)]",
    "return 2 in M",
    "x = M\nreturn iter(x) is x",
    "x = M\nnext(x)\nreturn sum(x)",
    "x = M\nreturn [next(x, None) for _ in range(5)]",
    "for a in M: return a",
    "import itertools\nreturn list(itertools.chain(M, M))",
    "return max(M)",
    "a, b, c = M\nreturn b",
    "return M.n",
    "x = M\nreturn 3 in x and list(x)",
)
_rows("NextOnly", "", "x = M\nreturn [next(x), next(x)]", "return list(M)", "return M.n")
_rows(
    "AIter",
    "3",
    "return [a async for a in M]",
    "return await anext(M)",
    "x = M\nawait anext(x)\nreturn [a async for a in x]",
    "return await anext(M, 7)",
    "x = M\nreturn aiter(x) is x",
)
_rows(
    "Await",
    "",
    "return await M",
    "import asyncio\nreturn await asyncio.wait_for(M, 5)",
    "import asyncio\nreturn await asyncio.gather(M, M)",
    "import inspect\nreturn inspect.isawaitable(M)",
)
_rows(
    "Adder",
    "3",
    "return M(4)",
    "return M(4, 5, k=6)",
    "return callable(M)",
    "return list(map(M, [1, 2]))",
    "import functools\nreturn functools.partial(M, 1)(2)",
    "return sorted([3, 1], key=M)",
    "return M()",
    "import inspect\nreturn str(inspect.signature(M))",
    "import functools\nreturn functools.reduce(M, [1, 2, 3])",
)
_rows(
    "Node",
    "1, solution.Node(2)",
    "return list(M)",
    "return M.next.value",
    "x = M\nx.value = 9\nreturn x.value",
    "x = M\nx.other = 1",
    "x = M\nreturn x.next is x.next",
    "import weakref\nx = M\nreturn weakref.ref(x)() is x",
    "return hasattr(M, '__dict__')",
    "x = M\ndel x.value\nreturn hasattr(x, 'value')",
    "return M.next.next",
    "import copy\nreturn list(copy.deepcopy(M))",
    "import pickle\nreturn list(pickle.loads(pickle.dumps(M)))",
    "return 2 in M",
    "return sum(M)",
)
_rows(
    "Prop",
    "",
    "return M.x",
    "x = M\nx.x = 5\nreturn x.x",
    "x = M\nx.x = -1",
    "x = M\ndel x.x\nreturn x.x",
    "x = M\nreturn [x.big, x.big, x.x]",
    "return M.kind(3)",
    "return M.kind('a')",
    "x = M\nsetattr(x, 'x', 7)\nreturn getattr(x, 'x')",
    "return hasattr(M, 'nope')",
    "x = M\nx.new = 5\nreturn x.new",
    "return sorted(vars(M))",
    "return type(M).__name__",
    "return type(M) is solution.Prop",
    "return isinstance(M, solution.Prop)",
    "return M.__class__.__name__",
)
_rows(
    "Dyn",
    "",
    "return M.get_q()",
    "return M.nope",
    "x = M\nx.a = 4\nreturn x.a",
    "return dir(M)",
    "return hasattr(M, 'get_z')",
    "return getattr(M, 'z', 3)",
)
_on(
    "solution.WithMeta",
    "return len(M)",
    "return list(M)",
    "return M[3]",
    "return 'a' in M",
    "return 'b' in M",
    "return M().made",
    "return isinstance(M, type)",
)
_rows(
    "Sq",
    "",
    "return isinstance(M, solution.Shape)",
    "return M.area()",
    "return issubclass(type(M), solution.Shape)",
    "return isinstance(M, solution.HasArea)",
    "return solution.Shape()",
    "return isinstance(3, solution.HasArea)",
    "return solution.Shape.__abstractmethods__ == {'area'}",
)
_rows(
    "Ver",
    "'1.2'",
    "return M < solution.Ver('1.10')",
    "return M >= solution.Ver('1.1')",
    "return M == solution.Ver('1.2')",
    "return repr(sorted([solution.Ver('2.0'), M]))",
    "return repr(max(M, solution.Ver('1.0')))",
    "return M in {solution.Ver('1.2')}",
    "return len({M, solution.Ver('1.2')})",
    "return f'{M!r}'",
    "return M != solution.Ver('1.3')",
    "import bisect\nreturn bisect.bisect([solution.Ver('1.0'), solution.Ver('2.0')], M)",
    "import heapq\nreturn repr(heapq.nsmallest(1, [solution.Ver('3.0'), M]))",
)
_rows(
    "Mat",
    "[[1, 2], [3, 4]]",
    "return M[1, 0]",
    "return M[1]",
    "x = M\nx[0, 0] = 9\nreturn x[0, 0]",
    "return (M @ solution.Mat([[1, 0], [0, 1]])).rows",
    "return (M @ solution.Mat([[1, 0], [0, 1]])) == M",
    "return [r for r in M]",
    "return len(list(M))",
    "return [1, 2] in M",
    "return M[0][1]",
    "a, b = M\nreturn b",
)
_rows(
    "Generic",
    "5",
    "return M.v",
    "return solution.Generic[int](3).v",
    "return isinstance(M, solution.Generic)",
    "return type(M).__name__",
)
_rows("Fluent", "", "return M.add(1).add(2).build()", "x = M\nreturn x.add(1) is x", "x = M\nx.add(1)\nreturn x.s")
_rows(
    "Tmp",
    "",
    "with M as t: return t.log[-1]",
    "x = M\nwith x: pass\nreturn x.log[-1]",
    "with M: raise ValueError(1)",
    "import contextlib\nwith contextlib.ExitStack() as s: s.enter_context(M)\nreturn solution.Tmp.log[-1]",
    "x = M\nx.__enter__()\nreturn x.__exit__(None, None, None)",
)
_rows(
    "Slice",
    "",
    "return M[1:2]",
    "return M[::3]",
    "return M[1:2, 3]",
    "return M[...]",
    "return M['a':'b']",
    "return M[None]",
)
_rows(
    "Key",
    "3",
    "return {M: 5}[solution.Key(3)]",
    "return solution.Key(4) in {M}",
    "return len({M, solution.Key(3), solution.Key(4)})",
    "return M == solution.Key(3)",
    "return [solution.Key(4), M].index(solution.Key(3))",
    "return M in (solution.Key(3),)",
    "return hash(M) == hash(3)",
    "return M == 3",
)
_rows("Flags", "read=True", "return M['read']", "return M['write']")
_rows("Bitset", "5", "return M[2]", "return M[1]", "return [M[0], M[1]]")
_rows("Hand", "['A', 'B']", "return M.has('A')", "return M.has('C')", "return M")
_rows(
    "Linked",
    "1, 2",
    "return 2 in M",
    "return 3 in M",
    "return len(M)",
    "return M[1]",
    "return bool(M)",
    "return list(M.head)",
)
_rows("Big", "", "return 20 in M", "return 30000 in M", "return len(M)", "return sum(M)", "return bool(M)")
_rows(
    "Span",
    "1, 4",
    "return M.startswith(1)",
    "return M.startswith(2)",
    "return M.equals((1, 4))",
    "return M.equals((1, 5))",
    "return M.isdisjoint((5, 6))",
    "return M.isdisjoint((3, 6))",
    "return M.union((4, 6)) == solution.Span(1, 6)",
    "return M == solution.Span(1, 4)",
)
_rows("SInt", "'seven'", "return int(M)", "return M", "return M + '!'")
_rows(
    "SelfIter",
    "[3, 4]",
    "it = M\nreturn [next(it), next(it)]",
    "return [x for x in M]",
    "it = M\nreturn next(it, 9)",
    "return len(M)",
)
_rows("Obs", "", "return M.run(lambda x: x + 1)")
_rows("Shelf", "1, 2", "return 1 in M", "return 5 in M", "return solution.Shelf in M")
OPERATIONS += [
    "return list(solution.gen(3))",
    "g = solution.gen(3)\nnext(g)\nreturn g.send(10)",
    "g = solution.gen(3)\nnext(g)\nreturn g.throw(KeyError('a'))",
    "g = solution.gen(3)\nnext(g)\ng.throw(ValueError('a'))",
    "g = solution.gen(3)\nnext(g)\ng.close()\nreturn solution.Tmp.log[-1]",
    "g = solution.gen(1)\nnext(g)\ntry: g.send(4)\nexcept StopIteration as e: return e.value",
    "def h():\n    r = yield from solution.gen(2)\n    yield ('r', r)\nreturn list(h())",
    "g = solution.gen(2)\nreturn [list(g), list(g)]",
    "return next(solution.gen(0), 'none')",
    "return 2 in solution.gen(4)",
    "import inspect\nreturn inspect.isgeneratorfunction(solution.gen)",
    "import types\nreturn isinstance(solution.gen(1), types.GeneratorType)",
    "import collections.abc\nreturn isinstance(solution.gen(1), collections.abc.Iterator)",
    "return len(solution.gen(2))",
    "return await solution.co(3)",
    "import asyncio\nreturn await asyncio.gather(solution.co(1), solution.co(2))",
    "import inspect\nreturn inspect.iscoroutinefunction(solution.co)",
    "return [a async for a in solution.agen(3)]",
    "import inspect\nreturn inspect.isasyncgenfunction(solution.agen)",
    "with solution.cm(4) as v: return v",
    "with solution.cm(4): raise KeyError",
    "async with solution.acm(4) as v: return v",
    "return [solution.cached(3), solution.cached(3), solution.cached.cache_info().hits > 0]",
    "solution.cached.cache_clear()\nreturn solution.cached.cache_info().currsize",
    "return [solution.disp(1), solution.disp('a')]",
    "return solution.part(1)",
    "return solution.add3(4)",
    "return solution.add3.args",
    "return solution.add3.func(1, 2)",
    "return solution.doubled(4)",
    "return solution.doubled.__name__",
    "return solution.doubled.__wrapped__(4)",
    "return solution.Tagged.tagged",
    "return solution.Tagged().tagged",
    "return list(solution.lazy(3))",
    "return next(solution.lazy(3))",
    "x = solution.lazy(3)\nreturn [list(x), list(x)]",
    "return list(solution.zipped())",
    "return dict(solution.zipped())",
    "return solution.view() == {('a', 1)}",
    "return list(solution.view())",
    "return ('a', 1) in solution.view()",
    "return solution.rng() == range(3)",
    "return list(solution.rng())",
    "return 2 in solution.rng()",
    "return len(solution.rng())",
    "return solution.rng()[-1]",
    "return bytes(solution.mv())",
    "return len(solution.mv())",
    "return solution.mv()[0]",
    "class Sub(solution.Seq):\n    def total(self): return sum(self.items)\nreturn Sub(1, 2).total()",
    "class Sub(solution.Shape):\n    def area(self): return 7\nreturn Sub().area()",
    "class Sub(solution.Missing): pass\nreturn Sub()[3]",
    "class Sub(solution.Err): pass\ntry: raise Sub(3)\nexcept solution.Err as e: return e.code",
    "import unittest.mock as m\nwith m.patch.object(solution.Adder, '__call__', lambda s, x: 77): return solution.Adder(1)(2)",
    "import unittest.mock as m\nwith m.patch.object(solution.Sq, 'area', lambda s: 77): return solution.f('Sq').area()",
    "old = solution.cached\nsolution.cached = lambda n: 5\ntry: return solution.cached(3)\nfinally: solution.cached = old",
    "import unittest.mock as m\nwith m.patch('solution.doubled', return_value=5): return solution.doubled(3)",
    "solution.Tagged.tagged = 3\ntry: return solution.Tagged().tagged\nfinally: solution.Tagged.tagged = True",
    "return issubclass(solution.Err, Exception)",
    "return issubclass(solution.Sq, solution.Shape)",
    "return solution.Sq.__mro__[1].__name__",
    "return hasattr(solution, 'nope')",
    "return solution.Factory(2, 5) == solution.make_interval(2, 5)",
    "return 3 in solution.make_interval(2, 5)",
    "return len(solution.make_interval(2, 5))",
    "return bool(solution.make_interval(2, 5))",
    "return 3 in solution.Factory(2, 5)",
    "return len(solution.Factory(2, 5))",
]
for m in ("solution.point(1, 2)",):
    _on(
        m,
        "return M == solution.point(1, 2)",
        "return len(M)",
        "return 2 in M",
        "return 5 in M",
        "return (M + (1, 1)).x",
        "return bool(M)",
        "return M < 3",
        "return M.x",
        "return M + (1, 1) == solution.point(2, 3)",
        "return isinstance(M, solution.point)",
        "return M != solution.point(0, 0)",
        "return M in [solution.point(1, 2)]",
        "return repr(type(M).__name__)",
    )
OPERATIONS = list(dict.fromkeys(OPERATIONS))
