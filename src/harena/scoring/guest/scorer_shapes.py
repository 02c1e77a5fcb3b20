"""Whether a `python` scorer has an answer for anything at all that a candidate may say.

Many scorers take one form only (`json.loads(run.stdout)["result"]["value"]`, `re.search(...)[1]`), and raise for a
candidate that says nothing. Here such a scorer is shown the texts and numbers that stand in its source, and then texts
that have any form: what is parsed, searched or split of them gives a value that has every key, every group and as many
parts as it likes. Where none of them gets a score, what the source itself shows of its author's mistakes is told: such
a text leads a scorer further than any that is plain. It runs in a sandbox of its own, where nothing of the candidate
is.
"""

from __future__ import annotations

import ast
import csv
import io
import itertools
import json
import re
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from harena.scoring.guest.scorer_faults import own_fault, sources_of, tree_of

_MOST_SIZES = 16
_MOST_CONSTANTS = 40
_MOST_CONSTANT = 10_000
"""number of texts of the source that are tried as answers, and characters of one"""
_SECONDS = 1.0
"""processor time for one try"""


class Form:
    """How the texts of one try behave."""

    agrees = False
    """whether comparisons and searches say yes"""
    size = 1


class AnyText(str):
    """A text of any form."""

    __hash__ = str.__hash__

    def __len__(self) -> int:
        return Form.size

    def __iter__(self) -> Iterator[Any]:
        return iter([self] * Form.size)

    def __getitem__(self, key: Any) -> Any:
        return self

    def __contains__(self, item: Any) -> bool:
        return Form.agrees

    def __eq__(self, other: object) -> bool:
        return Form.agrees

    def __ne__(self, other: object) -> bool:
        return not Form.agrees

    def __bool__(self) -> bool:
        return Form.agrees

    def split(self, *_: Any, **__: Any) -> Any:
        """Give as many parts as are wanted."""
        return [self] * Form.size

    rsplit = splitlines = split

    def partition(self, sep: str) -> Any:
        """Three."""
        return self, sep, self

    rpartition = partition

    def strip(self, chars: str | None = None) -> Any:
        """All of it."""
        return self

    lstrip = rstrip = strip

    def lower(self) -> Any:
        """All of it."""
        return self

    upper = casefold = title = lower

    def replace(self, *_: Any, **__: Any) -> Any:
        """All of it."""
        return self

    removeprefix = removesuffix = replace

    def startswith(self, *_: Any) -> bool:
        """Agree where comparisons do."""
        return Form.agrees

    endswith = startswith

    def find(self, *_: Any) -> int:
        """At the beginning."""
        return 0

    index = rfind = rindex = find

    def __mod__(self, values: Any) -> Any:
        """Take any values: it may be a template."""
        return Filled(str.__str__(self))


class Filled(AnyText):
    """A template of any form that was filled in. It is a text: who uses it as a number has meant the remainder of a
    division, and has that from no answer."""

    __hash__ = str.__hash__

    def _no_number(self, *_: Any) -> Any:
        raise TypeError

    __bool__ = __int__ = __float__ = _no_number

    def __eq__(self, other: object) -> bool:
        return Form.agrees if isinstance(other, str) else self._no_number()

    def __ne__(self, other: object) -> bool:
        return not Form.agrees if isinstance(other, str) else self._no_number()


def _itself(self: Any, *_: Any, **__: Any) -> Any:
    return self


def _agrees(self: Any, *_: Any) -> bool:
    return Form.agrees


class Value(AnyText):
    """What is parsed of such a text, or found in it: an object, a list, a text, a number or a match."""

    __hash__ = str.__hash__
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _itself
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __abs__ = __round__ = _itself
    __lt__ = __gt__ = __le__ = __ge__ = _agrees
    get = pop = setdefault = copy = _itself
    group = groups = groupdict = _itself
    read = readline = getvalue = _itself
    append = extend = update = sort = reverse = _itself
    is_integer = _agrees

    def __int__(self) -> int:
        return int(str.__str__(self))

    __index__ = __int__

    def __float__(self) -> float:
        return float(str.__str__(self))

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def keys(self) -> Any:
        """Keys or values of an object."""
        return [self] * Form.size

    values = keys

    def items(self) -> Any:
        """Items of an object."""
        return [(self, self)] * Form.size

    def start(self, *_: Any) -> int:
        """Start or end of a match."""
        return 0

    end = start

    def span(self, *_: Any) -> tuple[int, int]:
        """Start and end of a match."""
        return 0, 0


class _Pattern:
    """A compiled regular expression that finds itself in each text of any form."""

    def __init__(self, pattern: Any) -> None:
        self._pattern = pattern

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._pattern, name)
        kind = _FOUND.get(name)
        if kind is None:
            return found
        place = 1 if name in ("sub", "subn") else 0
        return lambda *told, **named: (
            kind(told[place]) if len(told) > place and isinstance(told[place], AnyText) else found(*told, **named)
        )


def _match(text: Any) -> Any:
    return Value(str.__str__(text)) if Form.agrees else None


def _matches(text: Any) -> Any:
    return [Value(str.__str__(text))] * Form.size


