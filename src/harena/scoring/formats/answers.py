"""The program in what a model wrote, where that is more than the program: reasoning, an explanation, fenced code.

    <think>Twice means ...</think>
    Here it is:
    ```python
    def double(x):
        return 2 * x
    ```

A text is such an answer if a fence or the end of a reasoning stands in it outside of Python's strings and comments;
every other text is a program as it is. Reasoning is left out: all up to the last `</think>` that ends one. A chat
template may have opened it in the prompt, so that its end alone is in the answer; one that is quoted, or in a string of
a program, ends none. An answer that begins with `<think>` and never ends it says nothing. Of the fenced blocks those
that are marked as Python count, or, where there are none, those without a mark; of these the last one that defines what
is asked for, with a body if any does so, or, where none does, the last one that is neither prose, a session nor mere
output; where no name is asked for, one that reads and prints goes before others.
Other families of models write their reasoning between marks of their own (`REASONING_MARKS`), or in messages before the
one that is their answer (the channels of gpt-oss); what is said of `<think>` here holds for those, too.
`harena.scoring.formats.fences` says what a block is, `harena.scoring.formats.stubs` what a body is.

Nothing is parsed or run here: a text is only cut into tokens.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Collection, Iterable, Iterator

from harena.scoring.formats.fences import (
    JAVASCRIPT,
    MOST_PARSED,
    NO_LANGUAGE,
    PYTHON,
    SHELLS,
    Block,
    blocks,
    here_documents,
    is_marked,
)
from harena.scoring.formats.lexemes import literals
from harena.scoring.formats.stubs import has_body

REASONING_MARKS = {
    "<think>": "</think>",
    "[THINK]": "[/THINK]",
    "<seed:think>": "</seed:think>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|inner_prefix|>": "<|inner_suffix|>",
    "<unused94>": "<unused95>",
    "\u25c1think\u25b7": "\u25c1/think\u25b7",
}
"""what models write before their reasoning and after it"""
_ANALYSIS = "<|channel|>analysis<|message|>"
_MESSAGE_END = "<|end|>"

_UNSEEN = (
    r"\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
"""white space, and characters that show nothing"""
_BEGIN = re.compile(rf"[{_UNSEEN}]*({'|'.join(map(re.escape, REASONING_MARKS))})")
_END = re.compile(rf"(?:{'|'.join(map(re.escape, REASONING_MARKS.values()))})(?:\s*<\|START_RESPONSE\|>)?")
_CHANNELS = re.compile(rf"[{_UNSEEN}]*(?:<\|start\|>assistant\s*)?<\|channel\|>")
_FINAL = re.compile(r"<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_OPENED = re.compile(rf"({'|'.join(map(re.escape, (*REASONING_MARKS, _ANALYSIS)))})\s*\Z")
_ANY_MARK = re.compile(
    rf"think>|<\|channel\|>|{'|'.join(map(re.escape, [*REASONING_MARKS, *REASONING_MARKS.values()]))}"
)
_RESPONSE_BEGINS = re.compile(r"\s*<\|START_RESPONSE\|>")
_TURN_ENDS = re.compile(
    r"\s*(?:<\|(?:END_RESPONSE|END_OF_TURN_TOKEN|return|end|im_end|eot_id|eom_id|end_of_text|endoftext)\|>\s*)+\Z"
)
"""what ends a turn, where that stands in its text: a token that the tokenizer does not end one with"""
_MARKER = re.compile(
    r"^[ \t]*(?:>[ \t]?)*(?:`{3,}|~{3,})|"
    rf"(?<!`)`{{3,}}+[\w+#.-]*+[ \t]*+(?:<[^`\n]*+)?\r?$|{'|'.join(map(re.escape, REASONING_MARKS.values()))}",
    re.MULTILINE,
)
UNENDED = "the answer never ends its reasoning: it says nothing"
_MOST_CUTS = 8
"""ends of reasoning that are looked at one by one; of a text with more, all but what is after the last is left out"""
_QUOTED = re.compile(
    r"(?<!\w)[rbfuRBFU]{0,2}(?P<quote>[\"'`])(?:(?:\\.|(?!(?P=quote))[^\\\n])*+(?P=quote)|.*(?P=quote))"
)
_LOOKED_AT = 400
"""characters on each side of an end of reasoning in which the quotes around it are looked for"""
_TWO_WORDS = re.compile(r"(?<![\w.])([^\W\d]\w*)(?=[ \t]+([^\W\d]\w*))")
"""two words in a row, which a program has nowhere, unless one of them is a keyword"""
_CODE = re.compile(r"[=()\[\]{}:,\"']|\b(?:pass|return|break|continue|import|raise|yield|del)\b")
_STATEMENTS = set(keyword.kwlist) - {"and", "or", "not", "in", "is", "lambda", "None", "True", "False"}
_FUNCTIONS = (name for name, value in vars(builtins).items() if name[0].isalpha() and callable(value))
_ACTS = re.compile(
    rf"^[ \t]*(?:@|(?:{'|'.join(sorted(_STATEMENTS))}|match|type)\b|[A-Za-z_][\w.\[\], \t]*[-+*/%&|^@<>]{{0,2}}=(?!=))"
    rf"|;[ \t]*\w|\b(?:{'|'.join(sorted(_FUNCTIONS))})[ \t]*\(",
    re.MULTILINE,
)
"""a statement or a call of a builtin; without any, what Python reads is a value or a remark (`[1, 2]`, `Time: O(n)`)"""
_LETTER = re.compile(r"[^\W\d_]")
_PROMPT = re.compile(r"^[ \t]*(?:>>>|\$)[ \t]", re.MULTILINE)
"""a line that somebody types into an interpreter or a shell"""
_READS = re.compile(r"\binput[ \t]*\(|\bstdin\b|\bopen[ \t]*\([ \t]*0|\bfileinput\b")
_PRINTS = re.compile(r"\bprint[ \t]*\(|\bstdout\b|\.write(?:lines)?[ \t]*\(")
_RUNS_A_FILE = re.compile(
    r"\#.*|chmod[ \t].*|(?:[^|]{1,200}\|[ \t]*)?(?:(?:ba|z|da)?sh[ \t]+|\./)[\w./-]+\.(?:ba)?sh\b.*"
)
"""a line that runs a script: `echo 2 | bash solution.sh`"""
_BLOCK_QUOTE = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_TAGS_BEFORE = re.compile(
    r"\s*(?:<answer>|<solution>|<pre>[ \t]*<code[^<>\n]{0,80}>|<code[^<>\n]{0,80}>|\[PYTHON\]|\[BEGIN\])[ \t]*\n?"
)
_TAGS_BEHIND = re.compile(
    r"(?:\s*(?:<\|[^|<>\s]{1,40}\|>|<\uff5c[^\uff5c<>\s]{1,40}\uff5c>|</s>|<eos>|<end_of_turn>|</answer>|</solution>|</code>|</pre>|\[/PYTHON\]|"
    r"\[DONE\]))+\s*$"
)
_DONE = re.compile(r"^[ \t]*\[DONE\][ \t]*\r?$", re.MULTILINE)
"""what ends a program where the prompt shows programs between [BEGIN] and [DONE], as MBPP's does; models that are not
stopped there go on with another problem"""
_QUOTED_PROGRAM = re.compile(r"\s*'((?:def|class|import|from|async|@)\b.*)'\s*\Z", re.DOTALL)
_DEFINES_AT_TOP = re.compile(
    r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^([A-Za-z_]\w*)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE
)
_IMPORTS_AT_TOP = re.compile(r"^(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+([^\n#]+)", re.MULTILINE)
_TOP_LINE = re.compile(r"(?:async[ \t]+def|def|class|from|import|@|#|[A-Z_][A-Z0-9_]*[ \t]*(?::[^=]+)?=(?!=)|[)\]}])")
"""a line of a block that defines and does nothing else"""
_MOST_DEFINING = 32
"""blocks before a program that are looked at for what it uses"""
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_TYPED = re.compile(r"[ \t]*\$[ \t]+(.*)")

_LONGEST_TAGS = 400
_STRINGS_OF_SHELLS = re.compile(r"""\\.|(?<!\w)'[^']*'|(?<!\w)"(?:[^"\\]|\\.)*"|\#[^\n]*""", re.DOTALL)
_NESTED_BELOW = re.compile(r"[ \t]*(?:if|elif|else|try|except|finally|with|for|while)\b")


