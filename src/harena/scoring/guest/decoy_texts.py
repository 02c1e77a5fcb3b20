"""Texts with the visible features of a known one: length, classes of characters at each place, alphabet, words, ends.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

from functools import partial

from harena.scoring.guest.decoy_numbers import whole_frame
from harena.scoring.guest.secure_random import below, one_of, shuffled, some_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_SMALL, _CAPITAL, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
_CLASSES = {each: chars for chars in (_SMALL, _CAPITAL, _DIGITS) for each in chars}
_MARKS = "!#$%&*+-./:;<=>?@^_|~()[]{}"
_REACH = 12
_MOST_PLACES = 64
"""places of a long text that are changed in it"""
_LONG = 4096
_MOST_DIGITS, _TRIES = 30, 4


def _of_class(char: str) -> str:
    """Characters of the same class that are other letters, whatever their case."""
    found = _CLASSES.get(char)
    if found is None:
        found = _CLASSES[char] = _near_characters(char) if char.isalnum() and char > "\x7f" else ""
    return found


def _near_characters(char: str) -> str:
    def kind(each: str) -> tuple[bool, ...]:
        return each.isalpha(), each.isupper(), each.islower(), each.isdigit()

    around = map(chr, range(ord(char) - _REACH, ord(char) + _REACH + 1))
    return "".join(each for each in around if each > "\x7f" and kind(each) == kind(char) and len(each.lower()) == 1)


def folded(text: str) -> str:
    """What is left of a text for one who heeds neither case nor space."""
    return "".join(text.split()).casefold()


def alike_texts(known: str, most: int) -> list[Any]:
    """Other texts with the same classes of characters at each place."""
    places = _places(known)
    return _others(known, [lambda: _redrawn(known, places)] * most)


def text_frame(known: str) -> list[list[Any]]:
    """Families of texts round a known one. None differs from it in case or space alone."""
    places = _places(known)
    edge = _more(known)
    families = [[known + edge], [edge + known]]
    if not known:
        return [*families, [" " + edge], [edge + one_of(_SMALL)]]
    if places:
        one = {places[0], places[-1], *some_of(places, 3)}
        families += [_others(known, [partial(_redrawn, known, [place])]) for place in one]
        middle = len(places) // 2
        families += [
            _others(known, [partial(_redrawn, known, part)] * count)
            for part, count in ((places, 4), (places[:middle], 2), (places[middle:], 2), (places[1:-1], 2))
            if part
        ]
    if len(known) > _LONG:
        return [family for family in families if family]
    if places:
        families.append(_others(known, [lambda: _mapped(known)] * 2))
    own = [*{*known}]
    if len(own) > 1:
        families.append(_others(known, [lambda: _redrawn(known, places, own)] * 3))
        families.append(_others(known, [lambda: "".join(_reordered(known))] * 2))
    if len(known) > 1:
        families += _of_forms(known, places)
    return [family for family in families if family]


def _of_forms(known: str, places: Sequence[int]) -> list[list[Any]]:
    """Others of a form that texts are known by: palindromes, letters in order, numbers, words, lines."""
    families = []
    if known == known[::-1]:
        families.append(_others(known, [lambda: _mirrored(_redrawn(known, places))] * 2))
    if [*known] == sorted(known):
        families.append(_others(known, [lambda: "".join(sorted(_redrawn(known, places)))] * 2))
    digits = known[1:] if known[0] == "-" else known
    if {*digits} <= {*_DIGITS} and len(digits) <= _MOST_DIGITS and (digits[0] != "0" or digits == "0"):
        families += [[str(each) for each in family] for family in whole_frame(int(known))]
    for parted in (" ", "\n", ",", ", "):
        parts = known.split(parted)
        if len(parts) > 1 and len({*parts}) > 1:
            families.append(_others(known, [lambda: parted.join(_reordered(parts))] * 2))  # noqa: B023 (used at once)
    return families


def _others(known: str, makers: Sequence[Callable[[], str]]) -> list[Any]:
    found = [make() for make in makers]
    if len(known) > _LONG:  # other characters stand in it, whatever their case
        return [each for each in found if each != known]
    wanted = folded(known)
    return [each for each in found if each != known and (folded(each) != wanted or not wanted)]


def _places(known: str) -> list[int]:
    """Where another character of the same class can stand; in a text of marks, everywhere but in spaces."""
    some = range(len(known))
    if len(known) > _LONG:
        some = sorted({0, len(known) - 1, *(below(len(known)) for _ in range(_MOST_PLACES))})  # type: ignore[assignment]
    found = [place for place in some if _of_class(known[place])]
    return found or [place for place in some if not known[place].isspace()]


def _redrawn(known: str, places: Sequence[int], own: Sequence[str] = ()) -> str:
    """The text with other characters at these places, each of the class of the one there or one of its own."""
    chars = [*known]
    changed = some_of(places, _MOST_PLACES) if len(places) > _MOST_PLACES else places
    for place in changed:
        among = own or _of_class(chars[place]) or _MARKS
        chars[place] = one_of(among)
    if len(changed) == 1 and not own:
        place = changed[0]
        among = [each for each in _of_class(known[place]) or _MARKS if each != known[place]]
        chars[place] = one_of(among) if among else known[place]
        if place == 0 and chars[0] == "0" and len(known) > 1:  # who reads numbers would find one digit less
            chars[0] = one_of([each for each in "123456789" if each != known[0]])
    elif changed and known[0] in "123456789" and chars[0] == "0":
        chars[0] = one_of("123456789")
    return "".join(chars)


def _mapped(known: str) -> str:
    """The text with each character in the place of another one, everywhere."""
    made: dict[str, str] = {}
    step = 1 + below(9)
    for each in {*known}:
        chars = _of_class(each)
        made[each] = chars[(chars.index(each) + step) % len(chars)] if chars else each
    return "".join([made[each] for each in known])


def _reordered(parts: Sequence[str]) -> list[str]:
    """The parts in another order, if there is one."""
    wanted = list(parts)
    made = next((each for each in (shuffled(wanted) for _ in range(_TRIES)) if each != wanted), wanted)
    return made if made != wanted else [*wanted[1:], *wanted[:1]]


def _mirrored(text: str) -> str:
    half = text[: (len(text) + 1) // 2]
    return half + half[: len(text) // 2][::-1]


def _more(known: str) -> str:
    """A character that may follow, or stand before it."""
    last = next((each for each in reversed(known[-64:]) if _of_class(each)), "")
    found = one_of(_of_class(last) or (_MARKS if known and not known.isspace() else _SMALL))
    return one_of("123456789") if found == "0" else str(found)
