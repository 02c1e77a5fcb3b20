# ruff: noqa: E501 (programs are text, not code of ours)
"""What tests of textbook programs do with classes, functions and modules of a candidate's that lives in another process
comes to what it comes to in plain Python, or is noted."""

from __future__ import annotations

from pathlib import Path

from operator_table import compared

HEAD = """import asyncio, bisect, collections, collections.abc, copy, dataclasses, functools, heapq, inspect, itertools, json
import math, operator, statistics, string, types, unittest.mock
"""
CANDIDATE = r"""
'''Module text.'''
import abc, asyncio, collections, contextlib, dataclasses, datetime, decimal, enum, fractions, functools, itertools, operator, re, typing, types, weakref
__all__ = ["f"]
__version__ = "1.2.3"
CONST = {"a": [1, 2]}
LIMIT = 5
PATTERN = re.compile(r"(\d+)-(?P<n>\w+)")
class Meta(type):
    registry = {}
    def __new__(m, name, bases, ns, **kw):
        cls = super().__new__(m, name, bases, ns)
        m.registry[name] = cls
        return cls
    def __len__(cls): return 7
    def __contains__(cls, x): return x == 1
    def __iter__(cls): return iter([1, 2])
    def create(cls, *a): return cls(*a)
    @property
    def label(cls): return cls.__name__.lower()
class M(metaclass=Meta):
    def __init__(self, v=0): self.v = v
class Sub(M): pass
class Single:
    _one = None
    def __new__(cls, *a):
        if cls._one is None: cls._one = super().__new__(cls)
        return cls._one
class Desc:
    def __set_name__(self, o, n): self.n = n
    def __get__(self, i, o=None): return self if i is None else i.__dict__.get(self.n, 0)
    def __set__(self, i, v):
        if not isinstance(v, int): raise TypeError(f"{self.n} must be int")
        i.__dict__[self.n] = v
    def __delete__(self, i): i.__dict__.pop(self.n, None)
class Typed:
    x = Desc()
    kind = "typed"
    def __init__(self, x): self.x = x
    @property
    def double(self): "Twice."; return self.x * 2
    @double.setter
    def double(self, v): self.x = v // 2
    @double.deleter
    def double(self): self.x = -1
    @functools.cached_property
    def slow(self): self.calls = getattr(self, "calls", 0) + 1; return self.calls
    @staticmethod
    def st(a, b=2): return a + b
    @classmethod
    def of(cls, a): return cls(a)
    def __eq__(self, o): return isinstance(o, Typed) and self.x == o.x
    def __hash__(self): return hash(self.x)
    def __lt__(self, o): return self.x < o.x
    def __repr__(self): return f"Typed({self.x})"
@dataclasses.dataclass(order=True)
class D:
    a: int
    b: list = dataclasses.field(default_factory=list)
    c: typing.ClassVar[int] = 3
@dataclasses.dataclass(frozen=True)
class F:
    a: int = 1
    b: str = "x"
    @property
    def both(self): return f"{self.a}{self.b}"
class NT(typing.NamedTuple):
    a: int
    b: str = "z"
    def swap(self): return (self.b, self.a)
class Color(enum.Enum):
    RED = 1
    BLUE = "b"
    CRIMSON = 1
    def nice(self): return self.name.title()
    @classmethod
    def default(cls): return cls.RED
class Num(enum.IntEnum):
    ONE = 1
    TWO = 2
class Fl(enum.Flag):
    A = enum.auto(); B = enum.auto(); C = enum.auto()
    AB = A | B
class S(str, enum.Enum):
    X = "x"
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...
    def twice(self): return 2 * self.area()
class Sq(Shape):
    def __init__(self, s): self.s = s
    def area(self): return self.s ** 2
class Stack:
    def __init__(self, items=()): self._i = list(items)
    def push(self, x): self._i.append(x); return self
    def pop(self):
        if not self._i: raise EmptyError("empty stack", code=3)
        return self._i.pop()
    def __len__(self): return len(self._i)
    def __iter__(self): return iter(self._i)
    def __getitem__(self, k): return Stack(self._i[k]) if isinstance(k, slice) else self._i[k]
    def __contains__(self, x): return x in self._i
    def __bool__(self): return bool(self._i)
    def __reversed__(self): return reversed(self._i)
    def __enter__(self): return self
    def __exit__(self, *e): self.closed = True; return False
    def __add__(self, o): return Stack(self._i + list(o))
    def __iadd__(self, o): self._i += list(o); return self
    def __eq__(self, o): return isinstance(o, Stack) and self._i == o._i
    def __str__(self): return "|".join(map(str, self._i))
    def __format__(self, s): return f"<{s}{self}>"
    def __call__(self, x=1): return x + len(self)
    def __delitem__(self, k): del self._i[k]
    def __setitem__(self, k, v): self._i[k] = v
class EmptyError(LookupError):
    def __init__(self, m, code=0): super().__init__(m); self.code = code
class Node:
    def __init__(self, v, next=None): self.v, self.next = v, next
class MyList(list):
    def second(self): return self[1]
class MyDict(dict):
    def __missing__(self, k): return k * 2
    __getattr__ = dict.get
class Counter2(collections.Counter): pass
class UD(collections.UserDict): pass
T = typing.TypeVar("T")
class Box(typing.Generic[T]):
    def __init__(self, v: T): self.v = v
class Proto(typing.Protocol):
    def run(self) -> int: ...
class Dyn:
    def __getattr__(self, n):
        if n.startswith("get_"): return lambda *a: (n[4:], *a)
        raise AttributeError(n)
    def __dir__(self): return ["x", "get_x"]
def f(x, y=2, *a, k=None, **kw): "Doc of f."; return (x, y, a, k, kw)
f.count = 3
async def co(x): await asyncio.sleep(0); return x + 1
def gen(n):
    for i in range(n):
        got = yield i
        if got: yield ("got", got)
    return "end"
async def agen(n):
    for i in range(n): yield i
@contextlib.contextmanager
def ctx(v):
    v.append("in")
    try: yield v
    finally: v.append("out")
@functools.lru_cache(maxsize=2)
def cached(x): return [x]
@functools.singledispatch
def sd(x): return "obj"
@sd.register
def _(x: int): return "int"
def make_counter():
    n = 0
    def inc():
        nonlocal n; n += 1; return n
    return inc
add = functools.partial(operator.add, 3)
sq = lambda x: x * x
def raises(kind): raise {"v": ValueError("bad"), "k": KeyError("key"), "e": EmptyError("m", 4), "o": OSError(2, "no", "file"), "s": StopIteration(1)}[kind]
def chain():
    try: 1 / 0
    except ZeroDivisionError as e: raise ValueError("outer") from e
def apply(fn, *a, **k): return fn(*a, **k)
def mapped(fn, xs): return list(map(fn, xs))
def sortit(xs, key=None): xs.sort(key=key)
def group(): raise ExceptionGroup("many", [ValueError(1), TypeError(2)])
def nested(): return {"a": [D(1), D(2)], "s": {Typed(1)}, "t": (Color.RED, NT(1))}
def types_of(): return [int, dict, D, None, ..., NotImplemented, range(3), slice(1, 2), b"x", bytearray(b"y"), 1j, decimal.Decimal("1.50"), fractions.Fraction(1, 3), datetime.date(2020, 1, 2), datetime.timedelta(1), collections.deque([1], 3), collections.OrderedDict(a=1), collections.defaultdict(list, a=[1]), frozenset({1}), types.SimpleNamespace(a=1)]
KEPT = []
def with_set(xs): return [xs, {Typed(1)}]
def keyed(): return {Typed(1): [1], Typed(2): {Typed(3)}}
def unkept(): return {Typed(1)}
def kept(): KEPT[:] = [{Typed(1)}]; return KEPT[0]
HELD = {}
def held(): return HELD
def put(s): s.add(Typed(9))
def seen(s): return (len(s), Typed(1) in s, Typed(4) in s)
"""
VALUES = r"""
isinstance(solution.M, type)
len(solution.M)
1 in solution.M
list(solution.M)
solution.M.create(3).v
solution.M.label
solution.Meta.registry.keys() >= {"M", "Sub"}
solution.Meta.registry["Sub"] is solution.Sub
type(solution.M()) is solution.M
solution.M().__class__ is solution.M
solution.M().__class__.__name__
solution.Sub.__bases__ == (solution.M,)
solution.Sub.__mro__[1] is solution.M
solution.M.__subclasses__() == [solution.Sub]
solution.Single() is solution.Single()
solution.Typed(3).x
isinstance(solution.Typed.x, solution.Desc)
solution.Typed.x.n
solution.Typed(3).double
solution.Typed.double.__doc__
solution.Typed.st(1)
solution.Typed(0).st(1, 5)
solution.Typed.of(4) == solution.Typed(4)
type(solution.Typed.of(4)) is solution.Typed
solution.Typed(1) in {solution.Typed(1)}
{solution.Typed(1): 2}[solution.Typed(1)]
sorted([solution.Typed(2), solution.Typed(1)])
min(solution.Typed(2), solution.Typed(1)).x
solution.Typed(1) != 1
vars(solution.Typed(1))
solution.Typed(1).__dict__
getattr(solution.Typed(1), "nope", 9)
hasattr(solution.Typed(1), "double")
solution.Typed.kind
callable(solution.Typed)
callable(solution.Typed(1))
'double' in dir(solution.Typed)
solution.D(1)
solution.D(1) == solution.D(1, [])
solution.D(1) < solution.D(2)
solution.D(1, [2]).b
solution.D(1).c
solution.D.__dataclass_fields__.keys()
[n for n in solution.D.__annotations__]
solution.D.__match_args__
repr(solution.D(1))
str(solution.F())
hash(solution.F()) == hash(solution.F())
{solution.F(): 1}[solution.F(1, "x")]
solution.F().both
solution.NT(1)
solution.NT(1) == (1, "z")
solution.NT(1)._replace(a=2)
solution.NT(1)._asdict()
solution.NT._fields
solution.NT(1).swap()
solution.NT._make([3, "q"])
solution.NT(1)[0]
solution.NT(1)[1:]
tuple(solution.NT(1))
isinstance(solution.NT(1), tuple)
solution.NT._field_defaults
solution.NT(1).index("z")
solution.Color.RED
solution.Color.RED.name
solution.Color.RED.value
solution.Color(1) is solution.Color.RED
solution.Color["BLUE"]
list(solution.Color)
len(solution.Color)
solution.Color.CRIMSON is solution.Color.RED
solution.Color.__members__.keys()
list(solution.Color.__members__)
solution.Color.RED in solution.Color
solution.Color.RED.nice()
solution.Color.default()
isinstance(solution.Color.RED, solution.Color)
str(solution.Color.RED)
repr(solution.Color.BLUE)
f"{solution.Color.RED}"
solution.Color.RED == 1
solution.Color.RED != solution.Color.BLUE
{solution.Color.RED: 1}[solution.Color(1)]
solution.Num.ONE == 1
solution.Num.ONE + 1
solution.Num.ONE < solution.Num.TWO
max(solution.Num)
sorted(solution.Num)
int(solution.Num.TWO)
[10, 20, 30][solution.Num.ONE]
range(5)[solution.Num.TWO]
solution.Fl.A | solution.Fl.B == solution.Fl.AB
(solution.Fl.A | solution.Fl.B) is solution.Fl.AB
solution.Fl.A in solution.Fl.AB
bool(solution.Fl.A & solution.Fl.C)
~solution.Fl.A
list(solution.Fl.AB)
solution.Fl(3)
solution.Fl.AB.value
solution.S.X == "x"
solution.S.X.upper()
"x" == solution.S.X
{"x": 1}[solution.S.X]
f"{solution.S.X.value}"
solution.Sq(3).area()
solution.Sq(3).twice()
isinstance(solution.Sq(3), solution.Shape)
issubclass(solution.Sq, solution.Shape)
solution.Shape.__abstractmethods__
len(solution.Stack([1, 2]))
list(solution.Stack([1, 2]))
solution.Stack([1, 2])[0]
solution.Stack([1, 2, 3])[1:] == solution.Stack([2, 3])
solution.Stack([1, 2])[-1]
2 in solution.Stack([1, 2])
bool(solution.Stack())
list(reversed(solution.Stack([1, 2])))
str(solution.Stack([1, 2]))
f"{solution.Stack([1]):>}"
solution.Stack([1]) + [2] == solution.Stack([1, 2])
solution.Stack([1, 2])(5)
[*solution.Stack([1, 2])]
sum(solution.Stack([1, 2]))
max(solution.Stack([1, 2]))
dict(enumerate(solution.Stack("ab")))
list(zip(solution.Stack([1]), solution.Stack([2])))
" ".join(solution.Stack("ab"))
sorted(solution.Stack([2, 1]))
set(solution.Stack([2, 1]))
any(solution.Stack([0]))
list(map(str, solution.Stack([0])))
solution.Stack([1]) == solution.Stack([1])
solution.Stack([1]) is solution.Stack([1])
iter(solution.Stack([1])).__next__()
next(iter(solution.Stack([1])))
solution.MyList([1, 2]).second()
solution.MyList([1, 2]) == [1, 2]
isinstance(solution.MyList([1]), list)
solution.MyList([1, 2])[::-1]
solution.MyList([1]) + [3]
solution.MyDict(a=1)["b"]
solution.MyDict(a=1).a
solution.MyDict(a=1) == {"a": 1}
dict(solution.MyDict(a=1))
{**solution.MyDict(a=1)}
json.dumps(solution.MyDict(a=1))
json.dumps(solution.MyList([1]))
json.dumps(solution.S.X)
solution.Counter2("aab").most_common(1)
solution.UD(a=1)["a"]
solution.UD(a=1) == {"a": 1}
solution.Box(3).v
solution.Box[int](3).v
solution.Dyn().get_x(1)
hasattr(solution.Dyn(), "nope")
dir(solution.Dyn())
solution.f(1)
solution.f(1, *[2, 3], k=4, z=5)
solution.f.__name__
solution.f.__doc__
solution.f.count
solution.f.__defaults__
solution.f.__kwdefaults__
solution.f.__module__
solution.f.__qualname__
str(inspect.signature(solution.f))
inspect.isfunction(solution.f)
inspect.isclass(solution.D)
inspect.isgenerator(solution.gen(1))
inspect.isgeneratorfunction(solution.gen)
inspect.iscoroutinefunction(solution.co)
asyncio.iscoroutinefunction(solution.co)
inspect.getdoc(solution.f)
list(inspect.signature(solution.D).parameters)
callable(solution.f)
asyncio.run(solution.co(1))
list(solution.gen(3))
next(solution.gen(3))
type(solution.gen(1)).__name__
isinstance(solution.gen(1), types.GeneratorType)
isinstance(solution.gen(1), collections.abc.Iterator)
isinstance(solution.Stack(), collections.abc.Iterable)
isinstance(solution.Stack(), collections.abc.Sized)
isinstance(solution.f, types.FunctionType)
isinstance(solution.cached, collections.abc.Hashable)
hasattr(solution.gen(1), "__next__")
iter(solution.gen(1)) is not None
(lambda g: (next(g), g.send(5), list(g)))(solution.gen(2))
(lambda g: (next(g), g.close(), list(g)))(solution.gen(2))
solution.cached(1) is solution.cached(1)
solution.cached.cache_info().hits >= 0
solution.cached.cache_info()._fields
solution.cached.__wrapped__(3)
solution.sd(1), solution.sd("x")
solution.sd.dispatch(int)(3)
[solution.make_counter()() for _ in range(3)]
(lambda c: [c(), c(), c()])(solution.make_counter())
solution.add(4)
solution.add.args
solution.add.func(1, 2)
solution.sq(3)
solution.sq.__name__
solution.apply(lambda x: x + 1, 2)
solution.apply(max, 1, 2)
solution.apply(dict, a=1)
solution.mapped(str.upper, ["a"])
solution.mapped(solution.sq, [1, 2])
list(map(solution.sq, [1, 2]))
functools.reduce(solution.add.func, [1, 2, 3])
sorted(["bb", "a"], key=solution.apply and len)
(lambda xs: (solution.sortit(xs), xs))([2, 1])
(lambda xs: (solution.sortit(xs, key=lambda v: -v), xs))([1, 2])
solution.CONST
solution.CONST["a"][0]
solution.CONST is solution.CONST
solution.LIMIT + 1
solution.PATTERN.match("12-ab").groupdict()
solution.PATTERN.pattern
solution.__version__
solution.__doc__
solution.__name__
solution.nested()["a"][0].a
solution.nested()["a"] == [solution.D(1), solution.D(2)]
solution.nested()["t"] == (solution.Color.RED, (1, "z"))
solution.Typed(1) in solution.nested()["s"]
solution.types_of()[:2]
solution.types_of()[2] is solution.D
solution.types_of()[3:9]
solution.types_of()[9:15]
solution.types_of()[15:19]
solution.types_of()[19].a
solution.types_of()[11] == 1.5
solution.types_of()[11].as_tuple().digits
copy.copy(solution.Typed(1)) == solution.Typed(1)
copy.deepcopy(solution.Stack([1])) == solution.Stack([1])
copy.deepcopy({"a": solution.D(1)}) == {"a": solution.D(1)}
dataclasses.is_dataclass(solution.D)
operator.attrgetter("x")(solution.Typed(1))
operator.itemgetter(0)(solution.Stack([1]))
operator.methodcaller("area")(solution.Sq(2))
str(solution.EmptyError("m", 3))
solution.EmptyError("m", 3).code
issubclass(solution.EmptyError, LookupError)
solution.EmptyError("m").args
repr(solution.EmptyError("m"))
isinstance(solution.Sq(1).area, collections.abc.Callable)
solution.Sq.area(solution.Sq(4))
solution.Sq(4).area.__name__
solution.Sq(4).area.__self__.s
issubclass(solution.MyDict, dict)
solution.D.__eq__ is not object.__eq__
solution.Node(1, solution.Node(2)).next.v
solution.Node(1).next is None
string.Template("$a").substitute(solution.MyDict(a=1))
"{0.x} {1[0]}".format(solution.Typed(1), solution.Stack([7]))
"%(a)s" % solution.MyDict(a=3)
isinstance(solution.Num.ONE, int)
solution.Num.ONE.bit_length()
math.sqrt(solution.Num.ONE)
statistics.mean(solution.Stack([1, 3]))
itertools.chain(solution.Stack([1]), [2]).__next__()
list(itertools.islice(solution.gen(5), 2))
collections.Counter(solution.Stack("aab"))["a"]
heapq.nsmallest(1, solution.Stack([3, 2]))
bisect.bisect(solution.Stack([1, 3]), 2)
str(solution.nested()["a"])
solution.Proto.__name__
hasattr(solution, "nope")
[n for n in dir(solution) if n.startswith("ma")]
solution.raises.__code__.co_argcount
unittest.mock.create_autospec(solution.Stack)().push(1) is not None
unittest.mock.Mock(spec=solution.Stack).push(1) is not None
unittest.mock.Mock(wraps=solution.Stack([1])).pop()
"""
"""expressions, one a line"""
ERRORS = r"""
solution.raises('v')
solution.raises('k')
solution.raises('e')
solution.raises('o')
solution.chain()
solution.Stack().pop()
solution.Shape()
solution.F().__setattr__('a', 2)
solution.Typed('a')
solution.f()
solution.D()
solution.Color(9)
solution.Color['NO']
solution.Stack([1])[9]
solution.gen(1).send(4)
solution.Dyn().nope
len(solution.Node(1))
solution.Node(1) + 1
solution.Node(1)()
solution.Node(1)[0]
iter(solution.Node(1))
solution.Node(1) < solution.Node(2)
hash(solution.D(1))
solution.Color.RED.value.x
solution.group()
solution.apply(lambda: 1/0)
solution.nope
solution.NT()
next(solution.gen(0))
asyncio.run(solution.co('a'))
solution.cached([])
solution.sq()
solution.Typed(1).zzz
"""
"""statements that raise, one a line"""
BODIES = r"""
s = solution.Stack([1, 2])
s += [3]
del s[0]
s[0] = 9
return list(s)
---
t = solution.Typed(3)
t.double = 10
a = t.x
del t.double
return (a, t.x, t.slow, t.slow)
---
with solution.Stack([1]) as s: s.push(2)
return s.closed
---
v = []
with solution.ctx(v) as w: w.append("mid")
return (v, w is v)
---
v = []
try:
    with solution.ctx(v): raise KeyError("x")
except KeyError: v.append("caught")
return v
---
n = solution.Node(1); n.next = n
return n.next.next is n
---
d = solution.D(1); d.b.append(5); e = solution.D(1)
return (d.b, e.b)
---
seen = []
def cb(x): seen.append(x); return x
solution.mapped(cb, [1, 2])
return seen
---
m = unittest.mock.Mock(return_value=4)
return (solution.apply(m, 1, k=2), m.call_args, m.call_count)
---
match solution.NT(1, "q"):
    case (1, b): return b
---
match solution.D(1, [2]):
    case solution.D(a=1, b=[x]): return x
---
match solution.Color.RED:
    case solution.Color.RED: return "red"
---
a, *b = solution.Stack([1, 2, 3])
return (a, b)
---
x = solution.Dyn()
x.y = 3
return (x.y, vars(x))
---
solution.M.extra = 5
return solution.M(1).extra
---
o = solution.M(2)
o.v += 5
setattr(o, "w", 1)
delattr(o, "v")
return vars(o)
---
class Mine:
    def run(self): return 1
    def __eq__(self, o): return True
m = Mine()
return solution.apply(lambda: m) is m
---
try: solution.raises("e")
except LookupError as e: return (e.code, isinstance(e, solution.EmptyError), type(e) is solution.EmptyError, e.__class__.__name__)
---
try: solution.group()
except* ValueError as e: r = len(e.exceptions)
except* TypeError as e: pass
return r
---
return [solution.Single() is solution.Single(), len({solution.Single(), solution.Single()})]
---
g = solution.gen(2)
out = []
while True:
    try: out.append(next(g))
    except StopIteration as e: out.append(e.value); break
return out
---
async def main(): return [x async for x in solution.agen(3)]
return asyncio.run(main())
---
async def main(): return await asyncio.gather(solution.co(1), solution.co(2))
return asyncio.run(main())
---
it = iter(solution.Stack([1, 2]))
return (next(it), list(it), next(it, "none"))
---
s = solution.Stack([3, 1])
return (sorted(s, reverse=True), s.pop(), len(s), bool(s), s.pop(), not s)
---
solution.CONST["zz"] = 1
r = "zz" in solution.CONST
del solution.CONST["zz"]
return r
---
c = solution.Color.RED
return {solution.Color.RED: "a", solution.Color.BLUE: "b"}[c]
---
x = solution.cached(77); y = solution.cached(77); solution.cached.cache_clear()
return (x is y, solution.cached(77) is x)
---
box = solution.Box("v"); box.v = [1]; box.v.append(2)
return box.v
---
p = solution.Typed(1); q = p
return (p is q, p == q, [p].index(q), q in [p], p in (solution.Typed(2),))
---
xs = [solution.Typed(3), solution.Typed(1)]
xs.sort()
return [x.x for x in xs]
---
xs = [solution.Node(3), solution.Node(1)]
return [n.v for n in sorted(xs, key=lambda n: n.v)]
---
return (max(solution.Stack([1, 5]), key=lambda v: -v), list(filter(None, solution.Stack([0, 2]))))
---
return all(isinstance(n, solution.D) for n in solution.nested()["a"])
---
return solution.Typed.__name__, solution.Typed.__module__, solution.Typed.__qualname__, solution.Typed.__doc__
"""
"""bodies of tests, with `---` between"""
HASHED = r"""
xs = [1]
y = solution.with_set(xs)
xs.append(3)
return (y[0] is xs, y[0], len(y[1]), solution.Typed(1) in y[1])
---
d = solution.keyed()
return (d[solution.Typed(1)], len(d[solution.Typed(2)]), solution.Typed(3) in d[solution.Typed(2)])
---
s = solution.kept()
s.add(solution.Typed(4))
solution.put(s)
return (solution.seen(s), len(s))
---
s = solution.unkept()
s.add(solution.Typed(4))
solution.put(s)
return (solution.seen(s), len(s), solution.Typed(9) in s)
---
return solution.unkept() == {solution.Typed(1)}
---
return sorted(x.x for x in solution.unkept() | {solution.Typed(5)})
---
return [k.x for k in solution.keyed()]
---
return {k.x: len(v) for k, v in solution.keyed().items()}
---
d = solution.held()
d[solution.Typed(1)] = [2]
return (solution.held()[solution.Typed(1)], solution.held() is d, solution.Typed(2) in solution.held())
---
d = solution.held()
d[solution.Typed(3)] = solution.Typed(4)
d[solution.Typed(4)] = {solution.Typed(3)}
return (d[d[solution.Typed(3)]] == {solution.Typed(3)}, solution.held().pop(solution.Typed(3)).x, len(d))
"""
"""bodies with sets and dicts that hold objects of a class with a hash of its own"""
TOLD = """
except Exception as e:
    parts = [type(part).__name__ for part in getattr(e, "exceptions", ())]
    return (type(e).__name__, str(e), e.args, repr(e), isinstance(e, LookupError), getattr(e, "code", None), repr(e.__cause__), parts)
"""