def final_answer(text: str) -> str:
    """What is said after the reasoning; nothing, where a reasoning at the beginning never ends, or nothing follows it.
    A text without reasoning is all answer, but for the token that ended it."""
    said = _without_reasoning(text, is_python=False)
    if said is not text:
        said = said.lstrip()
    if said.rstrip()[-2:] != "|>":
        return said
    behind = _TURN_ENDS.search(said, max(0, len(said) - _LONGEST_TAGS))
    return said if behind is None else said[: behind.start()]


def reasoning_ends(text: str) -> int:
    """Where what is said after the reasoning begins; 0 for a text without reasoning."""
    said = _without_reasoning(text, is_python=False)
    return 0 if said is text else len(text) - len(said.lstrip())


def names_reasoning(text: str) -> bool:
    """Whether a mark of reasoning stands in what an answer is compared with, which then means the answer's whole."""
    return _ANY_MARK.search(text) is not None


def with_opened_reasoning(before: str, text: str) -> str:
    """What was said behind `before`. Where that has opened a reasoning, as chat templates of thinking models do, and
    what was said never ends it, the mark that opened it is put in front: all of it was thought."""
    opened = _OPENED.search(before, max(0, len(before) - _LONGEST_TAGS))
    if opened is None or _BEGIN.match(text) or _without_reasoning(text, is_python=False) is not text:
        return text
    return opened[1] + text


