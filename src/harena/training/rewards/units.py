r"""Whether words behind a number only say what it counts or measures, and leave it what it is.

    12\text{ cm}, 12\text{ kg m/s}, 12\text{ positive integers}, 12\text{ miles per hour}, 12\text{ of the cookies}

They are known units, or things in English: a noun in its plural, with adjectives before it, and what belongs to it
behind it. All else (a sentence, a denial, a letter, a base, a multiplier) may make another number of it: it is no unit.
"""

from __future__ import annotations

import re

from harena.scoring.formats.final_number import NO_UNITS
from harena.scoring.formats.number_words import NUMBER_WORD


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SYMBOLS = _words(
    """m g s h l L N J W V C F K A cm mm km nm dm kg mg ml mL cl dl dL kL Hz kHz MHz Pa kPa kW kWh MW kJ eV mol rad
    deg in ft yd yds mi lb lbs oz qt pt gal tsp tbsp min mins sec secs hr hrs wk wks mo yr yrs mph kph fps rpm
    am pm AM PM sq cu ha ac bpm GB MB KB TB ppm dB ms pc pcs USD EUR GBP INR Rs cents rev units"""
)
"""signs and abbreviations of units"""
BARE_SYMBOLS = frozenset("mgshLNJWV")
"""letters that are units, and no variables, behind a space"""
_NAMES = re.compile(
    r"""(?:kilo|centi|milli|micro|nano|mega|deci|giga)?(?:meter|metre|gram|liter|litre|watt|joule|hertz|byte|bit|second
      |volt|pascal|newton|ampere|amp|ohm|mole|calorie)
    | minute|hour|day|week|month|year|decade|inch|foot|yard|mile|ounce|pound|ton|tonne|gallon|quart|pint|cup|tablespoon
    | teaspoon|degree|radian|dollar|cent|euro|rupee|peso|yen|yuan|percent|unit|point|kelvin|celsius|fahrenheit|acre
    | hectare|knot|person|square|cubic|sq|cu
    | feet|inches|people|men|women|children|teeth|geese|mice|oxen|dice|sheep|fish|deer|data|vertices|indices|matrices
    | centuries|total|(?:work|school)men|o'clock""",
    re.VERBOSE | re.IGNORECASE,
)
_PLURAL = re.compile(r"[a-z-]{2,30}(?<![sui])s", re.IGNORECASE)
_NO_THINGS = _words(
    """fails lacks misses lies repeats recurs exceeds violates contradicts varies depends means equals follows
    remains does goes gives leads makes needs says seems tells was less plus minus towards always perhaps
    besides unless dozens scores grosses powers inverses reciprocals negatives base bases"""
)
"""words that end as a plural does, and are no things, or not in a count"""
_FUNCTION_WORDS = _words(
    """is are was were be been being am isn aren wasn weren has have had do did doesn don didn can cannot could
    couldn will would wouldn shall should may might must not no nor never neither either none nothing nobody
    but if because since so then unless while when where which who what that this these those it its i you we
    they he she and or except however actually wait maybe perhaps probably possibly only just about above after
    against almost around before behind below beneath between beyond by down during than nearly off out over
    past through toward under until up without least most less much many few any some too very another both half
    twice thrice double triple quadruple at as minus plus squared cubed factorial yes ok t s third quarter"""
)
"""words with which a sentence, a comparison or a computation is made: none of them names a thing"""
_NO_HEADS = _words(
    """base binary octal hex hexadecimal decimal power root inverse reciprocal negative raised repeating recurring bar
    point wrong incorrect false untrue impossible invalid extraneous rejected error mistake correct right opposite
    square cubic sq cu modulo real"""
)
"""words that say how a number is, or is to be read: adjectives before a thing, and none themselves"""
_POWER = re.compile(r"(?<=[a-z])[ ](?:squared|cubed)$")
_TIMES = re.compile(r"times[ ](?:as[ ](?:many|much|long|large|big|far|fast|old|likely)|(?:larger|longer|faster|more))")
_DONE = re.compile(r"[a-z]{2,}ed|won|sold|read|lost|made|sent|eaten|taken|given|left|built|bought|spent|drawn")
_TAKEN = _words("values solutions roots choices pairs integers possibilities")
_ORDINAL = re.compile(r"(?:[a-z]+(?:teen|tie)|eleven|twelf|hundred|[a-z]+illion)ths?|(?:fif|six|seven|eigh|nin|ten)th")
_TAILS = _words("tall long high wide deep old away each total apart ago later altogether left remaining more")
_ALONE = _words("each total left remaining altogether more fewer")
_JOINTS = re.compile(r"[ ]*(?:/|\b(?:per|of|in|for|and|with|to|on|at|from)\b)[ ]*", re.IGNORECASE)
_FIRST_JOINTS = frozenset({"/", "per", "of", "in", "for"})
"""joints that may stand directly behind the number"""
_ARTICLES = _words("a an the each every his her their its our all")
_LONGEST = 80
_LONGEST_MEASURED = 400
_MOST_WORDS = 5
_TEXT_COMMANDS = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal|up)?|mbox|hbox|mathrm|mathbf|mathit|operatorname)(?![A-Za-z])|[{~]|\\[,;: !]"
)
"""what stands before words, and brackets and spaces around them"""


