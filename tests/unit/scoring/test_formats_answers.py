"""The program in what a model wrote."""

from __future__ import annotations

import io
import time
import tokenize
from pathlib import Path
from typing import Any

import pytest
from data_set_rows import APPS, HUMANEVAL, MBPP, only

from harena.scoring.formats import answers
from harena.scoring.formats.answers import final_answer, program_in
from harena.scoring.formats.fences import SHELLS
from harena.scoring.formats.lexemes import literals

CODE = "def double(x):\n    return 2 * x\n"
USE = "print(double(2))\n"


def fenced(code: str, mark: str = "python") -> str:
    code = code.removesuffix("\n")
    return f"```{mark}\n{code}\n```\n"


@pytest.mark.parametrize(
    "text",
    [
        CODE,
        "",
        "no program at all",
        f'"""Use it so:\n\n```\n{USE}```\n"""\n{CODE}',
        f"# </think>\n{CODE}",
        f"{CODE}END = '</think>'\n",
    ],
)
def test_a_program_stays_as_it_is(text: str) -> None:
    """Also with fences and marks in its strings and comments."""
    assert program_in(text, {"double"}) == text


@pytest.mark.parametrize(
    "text",
    [
        f"Here's the function:\n\n{fenced(CODE)}\nIt doesn't mutate.",
        f"{fenced(CODE)}Use:\n{fenced(USE)}",
        f"{fenced('x = 1', 'py')}{fenced(CODE, 'Python')}{fenced('2', 'text')}{fenced('3', '')}",
        f"Output:\n{fenced('4', 'text')}\n{fenced(CODE, '')}",
        f"<think>Try\n{fenced('def double(x): return x')}No.</think>\n{fenced(CODE)}",
        f"Let me think.</think>\n\n{CODE}",
        f"1. So:\n\n   ```python\n   {CODE.replace(chr(10) + '    ', chr(10) + '       ')}   ```\n",
        f"~~~~python\n{CODE}~~~~",
        f'It is:\n```python\n{CODE[:-1]}',
        f"{CODE}```\nThat is all.",
        f"````python\n{CODE}````",
    ],
)  # fmt: skip
def test_the_code_is_taken_out_of_the_answer(text: str) -> None:
    """Marked or not, first or last, after reasoning, in a list, cut off, or without the fence that the prompt had."""
    assert program_in(text, {"double", "Solution"}).rstrip("\n") == CODE.rstrip("\n")


QUOTING = 'def double(x):\n    """Use it so:\n\n    ```\n    double(2)\n    ```\n    """\n    return 2 * x\n'
NARROW = "def double(x):\n  '''Use:\n  ```python\n  double(2)\n  ```\n  '''\n  return 2 * x\n"
TAGGED = "END = '</think>'\n\n\ndef double(x):\n    return 2 * x\n"
ANNOTATED = "double: Callable[[int], int] = lambda x: 2 * x\n"


@pytest.mark.parametrize(
    ("text", "program"),
    [
        (fenced(QUOTING), QUOTING),
        (fenced(NARROW), NARROW),
        (f"1. So:\n{fenced(QUOTING)}\n2. Use:\n{fenced(USE)}", QUOTING),
        (fenced(TAGGED), TAGGED),
        (f"<think>It is {fenced('1')}</think>\n{fenced(TAGGED)}", TAGGED),
        (f"Hm.</think>\n{fenced(TAGGED)}", TAGGED),
        (f"<think>Hm.</think>\n{TAGGED}", TAGGED),
        (f"Hm.\n</think>\n{TAGGED}", TAGGED),
        (f"{fenced(ANNOTATED)}Use:\n{fenced(USE)}", ANNOTATED),
        (f"{fenced(CODE, '')}Use:\n{fenced(USE)}", CODE),
        (f"<think>Hm:\n{fenced(USE)}", ""),
        (f"\n <think>{CODE}", ""),
        ("<think>" * 1000 + "</think>" * 100_000 + CODE, CODE),
    ],
)
def test_marks_inside_of_a_program_are_its_own(text: str, program: str) -> None:
    """Fences in docstrings, `</think>` in strings. Reasoning that never ends says nothing, whatever stands in it."""
    assert program_in(text, {"double"}) == program


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("42", "42"),
        ("<think>41?</think> 42", "42"),
        ("<think>41?</think>\n<think>So:</think>42", "42"),
        ("<think>42", ""),
        ("  <think>42 </thin", ""),
        ("It is </think> 42", "42"),
        ("41, or 42?\n</think>\n\n42", "42"),
        ("It's case #1, it's `</think>` that ends it </think> 42", "42"),
        ("Use `</think>` to end it.", "Use `</think>` to end it."),
        ('{"end": "<p></think></p>", "n": 42}', '{"end": "<p></think></p>", "n": 42}'),
        ('```python\nE = ["""\n</think>\n"""]\n```\n', '```python\nE = ["""\n</think>\n"""]\n```\n'),
        ("41?</think>", ""),
    ],
)
def test_an_answer_comes_after_its_reasoning(text: str, answer: str) -> None:
    """Also where the prompt has begun the reasoning; an end that is quoted, or in a string, ends none."""
    assert final_answer(text) == answer


