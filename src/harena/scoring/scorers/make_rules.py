"""What the rules of a trusted Makefile say of its targets, and how `make` is started so that it believes nobody.

`make` runs no recipe of a target that is there already. So whoever makes a file or folder of the name of a check, or
the stamp that a check leaves, has `make` say that it has passed. Which targets these are is told by the recipe alone: a
check makes no file of its target's name, a stamp is made by `touch` behind the check, and what a recipe makes of
something else is made anew. What a recipe makes of nothing (a folder, a first version) is whoever's was there first.

Where a command has `make` run once, each recipe is run (`-B`), but for these and for what the command has made itself
before. Where it is run more often, a recipe that leaves a stamp may be one that works only once (`patch`), and a result
may have been changed since, so that only checks are run each time, as if `.PHONY` named them. What asks whether
something is up to date is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath

VARIABLE = "GNUMAKEFLAGS"
"""what GNU make takes options from, before those of `MAKEFLAGS`"""
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
"""in the order in which `make` looks for them"""
MOST_COMMENTED = 64 * 1024
"""characters of a text in which comments are looked for"""
_LONGEST_LINE = 10_000
_MOST_RULES = 1000
_MOST_NAMES = 1000
_MOST_FLAGS = 64 * 1024
"""characters of a variable"""
_MOST_RECIPE = 5000
_MOST_TEXT = 1_000_000
_RULES = re.compile(r"(?:gnu)?makefile(?:[._-](?!(?:in|am|pl)$).*)?|.*\.(?:mk|mak|make)", re.IGNORECASE)
_HEAD = re.compile(r"(?P<targets>[^\t#:=\n][^#:=\n]*):(?P<double>:?)(?![:=])(?P<rest>[^\n]*)")
_NO_RULE = re.compile(
    r"(?:ifn?eq|ifn?def|else|endif|-?include|sinclude|(?:un)?export|override|define|endef)\b(?![ \t]*:)"
)
_SETS = re.compile(r"[ \t]*(?:(?:private|override|export)[ \t]+)*[\w.-]+[ \t]*(?:[:+?!]|::)?=")
_ASSIGNED = re.compile(r"[ \t]*(?:(?:override|export)[ \t]+)*([\w.-]+)[ \t]*(?::{0,2}|\?)=[ \t]*([^\n#]*)")
_VALUE = re.compile(r"\$[({]([\w.-]+)[)}]")
_NAMED = re.compile(r"[\w./%+-]+")
_TARGET_OF_RECIPE = re.compile(r"\$(?:@|[({]@[)}])")
_SPLIT = re.compile(r"&&|\|\||[;\n]")
_STAMPS = re.compile(r"(?:touch|true)\b.*|:.*|(?:echo|printf|date)\b[^|]*>.*")
_PREPARES = re.compile(r"(?:mkdir|echo|printf|cd|rm|set|sleep)\b.*|")
_BRINGS = re.compile(
    r"\b(?:npm|pnpm|yarn|bun|pip3?|uv|poetry|pdm|conda|cargo|go|bundle|gem|composer|apt(?:-get)?|mvn|gradlew?|mix|git)\b"
    r"[^\n;&|]{0,200}?\b(?:ci|install|add|sync|update|fetch|get|build|restore|pull|clone|vendor|mod|download|package|compile)\b"
    r"|\byarn[ \t]*(?:[\n;&|]|$)|\b(?:curl|wget)\b"
)
_UP_TO_DATE = re.compile(
    r"up[ -]to[ -]date|[Nn]othing to be done|--(?:question|dry-run|just-print|recon|touch)\b"
    r"|(?<![\w.-])g?make(?![\w.-])[^\n;&|]{0,300}[ \t]-[a-zA-Z]{0,20}[qnt](?![\w-])"
)
_CALLS = re.compile(r"(?<![\w./$({-])(?:/[\w./-]*/)?g?make(?![\w.-])|\$[({]MAKE[)}]")
_WRITES = re.compile(
    r"(?:>[>|]?|(?<![\w-])-o|--output[= ]|\b(?:touch|tee))[ \t]*[\"']?(?:\./)?([\w./+-]+)"
    r"|\b(?:cp|mv|ln|install)[ \t][^\n;&|]{0,300}?[ \t][\"']?(?:\./)?([\w./+-]+)[\"']?[ \t]*(?=[\n;&|]|$)"
)
_REPEATS = re.compile(r"\b(?:for|while|until|xargs|parallel|watch|function)\b|-exec\b|\(\)[ \t\n]*\{")


@dataclass(slots=True)
class Target:
    """What the rules of a Makefile say of a target."""

    needs: dict[str, None] = field(default_factory=dict)
    """its prerequisites, also those that only have to be there"""
    is_of_others: bool = False
    """a prerequisite of its has it made anew"""
    recipe: str = ""

    def kind(self, name: str) -> str:
        """`made`, `stamp`, `check`, or "" for what has no recipe.

        >>> Target(recipe="\\tcc -o $@ main.c").kind("prog"), Target(recipe="\\t./prog").kind("check")
        ('made', 'check')
        >>> Target(recipe="\\tgrep -q 42 out.txt && touch $@").kind("a.ok")
        'stamp'
        """
        if not self.recipe.strip():
            return ""
        word = r"[\w./-]+".join(map(re.escape, name.split("%")))
        text = self.recipe[:_MOST_RECIPE]
        text = _TARGET_OF_RECIPE.sub(lambda _: name.replace("%", "x"), text)
        named = re.compile(rf"(?<![\w./-]){word}(?![\w/-]|\.\w)")
        is_file = "." in PurePosixPath(name).name[1:] or "/" in name
        makes, stamps, others = False, False, False
        for part in _SPLIT.split(text):
            line = part.strip(" \t@+-({!")
            if named.search(line) and (is_file or _is_made_by(line, named)):
                if _STAMPS.fullmatch(line):
                    stamps = True
                else:
                    makes = makes or _is_made_by(line, named) or not _only_looks(line)
                    others = True
            elif _PREPARES.fullmatch(line) is None:
                others = True
        if makes:
            return "made"
        return ("stamp" if others else "made") if stamps else "check"


def _is_made_by(line: str, named: re.Pattern[str]) -> bool:
    """One line of a recipe makes the file."""
    if _MAKES_FILES.match(line):
        return named.search(line) is not None
    found = islice(named.finditer(line), _MOST_MENTIONS)
    return any(_IS_WRITTEN.search(line[max(0, one.start() - 30) : one.start()]) for one in found)


_MAKES_FILES = re.compile(r"(?:mkdir|touch|tee|ln|cp|mv|install|ar|tar|zip|ld|mkfifo|truncate|rsync)\b")
_IS_WRITTEN = re.compile(
    r"(?:>[>|]?|-\w{0,5}o|\bof=|-[OBCdD]|-c\w?f|--(?:out|dir|dest|target|prefix|build|save|to|model|cache|venv)[\w-]{0,12}=?"
    r"|\b(?:venv|virtualenv|startproject|clone))[ \t]*[\"']?$"
)
_MOST_MENTIONS = 20
"""places of one line at which a target is looked for"""
_LOOKS = re.compile(
    r"(?:grep|egrep|fgrep|test|\[|\[\[|cmp|diff|cat|wc|head|tail|jq|sha\d+sum|md5sum|stat|ls|file|if|false|true|echo|printf)\b"
    r"|\["
)


def _only_looks(line: str) -> bool:
    return _LOOKS.match(line) is not None


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of some Makefiles, as far as plain variables tell them."""

    targets: Mapping[str, Target]
    phony: frozenset[str]
    """what `.PHONY` names"""
    patterns: tuple[str, ...] = ()
    """the targets with `%`"""

    def reached(self, goals: Iterable[str]) -> list[str]:
        """What `make` would look at for these goals; for the first target, where it has a rule for none of them."""
        asked = [goal for goal in goals if goal in self.targets or self._pattern_of(goal) is not None]
        asked = asked or [name for name in self.targets if name[0] != "." and "%" not in name][:1]
        seen: dict[str, None] = {}
        while asked and len(seen) < _MOST_NAMES:
            name = asked.pop()
            if name in seen:
                continue
            seen[name] = None
            if (target := self.targets.get(name)) is not None:
                asked += target.needs
            if (target is None or not target.recipe) and (pattern := self._pattern_of(name)) is not None:
                stem = _stem(pattern, name)
                asked += [need.replace("%", stem) for need in self.targets[pattern].needs]
        return list(seen)

    def _pattern_of(self, name: str) -> str | None:
        return next((one for one in self.patterns if _matches(one, name)), None)

    def kind(self, name: str) -> str:
        """Like `Target.kind`; where it has no recipe, the kind of its pattern."""
        target = self.targets.get(name)
        if target is not None and target.recipe.strip():
            return target.kind(name)
        pattern = self._pattern_of(name)
        return "" if pattern is None else self.targets[pattern].kind(pattern)

    def is_of_others(self, name: str) -> bool:
        """It is made anew where something that it needs is newer."""
        target, pattern = self.targets.get(name), self._pattern_of(name)
        return (target is not None and target.is_of_others) or (
            pattern is not None and self.targets[pattern].is_of_others
        )

    def brings(self, name: str) -> bool:
        """Its recipe brings what cannot be brought everywhere, or takes long to build."""
        pattern = self._pattern_of(name)
        recipes = [self.targets[one].recipe for one in (name, pattern) if one is not None and one in self.targets]
        return any(_BRINGS.search(recipe) is not None for recipe in recipes)

    def checks(self) -> Iterator[str]:
        """Names that stand for checks, and for no file."""
        for name, target in self.targets.items():
            if "%" not in name and name[0] not in "./" and name not in self.phony and target.kind(name) == "check":
                yield name


