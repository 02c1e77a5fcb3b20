# ruff: noqa: E501 (programs are text, not code of ours)
"""The forms in which models write right programs, and what is run of each."""

from __future__ import annotations

import random

import pytest

from harena.scoring.formats.answers import final_answer, program_in
from harena.scoring.formats.fences import SHELLS

CODE = "def double(x):\n    return 2 * x\n"
QUOTING = '''def double(x):
    """Use it so:

    ```python
    double(2)
    ```
    """
    end = "```" + '</think>'  # no "</think>" ends this, nor ```
    return 2 * x
'''
PROGRAMS = (
    CODE,
    QUOTING,
    "import re\n\n\nclass double:\n    mark = '''\n```\n'''\n\n    def __new__(cls, x):\n        return x if not x else x + x\n",
    "double = lambda x: 2 * x if x in (1, 2) else x and 2 * x\n",
    "try:\n    from math import prod\nexcept ImportError:\n    prod = None\nif prod:\n    def double(x):\n        return prod([x, 2])\n",
    "async def wait(): pass\n\n\ndef double(x):\n    match x:\n        case int() as n if n is not None: return 2 * n\n    return f'{x}' f\"{x}\"\n",
)  # fmt: skip
FORMS = {
    "raw": "{code}",
    "fenced": "```python\n{code}```",
    "prose around": "Here's the code, it's simple:\n\n```python\n{code}```\n\nThat's all: it doesn't mutate.",
    "fence behind words": "Here is the code: ```python\n{code}```",
    "unmarked fence behind a colon": "Here is the code: ```\n{code}```",
    "words behind the closing fence": "```python\n{code}``` This doubles it.",
    "and a block after them": "```python\n{code}``` This doubles it.\n\nUse:\n\n```python\nprint(double(1))\n```\n",
    "a chat token behind the closing fence": "```python\n{code}```<|im_end|>",
    "a tag behind the closing fence": "<answer>\n```python\n{code}```</answer>",
    "a chat token on its own line": "```python\n{code}```\n<|eot_id|>",
    "a chat token behind raw code": "{code}<|endoftext|>",
    "tags around raw code": "<answer>\n{code}</answer>",
    "a fence behind the last line": "```python\n{line}```",
    "a fence behind the last line, then prose": "```python\n{line}```\nIt's done.",
    "the prompt's fence": "{code}```\nThat is all.",
    "the prompt's fence behind the last line": "{line}```",
    "the prompt's fence with a token": "{code}```<|im_end|>",
    "markdown around": "```markdown\nAnswer\n```python\n{code}```\n```",
    "a fence around": "```\nAnswer:\n```python\n{code}```\n```\n",
    "four around three": "````markdown\n# Answer\n```python\n{code}```\n````",
    "never closed": "```python\n{code}",
    "never closed before the next": "```python\n{code}\n```python\nprint(double(1))\n```",
    "triple quotes in the prose": 'I add a docstring with """ first.\n\n```python\n{code}```\n\nThe """ are quotes.',
    "a block quote": "> ```python\n{quoted}> ```",
    "in a list": "1. So:\n   ```python\n{indented}   ```\n2. Done",
    "ipython": "```ipython\n{code}```",
    "attributes": "```{{.python .numberLines}}\n{code}```",
    "a title": '```python title="a.py"\n{code}```',
    "Python 3": "```Python 3\n{code}```",
    "output after": "```python\n{code}```\nOutput:\n```\n4\n```",
    "inline code and fences in prose": "Not ```x``` but `y`:\n\n```py\n{code}```\nSee ```double``` above.",
    "a shell block before": "```bash\npip install x  # see ```\n```\n```python\n{code}```",
    "carriage returns": "```python\r\n{code}```\r\n",
}
REASONING = {
    "": "",
    "closed": "<think>Is it\n```python\ndef double(x): return x\n```\nNo, it's 2x.</think>\n\n",
    "opened in the prompt": "Is it\n```python\ndef double(x): return x\n```\nNo.\n</think>\n\n",
    "with a number sign": "So case #1 is simple </think>\n",
    "with quotes": "It ends in `</think>`, doesn't it? That's \"it\".\n</think>\n",
    "with triple quotes": 'I need """ here. </think>\n',
    "twice": "<think>a</think>\nb</think>\n",
}