def after_leading_reasoning(text: str) -> str:
    """What is said after a reasoning that the text begins with; nothing, where that one never ends. For a text that may
    quote what others wrote: the end of a reasoning alone ends none in it."""
    if _CHANNELS.match(text):
        final = _FINAL.search(text)
        return _behind_messages(text) if final is None else text[final.end() :]
    at = 0
    while (begin := _BEGIN.match(text, at)) is not None:
        mark = REASONING_MARKS[begin[1]]
        end = text.find(mark, at)
        if end < 0:
            return ""
        at = end + len(mark)
    if (response := _RESPONSE_BEGINS.match(text, at)) is not None:
        at = response.end()
    return text[at:] if at else text


def _behind_messages(text: str) -> str:
    """What follows the messages that the text begins with, none of which is final; nothing, where one never ends."""
    at = 0
    while _CHANNELS.match(text, at) is not None:
        end = text.find(_MESSAGE_END, at)
        if end < 0:
            return ""
        at = end + len(_MESSAGE_END)
    return text[at:]


def json_without_reasoning_ends(written: str) -> str:
    """JSON that says the same, in which no mark ends a reasoning: for texts that quote what others said."""
    return _END.sub(lambda found: f"\\u{ord(found[0][0]):04x}{found[0][1:]}", written)