def _matches(pattern: str, name: str) -> bool:
    before, _, after = pattern.partition("%")
    return len(name) > len(before) + len(after) and name.startswith(before) and name.endswith(after)


def _stem(pattern: str, name: str) -> str:
    before, _, after = pattern.partition("%")
    return name[len(before) : len(name) - len(after)]


def is_rules(path: str) -> bool:
    """A file of this name has rules of `make`."""
    return _RULES.fullmatch(path.rpartition("/")[2]) is not None


def rules_of(text: str) -> Rules:
    """Read a Makefile.

    >>> found = rules_of("all: a.ok\\n%.ok: %.txt\\n\\tcmp $< want\\n\\ttouch $@\\n")
    >>> found.reached([]), found.kind("a.ok")
    (['all', 'a.ok', 'a.txt'], 'stamp')
    """
    lines = text[:_MOST_TEXT].replace("\\\n", " ").split("\n")
    values: dict[str, str] = {}
    for line in lines:
        if "=" in line and len(line) <= _LONGEST_LINE and (assigned := _ASSIGNED.match(line)) is not None:
            values.setdefault(assigned[1], assigned[2])
    targets: dict[str, Target] = {}
    phony: set[str] = set()
    current: list[str] = []
    recipes: dict[str, list[str]] = {}
    count = 0
    for line in lines:
        if len(line) > _LONGEST_LINE or count >= _MOST_RULES:
            continue
        if line[:1] == "\t":
            for name in current:
                recipes[name].append(line)
            continue
        if not line.strip() or line.lstrip()[:1] == "#" or _NO_RULE.match(line.lstrip()):
            continue
        head = _HEAD.match(line)
        if head is None or _SETS.match(head["rest"]):
            current = current if head is None and "=" in line else []
            continue
        count += 1
        rest, at, same = head["rest"].partition(";")
        needs = _filled(rest, values)
        if ":" in needs:  # a pattern for these targets only
            needs = needs.partition(":")[2]
        normal, _, order = needs.partition("|")
        current = _filled(head["targets"], values).split()[:_MOST_NAMES]
        if ".PHONY" in current:
            phony.update(normal.split())
        for name in current:
            target = targets.setdefault(name, Target())
            target.needs.update(dict.fromkeys((*normal.split(), *order.split())))
            target.is_of_others = target.is_of_others or bool(normal.split())
            recipes.setdefault(name, [])
            if at:
                recipes[name].append("\t" + same)
    for name, said in recipes.items():
        targets[name].recipe = "\n".join(said)[:_MOST_RECIPE]
    return Rules(targets, frozenset(phony), tuple(name for name in targets if "%" in name))