def written(form: str, code: str) -> str:
    lines = code.splitlines(keepends=True)
    return form.format(
        code=code,
        line=code.removesuffix("\n"),
        quoted="".join(f"> {line}" for line in lines),
        indented="".join(f"   {line}" if line.strip() else line for line in lines),
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reasoning", REASONING)
def test_a_right_program_is_found_in_every_form(form: str, reasoning: str) -> None:
    """Every program, also with fences and `</think>` in its strings."""
    for code in PROGRAMS:
        if form.startswith("the prompt's fence") and "```" in code:
            continue
        found = program_in(REASONING[reasoning] + written(FORMS[form], code), {"double"})
        assert found.strip("\n") == code.strip("\n")
        space: dict[str, object] = {}
        exec(compile(found, "answer", "exec"), space)
        assert "double" in space


def test_what_is_a_program_stays_one() -> None:
    """Lines of real programs, drawn: the text of a program is never taken for an answer around another one."""
    draw = random.Random(11)
    strings = ["'```'", '"""\n```python\nx\n```\n"""', "'</think>'", '"it\'s </think> here"', "r'\\d```'", "f'{x}```'"]
    shapes = ["a = {0}\n", "print({0}, sep={1})\n", "b = [{0}, {1}]  # {2}\n", "def f(x={0}): return x if x else {1}\n",
              "# </think>\n", "if not a: b = {0} + {1}\n", "c = {0}; d = ({1}\n     + 'x')\n"]  # fmt: skip
    for _ in range(300):
        text = "".join(
            draw.choice(shapes).format(
                draw.choice(strings), draw.choice(strings), draw.choice(["x", "</think>", "```"])
            )
            for _ in range(draw.randint(1, 6))
        )
        assert program_in(text, {"f"}) == text


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("<think>Sum.</think>\n", "    s = a + b\n    return s\n"),
        ("<think>\nSum.\n</think>\n\n", "    s = a + b\n\n    return s\n"),
        ("Sum.</think>\n", "    return a + b\n"),
        ("Sum.</think>", "    return a + b\n"),
        ("<think>\n\n</think>\n \n", "\treturn a + b\n"),
    ],
)
def test_the_rest_of_a_function_keeps_its_indentation(before: str, body: str) -> None:
    """Its first line lost it behind a reasoning."""
    assert program_in(before + body, {"add"}) == body
    assert program_in("<think>Hm.</think> " + CODE) == CODE


SCRIPT = "cat > README.md <<'EOF'\n# Build\n```bash\nmake\n```\nEOF\n"


@pytest.mark.parametrize(
    ("text", "program"),
    [
        (SCRIPT, SCRIPT),
        (SCRIPT.replace("'EOF'", "-EOF").replace("\nEOF\n", "\n\tEOF\n").replace("<<-EOF", "<<-EOF"), None),
        ("echo '\n```bash\nmake\n```\n' > README.md\n", None),
        (f"Here's it, isn't it:\n\n```bash\n{SCRIPT}```\nThat's all.\n", SCRIPT),
        ("Here's it:\n```sh\necho 'x'\n```\nThat's all.\n", "echo 'x'\n"),
        ("Let me see </think>\n```\nls\n```\n", "ls\n"),
    ],
)
def test_a_script_may_write_fences(text: str, program: str | None) -> None:
    """In a here-document or a string; the inner block was run in place of the script."""
    assert program_in(text, languages=SHELLS) == (text if program is None else program)


def test_a_definition_below_if_is_one() -> None:
    """And a method of that name is none."""
    nested = "if True:\n    def double(x):\n        return 2 * x\n"
    method = "class A:\n    def double(self): pass\n"
    assert program_in(f"```python\n{nested}```\nUse:\n```python\n{method}```\n", {"double"}) == nested


def test_reasoning_that_the_prompt_opened_pays_nothing() -> None:
    """The candidates for an answer in it are no answer."""
    reasoning = "It could be 41, 42 or 43; it's #1 or #2.\n</think>\n\n"
    assert final_answer(reasoning + "I do not know.") == "I do not know."
    assert final_answer(reasoning + '{"answer": 42}') == '{"answer": 42}'
    assert final_answer(f"<think>{reasoning}42") == "42"