def program_in(text: str, names: Collection[str] = (), *, languages: Collection[str] = PYTHON) -> str:
    """The program of an answer; `names`: functions or classes of which it shall define one. The text itself where it
    is a program. `languages`: marks of fenced blocks that count, where it is no Python that is asked for."""
    is_python = not PYTHON.isdisjoint(languages)
    said = _without_reasoning(text, is_python=is_python)
    if said is not text:
        said = _first_line_in_place(said)
    if _MARKER.search(said) is None or (_is_program(said) if is_python else _is_script(said, languages)):
        return _without_tags(said)
    if "```" in said and not re.search(r"^[ \t]*`{3}", said, re.MULTILINE):
        said = _BLOCK_QUOTE.sub("", said)
    found = list(blocks(said, languages))
    marked = [block for block in found if is_marked(block.language, languages)]
    unmarked = [block for block in found if not block.language]
    if not marked and not unmarked:
        unmarked = [block for block in found if block.language in NO_LANGUAGE]
    defining = [
        (block, name) for pool in (unmarked, marked) for block in pool for name in names if _defines(block.text, name)
    ]
    if defining:
        with_body = (block for block, name in reversed(defining) if has_body(block.text, name))
        chosen = next(with_body, defining[-1][0])
        return _with_definitions(chosen, found, names) if is_python else chosen.text
    pool = marked or unmarked
    if not pool:
        return said
    if is_python:
        is_idle = _is_prose
    elif marked:
        is_idle = _is_session
    else:
        is_idle = _is_output
    programs = [block for block in pool if not is_idle(block.text)] or pool[-1:]
    whole = [block for block in programs if is_python and not names and _reads_and_prints(block.text)]
    return (whole or programs)[-1].text


def scripts_in(text: str) -> str:
    """The shell program of an answer, of all its blocks that are marked as such, one after the other: what one does is
    there for the next, which is no draft of it. Else what `program_in` finds."""
    said = _without_reasoning(text, is_python=False)
    if _MARKER.search(said) is not None and not _is_script(said, SHELLS):
        found = [block.text for block in blocks(said, SHELLS) if is_marked(block.language, SHELLS)]
        steps = [step for step in found if not _is_session(step)] or [step for step in found if _TYPED.match(step)]
        if len(steps) > 1 and not any(step.startswith("#!") for step in steps[1:]):
            return "\n".join(map(_typed, steps))
    return _typed(program_in(text, languages=SHELLS))


def _typed(script: str) -> str:
    """A script without the ends of its lines that other systems write; of a session that begins with a prompt (`$ ls`),
    what is typed there."""
    script = script.replace("\r\n", "\n")
    if _TYPED.match(script.lstrip("\n")) is None:
        return script
    typed = [found[1] for line in script.split("\n") if (found := _TYPED.match(line)) is not None]
    return "\n".join(typed) + "\n"


def _with_definitions(chosen: Block, found: Iterable[Block], names: Collection[str]) -> str:
    """A block behind those before it that define what it uses and does not define itself, as answers that go step by
    step have them. One that does anything else than to define, or that defines what is asked for (a draft), is none."""
    before = [block for block in found if block.last <= chosen.first and bool(block.language) == bool(chosen.language)]
    left = {
        number: offered
        for number, block in enumerate(before[-_MOST_DEFINING:])
        if (offered := _defined(block.text)).isdisjoint(names) and _only_defines(block.text)
    }
    taken: dict[int, str] = {}
    needed = _used(chosen.text) - _defined(chosen.text)
    while (number := next((each for each in reversed(left) if not needed.isdisjoint(left[each])), None)) is not None:
        taken[number] = before[-_MOST_DEFINING:][number].text
        needed = (needed | _used(taken[number])) - left.pop(number)
    return "\n".join([*(taken[number] for number in sorted(taken)), chosen.text])


def _only_defines(program: str) -> bool:
    return all(_TOP_LINE.match(line) for line in program.split("\n") if line[:1].strip())


def _used(program: str) -> set[str]:
    """The names that stand in a program outside of its strings and comments."""
    return set(_NAME.findall(_outside_of(program, literals(program).places))) if len(program) <= MOST_PARSED else set()


def _defined(program: str) -> set[str]:
    """The names that a program defines or imports at its top."""
    defined = {name for found in _DEFINES_AT_TOP.findall(program) for name in found if name}
    for imported in _IMPORTS_AT_TOP.findall(program):
        defined.update(part.split(" as ")[-1].strip(" \t()") for part in imported.split(","))
    return defined


def _without_reasoning(text: str, *, is_python: bool) -> str:
    """All after it, its white space too; the text itself where there is none."""
    said = after_leading_reasoning(text)
    ends = [found.end() for found in _END.finditer(said)]
    if not ends or _is_program(said, with_comments=is_python):
        return said
    if len(ends) > _MOST_CUTS:
        return _without_reasoning(said[ends[-1] :], is_python=is_python)
    end_of_it = _reasoning_end(said, is_python=is_python)
    return said if end_of_it is None else _without_reasoning(said[end_of_it:], is_python=is_python)


