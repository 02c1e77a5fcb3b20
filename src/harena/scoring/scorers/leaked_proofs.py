"""Where a trusted `command` gives the word of its proof away: by an argument, the environment, a file or a descriptor.

Whoever knows the word and reaches standard output has all the evidence of a pass where the command line ends with exit
code 0 whatever its programs say. What the candidate may see of it decides how the command is run, and what a pass says:

* as an argument of a guarded program (python, a shell, what starts one) it is out of sight where the sandbox hides
  processes from each other (see `hides_processes`);
* as an argument of another program, in the environment of what is started, in a file and by a descriptor
  that is handed on it is the candidate's to read.

The texts are looked at, not run: what is found may be too much, which is no more than a note.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from harena.scoring.bounded_cache import kept_for_small
from harena.scoring.contracts.patterns import compiled
from harena.scoring.scorers.shell_code import code_mask, line_number, simple_commands

Way = Literal["argument", "environment", "file", "descriptor"]

SHELLS = ("sh", "bash", "dash")
_GUARDED = frozenset({"python", "python3", *SHELLS})
_STARTERS = frozenset({"env", "nice", "nohup", "setsid", "stdbuf", "timeout", "xargs"})
"""guarded, too: see `harena.runtime.host.image`"""
_IN_SHELL = frozenset({
    "echo", "printf", "[", "[[", "test", ":", "true", "false", "read", "case", "for", "return", "local", "readonly",
    "set", "shift", "unset", "source", ".", "trap", "cd", "declare", "typeset", "export", "",
})  # fmt: skip
_EXPORTS = re.compile(r"(?:export|(?:declare|typeset|local)[ \t]+-\w*x\w*)\b")
_EXPORTS_ALL = re.compile(r"\bset[ \t]+(?:-\w*a\w*|-o[ \t]+allexport)\b")
_READ = re.compile(r"(?<![\w-])read\b((?:[ \t]+-\w+(?:[ \t]+\d+)?)*)[ \t]*([A-Za-z_]\w*)?")
_TAKEN = re.compile(r"(?<!\w)\d*+([A-Za-z_]\w*+)=[\"']?\$\((?:head|cat|sed|line|[ \t]*<[ \t]*/dev/stdin)")
_COPIED = re.compile(r"(?<!\w)\d*+([A-Za-z_]\w*+)=[\"']?\$\{?([A-Za-z_]\w*)")
"""from the begin of a word only: else each of its characters is tried as one, with all that follow"""
_FUNCTION = re.compile(r"(?m)(?:^|[;\s])(?:function[ \t]+)?([\w-]+)[ \t]*\(\)")
_POSITIONAL = frozenset("123456789")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=(?:\"[^\"]*\"|'[^']*'|\S*)[ \t]*")
_INTO_FILE = re.compile(r"(?<![<>&\d])\d?>>?\|?[ \t]*(?!&|/dev/)\S")
_HIGH = r"(?<![^\s};&|(])(?:[3-9]|[1-9]\d)"
"""the number of a descriptor that is none of the standard streams"""
_LOOKS_AT_PROCESSES = re.compile(
    r"(?:^|[\s;&|(`\"'!])(?:pgrep|pkill|pidof|killall|pstree|lsof|fuser)\b|\bps[ \t]+(?:-\w|a?ux|ax)|[\"']ps[\"']"
    r"|\b(?:ss|netstat)[ \t]+-\w*p"
    r"|\bpsutil\b|/proc/(?!self\b|cpuinfo|meminfo)",
    re.MULTILINE,
)
"""the trusted part itself asks what runs"""
_STARTS = re.compile(
    r"(?:run|call|check_call|check_output|Popen|system|popen|getoutput|getstatusoutput|(?:posix_)?spawn\w*|exec[lv]\w*"
    r"|create_subprocess_\w+)"
)
"""functions of Python's that start a program"""
_MOST_TEXT = 50_000
"""characters of a text that is looked at"""
_MOST_KNOWN = 256
"""texts of which it is kept what was found: each candidate of a contract is judged by the same ones"""