def _filled(words: str, values: Mapping[str, str]) -> str:
    """The words with plain variables filled in, and without what only `make` could compute."""
    for _ in range(3):
        if "$" not in words:
            break
        words = _VALUE.sub(lambda found: values.get(found[1], ""), words)[:_LONGEST_LINE]
    return " ".join(word for word in words.split() if "$" not in word and "(" not in word and ")" not in word)


def words_behind_make(texts: str) -> set[str]:
    """What `make` is told to make, as the lines say."""
    words: set[str] = set()
    for piece in re.split(r"[\n;&|]", texts):
        if (make := re.search(r"\bmake\b", piece)) is not None:
            words.update(re.findall(r"(?<=[ \t])[\w./-]+", piece[make.end() :]))
    return words


def without_comments(path: str, text: str) -> str:
    """A text of the verifier's as far as it is no comment, where its path tells in what it is written."""
    if len(text) > MOST_COMMENTED or not path.endswith((".sh", ".bash", ".py")):
        return text
    return uncommented(text)


def uncommented(text: str) -> str:
    """A text of shell or Python without its comments."""
    lines = []
    for line in text.split("\n"):
        at = double = single = 0
        for match in re.finditer(r"(?:^|(?<=[ \t;]))#", line):
            double += line.count('"', at, match.start())
            single += line.count("'", at, match.start())
            at = match.start()
            if double % 2 == 0 and single % 2 == 0:
                line = line[:at]
                break
        lines.append(line)
    return "\n".join(lines)