_FOUND: dict[str, Callable[[Any], Any]] = {
    "match": _match,
    "fullmatch": _match,
    "search": _match,
    "findall": _matches,
    "finditer": lambda text: iter(_matches(text)),
    "split": _matches,
    "sub": lambda text: text,
    "subn": lambda text: (text, Form.size),
}


def _reads_any_form() -> None:
    """Parsers of the standard library take texts of any form from here on."""
    for place, name in (
        (json, "loads"), (ast, "literal_eval"), (csv, "reader"), (csv, "DictReader"), (io, "StringIO"),
    ):  # fmt: skip
        setattr(place, name, _parser(getattr(place, name)))
    for name in ("decode", "raw_decode"):
        setattr(json.JSONDecoder, name, _decoder(getattr(json.JSONDecoder, name)))
    plain = re.compile

    def compiled(pattern: Any, flags: Any = 0) -> Any:
        return pattern if isinstance(pattern, _Pattern) else _Pattern(plain(pattern, flags))

    def of_module(name: str) -> Callable[..., Any]:
        takes = {"sub": 3, "subn": 3}.get(name, 2)
        return lambda pattern, *told, flags=0: getattr(
            compiled(pattern, told[takes - 1] if len(told) == takes else flags), name
        )(*told[: takes - 1])

    for name in _FOUND:
        setattr(re, name, of_module(name))
    re.compile = compiled


def _parser(plain: Callable[..., Any]) -> Callable[..., Any]:
    def parsed(text: Any = "", *told: Any, **named: Any) -> Any:
        first = text[0] if isinstance(text, list) and text else text  # lines, too
        return Value(str.__str__(first)) if isinstance(first, AnyText) else plain(text, *told, **named)

    return parsed


def _decoder(plain: Callable[..., Any]) -> Callable[..., Any]:
    def decoded(self: Any, text: Any, *told: Any, **named: Any) -> Any:
        if not isinstance(text, AnyText):
            return plain(self, text, *told, **named)
        value = Value(str.__str__(text))
        return (value, 1) if plain.__name__ == "raw_decode" else value

    return decoded


def _isinstance(value: Any, kinds: Any) -> bool:
    return Form.agrees if type(value) is Value else isinstance(value, kinds)


def _sizes(program: ast.Module) -> list[int]:
    """How many parts a text may have: what scorers unpack, and the numbers that this one names."""
    nodes = list(ast.walk(program))
    named = {node.value for node in nodes if isinstance(node, ast.Constant) and type(node.value) is int}
    named |= {len(node.elts) for node in nodes if isinstance(node, ast.Tuple)}
    near = [size for number in sorted(named) if 0 <= number <= 1000 for size in (number, number + 1)]
    return list(dict.fromkeys([1, 2, 3, 4, *near]))


def _constants(source: str) -> list[str]:
    """Texts and numbers of a source: what a scorer compares with, or looks up, is often written there."""
    nodes = (node for program in _programs(source) for node in ast.walk(program))
    found = [node.value for node in nodes if isinstance(node, ast.Constant) and type(node.value) in (str, int, float)]
    return list(dict.fromkeys(str(value) for value in found if len(str(value)) <= _MOST_CONSTANT))[:_MOST_CONSTANTS]


def _programs(source: str) -> Iterator[ast.Module]:
    for text in sources_of(source).values():
        tree = tree_of(text)
        if tree is not None:
            yield tree


def answer_of_any_form(
    source: str, seen: dict[str, Any], run: Callable[[dict[str, Any]], Any], score_of: Callable[..., dict[str, Any]]
) -> dict[str, Any]:
    """The score of the first text that the scorer takes; else `fault`, what its author did wrong (see `own_fault`)."""
    sizes = [size for program in _programs(source) for size in _sizes(program)] or [1]
    signal.signal(signal.SIGPROF, _too_long)
    faults: list[str] = []

    def scored(text: str, **more: Any) -> dict[str, Any] | None:
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)
        try:
            return score_of(source, run(_told(seen, text)), **more)
        except BaseException as error:  # noqa: BLE001 - whatever a scorer raises, SystemExit too, is no answer
            signal.setitimer(signal.ITIMER_PROF, 0)
            faults.append(own_fault(error, source, is_idle=True))
            return None
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    for constant in _constants(source):
        if (made := scored(constant)) is not None:
            return made
    _reads_any_form()
    for text, agrees, size in itertools.product(("1", "0"), (True, False), list(dict.fromkeys(sizes))[:_MOST_SIZES]):
        Form.agrees, Form.size = agrees, size
        if (made := scored(AnyText(text), isinstance=_isinstance)) is not None:
            return made
    return {"fault": next(filter(None, faults), "")}


def _told(seen: dict[str, Any], said: str) -> dict[str, Any]:
    """A run that says a text wherever a candidate says one."""
    trusted = ("entry", "scenario_id", "outcome")
    told = {name: said if isinstance(value, str) and name not in trusted else value for name, value in seen.items()}
    told["files"] = dict.fromkeys([*seen["files"], *seen["output_files"]], said)
    told["candidate"] = dict.fromkeys(seen["candidate"], said)
    return told


def _too_long(*_: Any) -> None:
    raise TimeoutError