def is_unit(phrase: str, *, is_one: bool = False) -> bool:
    """Whether the words are a unit of the number before them. `is_one`: it is 1, or a part of it, and a thing need not
    be in its plural."""
    text = re.sub(r"(?<=[A-Za-z])\.", "", phrase).strip(" ,~")
    if not text or len(text) > _LONGEST or not re.fullmatch(r"[A-Za-z\u00b5\u03a9 /'\u2019-]+", text):
        return False
    if _TIMES.fullmatch(text):
        return True
    words = re.split(r"[ /-]+", _POWER.sub("", text))
    if all(word == "per" or _is_known(word) for word in words) and words[-1].lower() not in _NO_HEADS:
        return True
    groups, joints = _JOINTS.split(text), [found[0].strip().lower() for found in _JOINTS.finditer(text)]
    if not groups[0]:
        groups, is_joined = groups[1:], joints[0] in _FIRST_JOINTS
        return is_joined and all(_is_thing(group, True) for group in groups)
    if not _is_thing(groups[0], is_one) or (joints and "percent" in groups[0].lower().replace(" ", "")):
        return False
    head = groups[0].split()[-1]
    return all(
        (joint == "of" and not is_one and re.fullmatch(NUMBER_WORD, group.lower()) is not None)
        or (joint in ("of", "for") and head in _TAKEN and re.fullmatch("[a-z]", group) is not None)
        or _is_thing(group, joint != "and")
        for joint, group in zip(joints, groups[1:], strict=True)
    )


def _is_known(word: str) -> bool:
    return word in SYMBOLS or _NAMES.fullmatch(word) is not None or _NAMES.fullmatch(_singular(word)) is not None


def is_thing(words: str) -> bool:
    """Whether the words name something, as a title does: `Total`, `Number of ways`."""
    return all(_is_thing(group, True) for group in _JOINTS.split(words.strip()))


def _is_thing(group: str, may_be_one: bool) -> bool:
    words = re.findall(r"[A-Za-z\u00b5\u03a9'\u2019-]+", group)
    if words and words[0].lower() in _ARTICLES and len(words) > 1:
        words, may_be_one = words[1:], True
    if words and (words[0] in _ALONE or (words[0] == "all" and may_be_one)) and len(words) == 1:
        return True
    if not 0 < len(words) <= _MOST_WORDS or any(map(_changes, words)):
        return False
    while len(words) > 1 and (words[-1].lower() in _TAILS or _DONE.fullmatch(words[-1])):
        words.pop()
    head = words[-1]
    if head.lower() in _NO_HEADS or head.lower() in _NO_THINGS:
        return False
    if _is_known(head):
        return True
    return _PLURAL.fullmatch(head) is not None or (may_be_one and len(head) > 2)


def _changes(word: str) -> bool:
    """Whether it is no word of a thing."""
    low = word.lower().replace("\u2019", "'")
    return (
        any(part in _FUNCTION_WORDS for part in re.split("['-]", low))
        or (len(word) == 1 and word not in SYMBOLS)
        or NO_UNITS.fullmatch(word) is not None
        or re.fullmatch(NUMBER_WORD, low) is not None
        or _ORDINAL.fullmatch(low) is not None
    )


def _singular(word: str) -> str:
    return re.sub(r"(?<=[a-z]{2})s$", "", word)