@dataclass(frozen=True, slots=True)
class GivenWord:
    """One line of a trusted text that gives the word to a program."""

    place: str
    """path of a trusted file, or "" for the command itself"""
    line: int
    """its number, from 1"""
    way: Way
    program: str = ""
    """what is started, as it is written, where that is known; with a path it is none of the guard's"""

    @property
    def is_guarded(self) -> bool:
        """The candidate cannot see it where the sandbox hides processes."""
        return self.way == "argument" and (not self.program or self.program in _GUARDED)

    @property
    def told(self) -> str:
        """A sentence for the contract's author."""
        where = f"line {self.line} of {self.place or 'the command'}"
        whose = f" of {self.program}" if self.program else ""
        how = {
            "argument": f"makes the proof word an argument{whose}, which the candidate can read in /proc",
            "environment": "puts the proof word into the environment of what it starts, which the candidate can read",
            "descriptor": "gives the proof word to what it starts by a descriptor, which the candidate can read",
            "file": "writes the proof word to a file, which the candidate can read",
        }[self.way]
        return f"{where} {how}; give it to a program through standard input, or print the proof in the line itself"


def given_words(command: Sequence[str], files: Mapping[str, str]) -> tuple[GivenWord, ...]:
    """Where the trusted texts give the word away, as far as it can be told."""
    found = [
        given for place, text in _shell_texts(command, files).items() for given in _given_by(_of_shell, place, text)
    ]
    found += [given for item in _python_texts(command, files).items() for given in _given_by(_of_python, *item)]
    return tuple(found)


def hides_processes(command: Sequence[str], files: Mapping[str, str]) -> bool:
    """Whether the command is to run where programs see nothing of guarded ones: these may have the word on their
    command line, unless the texts plainly do no more than print the proof. A command that itself asks what runs would
    miss what it has started."""
    if look_at_processes((*command, *files.values())):
        return False
    kept = [_is_kept_by_shell(text) for text in _shell_texts(command, files).values()]
    kept += [_is_kept_by_python(text) for text in _python_texts(command, files).values()]
    return False in kept or True not in kept


def look_at_processes(texts: Iterable[str]) -> bool:
    """Whether trusted texts ask what runs, or what it has open."""
    return any(map(_LOOKS_AT_PROCESSES.search, texts))


def words_in_sight(command: Sequence[str], files: Mapping[str, str]) -> tuple[GivenWord, ...]:
    """The lines by which the candidate can learn the word, whatever the sandbox hides."""
    hides = hides_processes(command, files)
    return tuple(given for given in given_words(command, files) if not (hides and given.is_guarded))


@kept_for_small(_MOST_KNOWN)
def _given_by(reader: Callable[[str, str], Iterator[GivenWord]], place: str, text: str) -> tuple[GivenWord, ...]:
    return tuple(reader(place, text))


def _shell_texts(command: Sequence[str], files: Mapping[str, str]) -> dict[str, str]:
    texts = {path: text for path, text in files.items() if path.endswith((".sh", ".bash"))}
    return {"": command[2], **texts} if _is_line_of(command, SHELLS) else texts


def _python_texts(command: Sequence[str], files: Mapping[str, str]) -> dict[str, str]:
    texts = {path: text for path, text in files.items() if path.endswith(".py")}
    return {"": command[2], **texts} if _is_line_of(command, ("python", "python3")) else texts


def _is_line_of(command: Sequence[str], names: Collection[str]) -> bool:
    return len(command) > 2 and command[1] == "-c" and PurePosixPath(command[0]).name in names


# -- shell ---------------------------------------------------------------------------------------------------------