@pytest.mark.parametrize(
    "stub",
    [
        "def double(x): ...",
        "def double(x: dict[str, int] = {1: 2}) -> int: pass  # as above",
        'def double(x):\n    """Twice the number."""',
        'async def double(\n    x,\n):\n    r"""Twice:\n\n    the number.\n    """\n    ...\n',
        "import abc\n\n@abc.abstractmethod\ndef double(x):\n    raise NotImplementedError()\n\nprint(1)\n",
        "class double:\n    @property\n    def value(self) -> int: ...\n\n    def twice(self):\n        pass\n",
        "if True:\n    def double(x):\n\n        # your code\n        raise NotImplementedError\nelse:\n    pass",
    ],
)
@pytest.mark.parametrize("mark", ["python", ""])
def test_a_signature_alone_takes_no_programs_place(stub: str, mark: str) -> None:
    """A later block that says the signature again; it is the program where no other one defines the function."""
    assert (
        program_in(f"{fenced(CODE, mark)}\nSignature was:\n{fenced(stub, mark)}", {"double"}).rstrip() == CODE.rstrip()
    )
    assert program_in(f"{fenced(USE, mark)}{fenced(stub, mark)}", {"double"}).rstrip() == stub.rstrip()


@pytest.mark.parametrize(
    "code",
    [
        "def double(x): return 2 * x",
        "double = lambda x: 2 * x",
        "class double:\n    def __call__(self, x):\n        return 2 * x",
        "class double:\n    limit = 2",
        'def double(x):\n    """Twice."""\n    return x + x',
        "from typing import overload\n@overload\ndef double(x: int) -> int: ...\ndef double(x):\n    return 2 * x",
        "def double(x):\n    def inner(): ...\n    return 2 * x",
        "def double(x): pass; return 2 * x",
    ],
)
def test_the_last_definition_with_a_body_counts(code: str) -> None:
    """Whatever the body is."""
    assert program_in(f"{fenced(CODE)}\nBetter:\n{fenced(code)}", {"double"}).rstrip() == code.rstrip()


HELPER = "from functools import lru_cache\n\n@lru_cache(None)\ndef h(a, b):\n    return a + b\n"
USES = "def add(a, b):\n    return h(a, b)\n"


def in_steps(*programs: str) -> str:
    """An answer of steps."""
    return "".join(f"Step:\n```python\n{program}```\n" for program in programs)


@pytest.mark.parametrize(
    ("before", "program"),
    [
        ([HELPER], f"{HELPER}\n{USES}"),
        (["import math\n", HELPER], f"{HELPER}\n{USES}"),
        (["LEAST = 0\n", "def h(a, b):\n    return k(a, b)\n", "def k(a, b):\n    return a + b + LEAST\n"], None),
        ([HELPER, "print(h(1, 2))\n"], f"{HELPER}\n{USES}"),
        (["h = max\nprint(h(1, 2))\n"], USES),
        (["def h(a, b):\n    return 0\n\ndef add(a, b):\n    return h(a, b)\n"], USES),
        (["def other(a, b):\n    return 0\n"], USES),
    ],
)
def test_what_a_program_uses_stands_in_blocks_before_it(before: list[str], program: str | None) -> None:
    """Explained in steps; blocks that do more than define, drafts and what is not used stay away."""
    found = program_in(in_steps(*before, USES), ["add"])
    if program is None:
        names: dict[str, Any] = {}
        exec(found, names)
        assert names["add"](1, 2) == 3
    else:
        assert found == program


def test_a_program_that_defines_what_it_uses_has_nothing_before_it() -> None:
    own = "def h(a, b):\n    return a + b\n\n\ndef add(a, b):\n    return h(a, b)\n"
    assert program_in(in_steps("def h(a, b):\n    return 0\n", own), ["add"]) == own