def _reasoning_end(text: str, *, is_python: bool) -> int | None:
    """Where the first `</think>` ends that is neither quoted nor a part of a program."""
    inside = [
        block
        for block in blocks(text)
        if _END.search(block.text) is not None and _is_program(block.text, with_comments=is_python)
    ]
    lines = {number for block in inside for number in range(block.first, block.last)}
    ends = [found.span() for found in _END.finditer(text)]
    numbers = _line_numbers(text, (end for _, end in ends))
    return next(
        (
            end[1]
            for end, number in zip(ends, numbers, strict=True)
            if number not in lines and not _is_quoted(text, end)
        ),
        None,
    )


def _is_quoted(text: str, mark: tuple[int, int]) -> bool:
    """Whether quotes or backticks on the same line are around the `</think>` that stands there."""
    begin, end = mark
    first = max(text.rfind("\n", 0, begin) + 1, begin - _LOOKED_AT)
    last = text.find("\n", end)
    part = text[first : min(end + _LOOKED_AT, len(text) if last < 0 else last)]
    return any(found.start() < begin - first < found.end() - 1 for found in _QUOTED.finditer(part))


def _first_line_in_place(said: str) -> str:
    """A program behind the end of a reasoning. On the same line, spaces before it are its own only where it is the body
    of a function, all of it indented as far."""
    beside, newline, rest = said.partition("\n")
    if not beside.strip():
        return re.sub(r"\A(?:[ \t\r]*\n)+", "", said)
    width = len(beside) - len(beside.lstrip())
    others = [len(line) - len(line.lstrip()) for line in rest.split("\n") if line.strip()]
    is_body = (width > 1 or "\t" in beside[:width]) and all(other >= width for other in others)
    return (beside if is_body else beside.lstrip()) + newline + rest


def _without_tags(program: str) -> str:
    """A program without the chat tokens and tags around it, which no program begins or ends with."""
    if (done := _DONE.search(program)) is not None:
        program = program[: done.start()]
    said = without_tags_behind(program)
    if said is not program:
        program = said + "\n"
    before = _TAGS_BEFORE.match(program)
    inside = program if before is None else program[before.end() :]
    quoted = _QUOTED_PROGRAM.match(inside) if before is not None or done is not None else None
    return inside if quoted is None else quoted[1] + "\n"


def without_tags_behind(text: str) -> str:
    """A text without the chat tokens and tags at its end; the text itself where there are none."""
    tail = max(0, len(text) - _LONGEST_TAGS)
    behind = _TAGS_BEHIND.search(text, tail) if text.rstrip()[-1:] in (">", "]") else None
    return text if behind is None else text[: behind.start()]


def _line_numbers(text: str, places: Iterable[int]) -> Iterator[int]:
    """Line numbers, counted from 0, of places in ascending order."""
    number = last = 0
    for place in places:
        number += text.count("\n", last, place)
        last = place
        yield number


def _is_program(text: str, *, with_comments: bool = True) -> bool:
    """All that looks like a marker is inside of strings (and comments), and what is outside of them is no prose."""
    if len(text) > MOST_PARSED:
        return False
    markers = [number + 1 for number in _line_numbers(text, (found.end() for found in _MARKER.finditer(text)))]
    found = literals(text)
    if not found.is_whole:
        return False
    inside: set[int] = set()
    marked = [
        (first, last)
        for first, last in found.places
        if _MARKER.search(text[first:last]) and (text[first] != "#" or (with_comments and _is_behind_code(text, first)))
    ]
    for number, last in zip(*[_line_numbers(text, (edge for place in marked for edge in place))] * 2, strict=True):
        inside.update(range(number + 1, last + 2))
    return inside.issuperset(markers) and not _reads_as_prose(text, found.places)