def _of_shell(place: str, text: str) -> Iterator[GivenWord]:
    if ("read" not in text and "$(" not in text) or len(text) > _MOST_TEXT:
        return
    names = _names_in_shell(text)
    if not names:
        return
    functions = set(_FUNCTION.findall(text))
    word = _expansion(names)
    if any(word.search(part) and _started(part)[1] in functions for _, part in simple_commands(text)):
        names |= _POSITIONAL
        word = _expansion(names)
    own_name = compiled(rf"\b(?:{_either(names)})\b")
    handed = compiled(rf"{_HIGH}<(?:<<[ \t]*[\"']?|[ \t]*<\([^()\n]{{0,200}}?){word.pattern}")
    yield from (GivenWord(place, line_number(text, found.start()), "descriptor") for found in handed.finditer(text))
    in_env = compiled(rf"\w=[\"']?{word.pattern}")
    exports_all = _EXPORTS_ALL.search(text)
    if exports_all is not None:
        yield GivenWord(place, line_number(text, exports_all.start()), "environment")
    for at, part in simple_commands(text):
        if _EXPORTS.match(part) and own_name.search(part):
            yield GivenWord(place, line_number(text, at), "environment")
            continue
        found = word.search(part)
        if found is None:
            continue
        line = line_number(text, at + found.start())
        assigned, program = _started(part)
        is_in_shell = program in _IN_SHELL or program in functions
        if program and (word.search(assigned) or (program == "env" and in_env.search(part))):
            yield GivenWord(place, line, "environment")
        elif is_in_shell and program in ("echo", "printf") and "harena-proof" not in part and _INTO_FILE.search(part):
            yield GivenWord(place, line, "file")
        elif not is_in_shell and word.search(part.partition("<<")[0]):
            yield GivenWord(place, line, "argument", _real_program(part, program))


@kept_for_small(_MOST_KNOWN)
def _is_kept_by_shell(text: str) -> bool | None:
    """Whether a text reads the word, and then only prints the proof; None = it does not read it."""
    if len(text) > _MOST_TEXT:
        return False
    names = _names_in_shell(text)
    if not names:
        return None
    word = _expansion(names)
    own_name = compiled(rf"\b(?:{_either(names)})\b")
    if _EXPORTS_ALL.search(text):
        return False
    for at, part in simple_commands(text):
        if _EXPORTS.match(part) and own_name.search(part):
            return False
        if word.search(part):
            prints = _started(part)[1] in ("echo", "printf") and "harena-proof" in part
            if not prints or text[:at].rstrip().endswith(("$(", "`")):
                return False
    return True


def _either(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(names)))


def _expansion(names: set[str]) -> re.Pattern[str]:
    """How a shell's text says what one of these variables holds."""
    return compiled(rf"\$\{{?(?:{_either(names)}){r'(?![a-zA-Z_0-9])'}" + (r"|\$[@*]" if "1" in names else ""))


def _names_in_shell(text: str) -> set[str]:
    """Variables that hold the word, by the first `read` that is no loop's, and copies of them."""
    mask = code_mask(text)
    names = {found[1] for found in _TAKEN.finditer(text) if mask[found.start()]}
    for found in _READ.finditer(text):
        before = text[max(0, found.start() - 40) : found.start()]
        if mask[found.start()] and not re.search(r"\b(?:while|until)\b[^;\n]*$", before):
            names.add(found[2] or "REPLY")
            break
    copies: dict[str, list[str]] = {}
    for found in _COPIED.finditer(text):
        copies.setdefault(found[2], []).append(found[1])
    return _reached(names, copies)


def _reached(names: set[str], copies: Mapping[str, Sequence[str]]) -> set[str]:
    """The names, and all that copies of them are made under, each looked at once."""
    waiting = [*names]
    while waiting:
        new = set(copies.get(waiting.pop(), ())) - names
        names |= new
        waiting += new
    return names


def _started(part: str) -> tuple[str, str]:
    """(the assignments before it, the name of the program) of a simple command."""
    at = 0
    while found := _ASSIGNMENT.match(part, at):
        at = found.end()
    head = re.match(r"[\"']?([^\s\"'<>]*)", part[at:])
    return part[:at], head[1] if head else ""


def _real_program(part: str, program: str) -> str:
    """What is started in the end, also by a program that starts others."""
    if program not in _STARTERS:
        return program
    words = [word.strip("\"'") for word in part.split()]
    at = next((index for index, word in enumerate(words) if word == program), 0)
    others = (word for word in words[at + 1 :] if not re.match(r"-|\d|\w+=", word))
    return _started(part[part.index(word) :])[1] if (word := next(others, "")) else program