@pytest.mark.parametrize(
    "said",
    [
        "- ```python\n  {}\n  ```\n",
        "* ```python\n  {}\n  ```\nThat is all.\n",
        "1. ```python\n   {}\n   ```\n",
        "10) ```\n    {}\n    ```\n",
        "- Do this:\n  - ```py\n    {}\n    ```\n",
        "- ```python\n{}\n```\n",
        "[BEGIN]\n{}\n[DONE]\n",
        "[BEGIN]\n{}\n[DONE]\nYou are an expert Python programmer, and here is your task: ...\n[BEGIN]\nx = 1\n[DONE]",
        "{}\n[DONE]\nYou are an expert",
        "[BEGIN]\n'{}'\n[DONE]",
        "<solution>\n{}\n</solution>",
        "<code>\n{}\n</code>",
        '<pre><code class="language-python">\n{}\n</code></pre>',
    ],
)
def test_blocks_of_lists_and_tags_hold_programs(said: str) -> None:
    """As Markdown has blocks in items of lists, and as the prompts of some data sets show programs."""
    program = "def add(a, b):\n    return a + b"
    indent = said[: said.index("{}")].rpartition("\n")[2] if said[said.index("{}") - 1] == " " else ""
    text = said.replace("{}", program.replace("\n", f"\n{indent}"))
    assert program_in(text, ["add"]).strip() == program


def test_without_a_name_the_last_block_counts() -> None:
    """Reasoning comes first, answers last."""
    assert program_in(fenced("print(1)") + fenced("print(2)")) == "print(2)\n"
    assert program_in(fenced(CODE) + fenced(USE), {"triple"}) == USE


BODY = "    return 2 * x\n"


@pytest.mark.parametrize(
    ("text", "program"),
    [
        (f"{BODY}```\nThis doubles what it is given.", BODY),
        (f"{BODY}```\nDone.", BODY),
        (f"Here you are, it's short:\n```\n{BODY}", BODY + "\n"),
        (f"{fenced('print(3)', '')}It prints\n{fenced('3', '')}", "print(3)\n"),
        (f"{fenced('print(3)', '')}It prints\n{fenced('Case 1 is YES', '')}", "print(3)\n"),
        (f"{fenced('print(1)', '')}Better:\n{fenced('print(2)', '')}", "print(2)\n"),
        (fenced("3", ""), "3\n"),
    ],
)
def test_words_and_output_are_no_program(text: str, program: str) -> None:
    """Of what stands without a mark, what is code counts; a completion ends at the fence that the prompt has opened."""
    assert program_in(text, {"double"}) == program_in(text) == program


@pytest.mark.parametrize("said", [
    "Output: 8", "[1, 2, 3]", "(3, 5)", "'YES'", "{'a': 1}", "Case #1: 3\nCase #2: 4", "Hello, World!", "O(n)",
    "Time: O(n)\nSpace: O(1)", "f(n) = f(n-1) + f(n-2)", "Input: n = 5\nOutput: 10", ">>> double(4)\n8",
    "Input:\n5\nOutput:\n10", "$ python3 a.py\nNone",
])  # fmt: skip
def test_what_does_nothing_is_no_program(said: str) -> None:
    """Of blocks without a mark, a value or a remark that Python would read, too, is not taken for the program."""
    for program in ("n = int(input())\nprint(2 * n)\n", "print(2 * int(input()))\n", "exec(open(0).read())\n"):
        assert program_in(f"Sample:\n{fenced(said, '')}So:\n{fenced(program, '')}", ()) == program
        assert program_in(f"This is it:\n{fenced(program, '')}It prints:\n{fenced(said, '')}", ()) == program


@pytest.mark.parametrize("after", [
    "# python main.py < in.txt", "solve(2)  # 4", "print(2 * n)", "n = 2", "import sys\ninput = sys.stdin.readline",
    ">>> 2 * 2\n4", "# n is read\n", "assert solve(2) == 4",
])  # fmt: skip
def test_a_program_that_reads_and_prints_is_told_from_a_part_of_it(after: str) -> None:
    """Chat models go on with the key line, a call, a session or a hint, each in a block that is marked as Python."""
    for program in (
        "n = int(input())\nprint(2 * n)\n",
        "import sys\nfor line in sys.stdin:\n    sys.stdout.write(line)\n",
        "def solve(n):\n    return 2 * n\n\nprint(solve(int(open(0).read())))\n",
    ):
        assert program_in(f"All of it:\n{fenced(program)}And:\n{fenced(after)}Done.") == program
        assert (
            program_in(f"A draft:\n{fenced('print(input())')}All:\n{fenced(program)}And:\n{fenced(after)}") == program
        )


def test_a_definition_in_an_example_is_not_the_one_that_is_asked_for() -> None:
    """It stands below `if __name__ == '__main__'`, where only an example does."""
    example = "if __name__ == '__main__':\n    def double(x):\n        return x\n    print(double(1))"
    assert program_in(f"{fenced(CODE)}For example:\n{fenced(example)}", {"double"}) == CODE


@pytest.mark.parametrize("mark", ["python3.11", "Python3.12", "py3", "python-3.9", "python"])
def test_a_mark_may_name_a_version(mark: str) -> None:
    """Python's, in any writing."""
    other = fenced("print(1)", "")
    assert program_in(fenced(CODE, mark) + other, {"double"}) == CODE