def _is_behind_code(text: str, comment: int) -> bool:
    """A comment is alone on its line, or what is before it has more than names."""
    before = text[text.rfind("\n", 0, comment) + 1 : comment]
    return not before.strip() or _CODE.search(before) is not None


def _is_prose(text: str) -> bool:
    """A block without a mark that holds no program: words, or what a program prints."""
    if len(text) > MOST_PARSED:
        return False
    places = literals(text).places
    is_idle = _ACTS.search(_outside_of(text, places)) is None
    return is_idle or _PROMPT.search(text) is not None or _reads_as_prose(text, places)


def _is_output(text: str) -> bool:
    """A block without a mark that holds no program of another language than Python: numbers and signs, or what somebody
    types into a shell."""
    return _LETTER.search(text) is None or _PROMPT.search(text) is not None


def _is_session(text: str) -> bool:
    """A block of another language than Python that is typed into a shell, or that runs the program's own file."""
    lines = (line.strip() for line in text.splitlines())
    return _PROMPT.search(text) is not None or all(_RUNS_A_FILE.fullmatch(line) for line in lines if line)


def _reads_and_prints(text: str) -> bool:
    """A block that holds all of a program that is given its input: its key line alone, or a call of it, does not."""
    if len(text) > MOST_PARSED:
        return False
    outside = _outside_of(text, literals(text).places)
    return _READS.search(outside) is not None and _PRINTS.search(outside) is not None


def _reads_as_prose(text: str, places: Iterable[tuple[int, int]]) -> bool:
    """Two words stand side by side outside of strings and comments, and neither is a keyword."""
    return any(
        not (keyword.iskeyword(found[1]) or keyword.issoftkeyword(found[1]) or keyword.iskeyword(found[2]))
        for found in _TWO_WORDS.finditer(_outside_of(text, places))
    )


def _outside_of(text: str, places: Iterable[tuple[int, int]]) -> str:
    """The text with a quote for each of its strings and comments."""
    outside, at = [], 0
    for first, last in places:
        outside.append(text[at:first])
        at = last
    return '"'.join([*outside, text[at:]])


def _is_script(text: str, languages: Collection[str]) -> bool:
    """A program of a shell, all of whose fences are in its here-documents and strings."""
    if SHELLS.isdisjoint(languages) or len(text) > MOST_PARSED:
        return False
    inside, is_open = here_documents(text)
    if is_open:
        return False
    strings = [found.span() for found in _STRINGS_OF_SHELLS.finditer(text) if found[0][0] in "'\""]
    for first, last in zip(*[_line_numbers(text, (edge for place in strings for edge in place))] * 2, strict=True):
        inside.update(range(first + 1, last + 1))
    return inside.issuperset(_line_numbers(text, (found.end() for found in _MARKER.finditer(text))))


def _defines(program: str, name: str) -> bool:
    """At its top level, or there below `if`, `try` and the like, as far as can be told without parsing it."""
    escaped = re.escape(name)
    pattern = rf"^(?:(?:async\s+)?def|class)\s+{escaped}\b|^{escaped}\s*(?::[^=\n]+)?=(?!=)"
    if re.search(pattern, program, re.MULTILINE) is not None:
        return True
    nested = re.search(rf"^([ \t]+)(?:(?:async\s+)?def|class)\s+{escaped}\b", program, re.MULTILINE)
    if nested is None:
        return False
    width = len(nested[1])
    for line in reversed(program[: nested.start()].split("\n")):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent < width:
            if _NESTED_BELOW.match(line) is None or "__name__" in line:  # where an example of its use stands
                return False
            width = indent
        if width == 0:
            return True
    return False


__all__ = [
    "JAVASCRIPT",
    "PYTHON",
    "SHELLS",
    "UNENDED",
    "after_leading_reasoning",
    "final_answer",
    "json_without_reasoning_ends",
    "names_reasoning",
    "program_in",
    "reasoning_ends",
    "scripts_in",
    "with_opened_reasoning",
    "without_tags_behind",
]
