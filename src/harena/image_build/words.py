"""Words of a Dockerfile: quotes, escapes, and variables with all the forms that Docker has.

    $name ${name} ${name:-word} ${name-word} ${name:+word} ${name+word} ${name:?word} ${name?word}
    ${name#pattern} ${name##pattern} ${name%pattern} ${name%%pattern} ${name/pattern/word} ${name//pattern/word}

Patterns have * and ?. They are matched without backtracking, and all that comes of an expansion is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

MOST_CHARACTERS = 64 * 1024
"""characters of one expanded word"""
MOST_MATCHED = 256
"""characters of a variable that a pattern is matched against"""
MOST_PATTERN = 200
MOST_PATTERNS = 500
"""variables with a pattern, as ${name#pattern}, of one Dockerfile: each takes up to some 20 ms"""
MOST_EXPANDED = 16 * 1024 * 1024
"""characters of all expanded words of one Dockerfile"""
_MOST_NESTED = 20
_SPECIAL = "@*#?-$!"


class WordError(ValueError):
    """A word cannot be read; the message says why."""


class Expanded:
    """What the words of one Dockerfile may still take, all together."""

    def __init__(self) -> None:
        self._patterns = MOST_PATTERNS
        self._characters = MOST_EXPANDED

    def count_pattern(self) -> None:
        """One more is matched. Raises WordError."""
        self._patterns -= 1
        if self._patterns < 0:
            raise WordError(f"the Dockerfile has more than {MOST_PATTERNS} variables with patterns")

    def count_characters(self, text: str) -> str:
        """The text, which has been counted. Raises WordError."""
        self._characters -= len(text)
        if self._characters < 0:
            raise WordError(f"all words together expand to more than {MOST_EXPANDED} characters")
        return text


def expanded(text: str, variables: Mapping[str, str], escape: str = "\\", taken: Expanded | None = None) -> str:
    """A word without its quotes, with its variables' values. Raises WordError."""
    taken = taken or Expanded()
    return taken.count_characters(_Expansion(text, variables, escape, taken).whole())


def expanded_text(text: str, variables: Mapping[str, str], escape: str = "\\", taken: Expanded | None = None) -> str:
    """The content of a here-document: quotes stay. Raises WordError."""
    taken = taken or Expanded()
    return taken.count_characters(_Expansion(text, variables, escape, taken, keeps_quotes=True).whole())


class _GrowingText:
    """A text that is put together from pieces. Each is counted before it is joined: one variable may stand in a word
    half a million times."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        """Raises WordError."""
        self._left -= len(piece)
        if self._left < 0:
            raise WordError(f"it expands to more than {self._most} characters")
        self._pieces.append(piece)

    def text(self) -> str:
        return "".join(self._pieces)


class _Expansion:
    def __init__(
        self, text: str, variables: Mapping[str, str], escape: str, taken: Expanded, *, keeps_quotes: bool = False
    ) -> None:
        self._taken = taken
        self._text = text
        self._place = 0
        self._variables = variables
        self._escape = escape
        self._keeps_quotes = keeps_quotes
        self._depth = 0
        self._most = MOST_CHARACTERS if not keeps_quotes else MOST_CHARACTERS + 2 * len(text)

    def whole(self) -> str:
        return self._until("")

    def _next(self) -> str:
        char = self._text[self._place : self._place + 1]
        self._place += 1
        return char

    def _peek(self) -> str:
        return self._text[self._place : self._place + 1]

    def _until(self, stops: str) -> str:
        """Up to one of these characters, which is left there; "" = to the end."""
        self._depth += 1
        if self._depth > _MOST_NESTED:
            raise WordError(f"expressions are nested more than {_MOST_NESTED} deep")
        made = _GrowingText(self._most)
        while char := self._peek():
            if char in stops:
                break
            made.add(self._piece(char))
        else:
            if stops:
                raise WordError("${ has no }")
        self._depth -= 1
        return made.text()

    def _piece(self, char: str) -> str:
        if char == "'" and not self._keeps_quotes:
            return self._single()
        if char == '"' and not self._keeps_quotes:
            return self._double()
        self._place += 1
        if char == "$":
            return self._dollar()
        if char == self._escape:
            following = self._next()
            if self._keeps_quotes and following not in ("$", self._escape):
                return char + following
            return following
        return char

    def _single(self) -> str:
        end = self._text.find("'", self._place + 1)
        if end < 0:
            raise WordError("a ' is never closed")
        found = self._text[self._place + 1 : end]
        self._place = end + 1
        return found

    def _double(self) -> str:
        self._place += 1
        made = _GrowingText(self._most)
        while (char := self._next()) != '"':
            if not char:
                raise WordError('a " is never closed')
            if char == "$":
                made.add(self._dollar())
            elif char == self._escape:
                following = self._next()
                made.add(following if following in ('"', "$", self._escape) else char + following)
            else:
                made.add(char)
        return made.text()

    def _dollar(self) -> str:
        if self._peek() == "{":
            self._place += 1
            value = self._braces()
        else:
            name = self._name()
            value = self._variables.get(name, "") if name else "$"
        return value

    def _name(self) -> str:
        begin = self._place
        char = self._peek()
        if char.isascii() and (char.isalpha() or char == "_"):
            while (char := self._peek()) and char.isascii() and (char.isalnum() or char == "_"):
                self._place += 1
        elif char and (char in _SPECIAL or char.isdigit()):
            self._place += 1
        return self._text[begin : self._place]

    def _braces(self) -> str:
        name = self._name()
        if not name:
            raise WordError("${ is followed by no name of a variable")
        value = self._variables.get(name)
        char = self._next()
        if char == "}":
            return value or ""
        if char in ("#", "%"):
            doubled = self._peek() == char
            self._place += doubled
            pattern = self._word()
            self._taken.count_pattern()
            cut = without_prefix if char == "#" else without_suffix
            return cut(value or "", pattern, longest=doubled)
        if char == "/":
            every = self._peek() == "/"
            self._place += every
            pattern = self._until("/}")
            by = ""
            if self._next() == "/":
                by = self._word()
            self._taken.count_pattern()
            return replaced(value or "", pattern, by, every=every)
        if counts_empty := char == ":":
            char = self._next()
        if char not in ("-", "+", "?") or not char:
            raise WordError(f"${{{name}{':' if counts_empty else ''}{char} is no form of a variable")
        word = self._word()
        is_set = bool(value) if counts_empty else value is not None
        if char == "+":
            return word if is_set else ""
        if char == "?" and not is_set:
            raise WordError(f"{name}: {word or 'it is not set'}")
        return (value or "") if is_set else word

    def _word(self) -> str:
        word = self._until("}")
        self._place += 1
        return word


def without_prefix(value: str, pattern: str, *, longest: bool) -> str:
    """A value without what the pattern matches at its begin. Raises WordError."""
    ends = [*_matches(value, _tokens(value, pattern))]
    if not ends:
        return value
    return value[max(ends) if longest else min(ends) :]


def without_suffix(value: str, pattern: str, *, longest: bool) -> str:
    """A value without what the pattern matches at its end. Raises WordError."""
    ends = [*_matches(value[::-1], _tokens(value, pattern)[::-1])]
    if not ends:
        return value
    cut = max(ends) if longest else min(ends)
    return value[: len(value) - cut]


def replaced(value: str, pattern: str, by: str, *, every: bool) -> str:
    """A value in which the longest match of the pattern, or each, is another text. Raises WordError."""
    pattern = _tokens(value, pattern)
    made = _GrowingText(MOST_CHARACTERS)
    place = 0
    while place < len(value):
        length = max(_matches(value[place:], pattern), default=0)
        if not length:
            made.add(value[place])
            place += 1
            continue
        made.add(by)
        place += length
        if not every:
            made.add(value[place:])
            break
    return made.text()


def _tokens(value: str, pattern: str) -> str:
    """The pattern, with * for several of them that follow each other."""
    if len(value) > MOST_MATCHED or len(pattern) > MOST_PATTERN:
        raise WordError(f"a pattern has at most {MOST_PATTERN} characters, and a value to match {MOST_MATCHED}")
    while "**" in pattern:
        pattern = pattern.replace("**", "*")
    return pattern


def _matches(value: str, pattern: str) -> Iterator[int]:
    """Lengths of the beginnings of a value that the pattern matches: a bit for each place in it, all followed at
    once."""
    stars = any_one = 0
    following: dict[str, int] = {}
    for place, char in enumerate(pattern):
        bit = 1 << place
        if char == "*":
            stars |= bit
        elif char == "?":
            any_one |= bit
        else:
            following[char] = following.get(char, 0) | bit
    last = 1 << len(pattern)
    now = 1 | (1 & stars) << 1
    if now & last:
        yield 0
    for place, char in enumerate(value):
        now = (now & (any_one | following.get(char, 0))) << 1 | now & stars
        now |= (now & stars) << 1
        if not now:
            return
        if now & last:
            yield place + 1