# -- Python --------------------------------------------------------------------------------------------------------


def _of_python(place: str, text: str) -> Iterator[GivenWord]:
    nodes = _nodes(text)
    names = _names_in_python(nodes)
    if not names:
        return
    for node in nodes:
        if isinstance(node, ast.Call):
            yield from _of_call(place, node, names)
        elif isinstance(node, ast.Assign) and _sets_environment(node) and _mentions(node.value, names):
            yield GivenWord(place, node.lineno, "environment")


def _nodes(text: str) -> list[ast.AST]:
    """The nodes of a program's tree; none where it is too long or cannot be parsed."""
    if len(text) > _MOST_TEXT:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


@kept_for_small(_MOST_KNOWN)
def _is_kept_by_python(text: str) -> bool | None:
    """Whether a text reads the word, and then only prints the proof; None = it does not read it."""
    nodes = _nodes(text)
    names = _names_in_python(nodes)
    if not names:
        return None if nodes else False
    kept: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and not _sets_environment(node):
            kept.update(_outside_of_calls(node))
        elif (
            isinstance(node, ast.Call)
            and _name_of(node.func) == "print"
            and "harena-proof" in "".join(_constants(node))
        ):
            kept.update(ast.walk(node))
    return all(node in kept for node in nodes if isinstance(node, ast.Name) and node.id in names)


def _outside_of_calls(node: ast.AST) -> Iterator[ast.AST]:
    """What is no argument of a function's: that may do anything with it."""
    yield node
    for child in (node.func,) if isinstance(node, ast.Call) else ast.iter_child_nodes(node):
        yield from _outside_of_calls(child)


def _of_call(place: str, call: ast.Call, names: set[str]) -> Iterator[GivenWord]:
    called = _name_of(call.func)
    if _STARTS.fullmatch(called):
        for keyword in call.keywords:
            if keyword.arg == "env" and _mentions(keyword.value, names):
                yield GivenWord(place, call.lineno, "environment")
        if any(_mentions(argument, names) for argument in call.args):
            yield GivenWord(place, call.lineno, "argument", _first_word(call))
    elif called == "putenv" and any(_mentions(argument, names) for argument in call.args):
        yield GivenWord(place, call.lineno, "environment")
    elif called == "write_text" and not any("harena-proof" in text for text in _constants(call)):
        yield from (GivenWord(place, call.lineno, "file") for argument in call.args if _mentions(argument, names))


def _names_in_python(nodes: Sequence[ast.AST]) -> set[str]:
    """Variables that hold what came through standard input, and what is made of them."""
    assigned = [
        ({name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}, node.value)
        for node in nodes
        if isinstance(node, ast.Assign) and not _sets_environment(node)
    ]
    names: set[str] = set()
    for targets, value in assigned:
        if any(_is_standard_input(node) for node in ast.walk(value)):
            names |= targets
    while True:
        made = {name for targets, value in assigned if _mentions(value, names) for name in targets} - names
        if not made:
            return names
        names |= made


def _is_standard_input(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "stdin" and _name_of(node.value) == "sys"
    return isinstance(node, ast.Call) and _name_of(node.func) == "input"


def _sets_environment(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Subscript) and _name_of(target.value) == "environ" for target in node.targets)


def _mentions(node: ast.AST, names: set[str]) -> bool:
    """Whether one of the names is read there; what a call gives back that starts a program is no copy of the word."""
    if isinstance(node, ast.Call) and _STARTS.fullmatch(_name_of(node.func)):
        return False
    if isinstance(node, ast.Name):
        return node.id in names
    return any(_mentions(child, names) for child in ast.iter_child_nodes(node))


def _name_of(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _constants(node: ast.AST) -> Iterable[str]:
    return (each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str))


def _first_word(call: ast.Call) -> str:
    """The program that a call starts, where it is written there."""
    first = call.args[0]
    if isinstance(first, ast.List | ast.Tuple) and first.elts:
        first = first.elts[0]
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return first.value.split(" ", 1)[0]
    return ""