def _silent(folder: Path, operations: list[str]) -> dict[str, tuple[str, str]]:
    """Operations that come to something else, and are not noted."""
    found = compared(folder, CANDIDATE, [HEAD + each for each in operations])
    return {name: (plain, apart) for name, (plain, apart, notes) in found.items() if plain != apart and not notes}


def test_values_of_textbook_programs(tmp_path: Path) -> None:
    """Looks at classes, enumerations, records, containers, functions, iterators, modules and mocks."""
    assert _silent(tmp_path, [f"return {line}" for line in VALUES.strip().splitlines()]) == {}


def test_errors_of_textbook_programs(tmp_path: Path) -> None:
    """Their class, text, arguments, attributes and cause."""
    assert _silent(tmp_path, [f"try: {line}{TOLD}" for line in ERRORS.strip().splitlines()]) == {}


def test_bodies_of_textbook_tests(tmp_path: Path) -> None:
    """Statements: assignments, contexts, loops, patterns, callbacks."""
    assert _silent(tmp_path, BODIES.strip().split("\n---\n")) == {}


def test_objects_that_hash_themselves_arrive_in_sets_and_as_keys(tmp_path: Path) -> None:
    """To put one into a set is to ask the candidate for its hash, while the set is still on its way."""
    assert _silent(tmp_path, HASHED.strip().split("\n---\n")) == {}