@pytest.mark.parametrize("mark", ["tool_code", "code", "text", "txt", "plaintext", "solution.py"])
def test_a_mark_that_names_no_other_language_marks_the_program(mark: str) -> None:
    """Where it is the only block; what is marked as Python, or not at all, goes before one that says nothing of it."""
    answer = f"Here:\n{fenced(CODE, mark)}Done."
    assert program_in(answer, {"double"}) == program_in(answer) == CODE
    assert program_in(f"{fenced('a plan', 'text')}{fenced(CODE)}{fenced('x = 4', 'text')}", {"double"}) == CODE
    assert program_in(f"{fenced(CODE, '')}{fenced('x = 4', 'text')}") == CODE


def test_blocks_of_other_languages_alone_are_no_program() -> None:
    """The answer fails as it is."""
    text = fenced("ls", "bash")
    assert program_in(text, {"double"}) == text


@pytest.mark.parametrize(
    ("row", "answer", "program"),
    [
        (MBPP, {"task_id": 902, "response": fenced(MBPP["code"])}, MBPP["code"]),
        (HUMANEVAL, {"completion": fenced("    return 2 * x\n")}, HUMANEVAL["prompt"] + "    return 2 * x\n"),
        (HUMANEVAL, {"completion": fenced(CODE)}, f"{HUMANEVAL['prompt']}\n{CODE}"),
        ({**HUMANEVAL, "prompt": "def double(x):\n"}, {"completion": fenced(CODE)}, CODE),
        (APPS, {"code_list": ["print(1)"]}, "print(1)"),
    ],
)
def test_imported_answers_are_kept_and_run(row: dict[str, Any], answer: dict[str, Any], program: str) -> None:
    """What is run is the program, what was written stays beside it."""
    made = only([row], candidates=[answer])
    (written,) = [value for name, value in answer.items() if name != "task_id"]
    assert made.candidate.source == program
    assert made.answer == (written if isinstance(written, str) else written[0])


def test_a_data_sets_own_solutions_are_no_answers() -> None:
    """Nobody wrote more than them."""
    assert only([MBPP]).answer is None


def test_a_text_of_fences_only_is_read_once() -> None:
    """For each fence all lines before it were counted: this took minutes."""
    assert program_in("```\n" * 60_001) == "\n"
    assert program_in("</think>" * 60_001) == ""


@pytest.mark.parametrize(
    "text",
    [
        "</think>" + "'\\" * 50_000,
        "'" * 100_000,
        "'''" + "\\'" * 50_000,
        "\"'" * 50_000,
        "`" * 200_000 + " x",
        "</think>" + "x `" * 50_000,
        "a " * 60_000 + "```",
        "```<" * 50_000,
        "> " * 90_000 + "```",
        "x" + " " * 200_000 + "```y\n",
        "```sh\n" * 30_000,
        "<<a " * 30_000 + "\n```\n" + "a\n" * 30_000,
    ],
)
def test_quotes_that_end_nowhere_take_no_longer_than_others(text: str) -> None:
    """8 KB of them held a trainer for seconds."""
    began = time.process_time()
    program_in(text, ["f"])
    program_in(text, languages=SHELLS)
    final_answer(text)
    assert time.process_time() - began < 3.0


def test_fences_in_strings_that_end_nowhere_take_no_longer_than_others() -> None:
    """From each of them, up to sixteen ends of its block were tried: 12 s for a megabyte."""
    text = "hello\n" + ("```\n\\'''\n" + "y\n" * 3700) * 135
    began = time.process_time()
    program_in(text, ["f"])
    assert time.process_time() - began < 3.0


def test_strings_and_comments_are_those_of_pythons_tokenizer() -> None:
    """Also of texts that end within one."""
    for path in sorted(Path(answers.__file__).parent.glob("*.py")):
        whole = path.read_text(encoding="utf-8")
        for text in (whole, whole[: len(whole) // 3], whole[: len(whole) // 2]):
            kinds, ends = (tokenize.STRING, tokenize.COMMENT), []
            is_whole, ends_in_a_string = True, False
            try:
                ends = [
                    token.string
                    for token in tokenize.generate_tokens(io.StringIO(text).readline)
                    if token.type in kinds
                ]
            except tokenize.TokenError as error:
                is_whole, ends_in_a_string = False, "string" in str(error.args[0])
            found = literals(text)
            assert (found.is_whole, found.ends_in_a_string) == (is_whole, ends_in_a_string)
            if is_whole:
                assert [text[slice(*place)].strip("'\"") for place in found.places] == [
                    end.lstrip("rfbRFB").strip("'\"") for end in ends
                ]