_PREFIXES = {
    "kilo": "k",
    "centi": "c",
    "milli": "m",
    "micro": "\u00b5",
    "nano": "n",
    "mega": "M",
    "deci": "d",
    "giga": "G",
}
_BASES = {
    "m": ("length", "met(?:er|re)"), "g": ("mass", "gram(?:me)?"), "t": ("mass", "tonne"),
    "l": ("volume", "lit(?:er|re)"), "s": ("time", "sec(?:ond)?"), "J": ("energy", "joule"),
    "eV": ("energy", "electron-?volt"), "Wh": ("energy", "watt-hour"), "cal": ("energy", "calorie"),
    "W": ("power", "watt"), "Hz": ("frequency", "hertz"), "Pa": ("pressure", "pascal"), "B": ("memory", "byte"),
    "bit": ("memory", "bit"), "V": ("tension", "volt"), "N": ("force", "newton"), "mol": ("amount", "mole"),
}  # fmt: skip
"""units with prefixes: symbol -> what they measure, the name"""
_OTHERS = {
    "length": {"in": "inch|inches", "ft": "foot|feet", "yd": "yard", "mi": "mile"},
    "mass": {"lb": "pound|lbs", "oz": "ounce"},
    "volume": {"gal": "gallon", "qt": "quart", "pt": "pint", "cup": "cups?", "tsp": "teaspoon", "tbsp": "tablespoon"},
    "time": {"min": "minute", "h": "hour|hrs?", "day": "days?", "wk": "week", "mo": "month", "yr": "year",
             "decade": "decades?", "century": "centur(?:y|ie)"},
    "area": {"ha": "hectare", "ac": "acre"},
    "angle": {"deg": "degree", "rad": "radian"},
    "money": {"cent": "cents?", "USD": "dollar", "EUR": "euro", "GBP": "pounds? sterling"},
    "temperature": {"kelvin": "kelvins?", "celsius": "celsius", "fahrenheit": "fahrenheit"},
}  # fmt: skip
"""units without prefixes: what they measure -> symbol: name"""
_PER_HOUR = {"mph": ("mi", "h"), "kph": ("km", "h"), "kmh": ("km", "h")}
_QUANTITIES: dict[str, tuple[str, str]] = {
    symbol: (quantity, symbol) for quantity, units in _OTHERS.items() for symbol in units
} | {
    prefix + base: (quantity, prefix + base)
    for base, (quantity, _) in _BASES.items()
    for prefix in ("", *_PREFIXES.values())
}
"""symbol -> (what it measures, the symbol)"""
_BY_NAME = tuple(
    (re.compile(f"(?:{name})s?", re.IGNORECASE), (quantity, symbol))
    for quantity, units in _OTHERS.items()
    for symbol, name in units.items()
)
_BY_LONG_NAME = tuple(
    (re.compile(f"({'|'.join(_PREFIXES)})?{name}s?", re.IGNORECASE), quantity, base)
    for base, (quantity, name) in _BASES.items()
)
_WRITTEN_UNIT = re.compile(
    r"(?<![A-Za-z\\])(?:(square|sq|cubic|cu)(?![A-Za-z])\.?[ ]*)?([A-Za-z\u00b5][A-Za-z-]*)(?![A-Za-z])"
    r"(?:[} ]*\^[ ]*\{?[ ]*([23])|[ ](squared|cubed))?"
)
_POWERS = {"sq": "2", "cu": "3"}


def other_measure(one: str, other: str) -> bool:
    """Whether two texts give their numbers in units of one quantity, and in others: grams and kilograms, square and
    cubic metres."""
    measured = [_measures(text) for text in (one, other)]
    return any(
        measured[0][quantity].isdisjoint(measured[1][quantity]) for quantity in measured[0].keys() & measured[1].keys()
    )


def _measures(text: str) -> dict[str, set[str]]:
    """The units that stand behind a number, by what they measure; powers of lengths are quantities of their own."""
    number = re.search(r"\d", text)
    found: dict[str, set[str]] = {}
    if number is None or len(text) > _LONGEST_MEASURED:
        return found
    behind = _TEXT_COMMANDS.sub(" ", text[number.end() :])
    for written in _WRITTEN_UNIT.finditer(behind):
        power = written[3] or _POWERS.get((written[1] or written[4] or "")[:2])
        for quantity, symbol in _units_of(written[2]):
            found.setdefault(quantity, set()).add(symbol)
            if power is not None:
                found.setdefault(f"{quantity} to a power", set()).add(power)
    return found


def _units_of(word: str) -> list[tuple[str, str]]:
    """(What it measures, the unit's symbol) of each unit that a word names."""
    if parts := _PER_HOUR.get(word.lower()):
        return [_QUANTITIES[part] for part in parts]
    if known := _QUANTITIES.get(re.sub("L$", "l", word)):
        return [known]
    for pattern, unit in _BY_NAME:
        if pattern.fullmatch(word):
            return [unit]
    for pattern, quantity, base in _BY_LONG_NAME:
        if named := pattern.fullmatch(word):
            return [(quantity, _PREFIXES.get((named[1] or "").lower(), "") + base)]
    return []


__all__ = ["BARE_SYMBOLS", "SYMBOLS", "is_thing", "is_unit", "other_measure"]