def starts_make(texts: Iterable[str]) -> bool:
    """One of the texts may start `make`."""
    return any(_CALLS.search(text) is not None for text in texts)


def believed_without_work(
    files: Mapping[str, str],
    goals: Collection[str],
    kinds: Collection[str] = ("check", "stamp", "made"),
    *,
    first_stamps: bool = True,
) -> set[str]:
    """Paths that `make` looks at for these goals by the rules of the Makefiles among `files`, and of which it believes
    that the work is done where they are there: checks, stamps, and what is made of something else. `kinds`: of these
    only; `first_stamps`: also stamps that are made of nothing.

    >>> text = "all: verify a.ok prog dir\\nverify:\\n\\tfalse\\na.ok: x\\n\\tfalse\\n\\ttouch $@\\n"
    >>> text += "dir:\\n\\tmkdir $@\\nprog: prog.c\\n\\tcc -o $@ $<\\n"
    >>> sorted(believed_without_work({"Makefile": text}, []))
    ['a.ok', 'prog', 'verify']
    """
    found: set[str] = set()
    for path, text in files.items():
        if not is_rules(path):
            continue
        rules = rules_of(text)
        folder = path.rpartition("/")[0]
        for name in rules.reached(goals):
            kind = rules.kind(name)
            if not kind and name.endswith(".o"):  # `make` has a rule of its own
                found |= {name} if "made" in kinds else set()
            if kind == "made" or (kind == "stamp" and not first_stamps):
                is_believed = kind in kinds and rules.is_of_others(name)
            else:
                is_believed = kind in kinds and not rules.brings(name)
            if is_believed and name not in rules.phony and name[0] not in "./":
                found |= {name, f"{folder}/{name}"} if folder else {name}
    return found


def working_anew(files: Mapping[str, str], texts: Collection[str], kept: Collection[str] = ()) -> dict[str, str]:
    """Variables by which `make` believes nobody that a check of these Makefiles has passed. `files`: the trusted ones;
    `texts`: what starts `make`; `kept`: paths that are trusted whatever rule there is for them.

    >>> working_anew({"Makefile": "all: ok\\nok:\\n\\tfalse\\n"}, ["make"])
    {'GNUMAKEFLAGS': '-B'}
    >>> working_anew({"Makefile": "all: ok\\nok:\\n\\tfalse\\n"}, ["make a\\nmake ok"])
    {'GNUMAKEFLAGS': '--eval=.PHONY:ok'}
    """
    makefiles = [text for path, text in files.items() if is_rules(path)]
    calls = sum(len(_CALLS.findall(text)) for text in (*texts, *makefiles))
    if not makefiles or not calls or any(_UP_TO_DATE.search(text) for text in texts):
        return {}
    rules = [rules_of(text) for text in makefiles]
    if calls > 1 or any(_REPEATS.search(text) for text in texts):
        return _phony_checks(rules)
    own = {*kept, *(found[1] or found[2] for text in texts for found in _WRITES.finditer(text))}
    first = dict.fromkeys(
        name.replace("%", "*")
        for one in rules
        for name, target in one.targets.items()
        if name in own or (target.kind(name) == "made" and not target.is_of_others)
    )
    names = [name for name in first if re.fullmatch(r"[\w./+*-]+", name)]
    if not names:
        return {VARIABLE: "-B"}
    each = rf"$$(foreach\ f,$$(wildcard\ {_words(names)}),$$(eval\ $$(f):\ private\ SHELL\ =\ true))"
    flags = f"-B --eval={each}"
    return {VARIABLE: flags} if len(flags) <= _MOST_FLAGS else {}


def checking_anew(files: Mapping[str, str], texts: Iterable[str] | None = None) -> dict[str, str]:
    """Variables by which `make` runs the checks of these Makefiles, see `working_anew`. `texts`: what may ask whether
    something is up to date; None = the files."""
    texts = files.values() if texts is None else texts
    makefiles = [text for path, text in files.items() if is_rules(path)]
    if not makefiles or any(_UP_TO_DATE.search(text) for text in texts):
        return {}
    return _phony_checks([rules_of(text) for text in makefiles])


def _phony_checks(rules: Iterable[Rules]) -> dict[str, str]:
    names = dict.fromkeys(name for one in rules for name in one.checks() if not one.brings(name))
    plain = [name for name in names if re.fullmatch(r"[\w./+-]+", name)]
    # Makefiles look for letters in these flags, but for words that begin so
    flags = " ".join(f"--eval=.PHONY:{name}" for name in plain)
    return {VARIABLE: flags} if plain and len(flags) <= _MOST_FLAGS else {}


def _words(names: Iterable[str]) -> str:
    return "\\ ".join(names)
