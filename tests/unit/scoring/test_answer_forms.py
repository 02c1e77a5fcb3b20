# ruff: noqa: E501 (programs are text, not code of ours)
"""The forms in which models write right programs, and what is run of each."""

from __future__ import annotations

import json
import random

import pytest

from harena.scoring.formats.answers import (
    REASONING_MARKS,
    final_answer,
    json_without_reasoning_ends,
    program_in,
    scripts_in,
    with_opened_reasoning,
)
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


FAMILIES = {
    "DeepSeek, Qwen": ("<think>\n{thought}\n</think>\n\n{said}", "<think>\n"),
    "Magistral": ("[THINK]{thought}[/THINK]{said}", "[THINK]"),
    "Seed": ("<seed:think>{thought}</seed:think>{said}", "<seed:think>"),
    "Command A": ("<|START_THINKING|>{thought}<|END_THINKING|><|START_RESPONSE|>{said}<|END_RESPONSE|>", ""),
    "Command A without a thought": ("<|START_RESPONSE|>{said}<|END_RESPONSE|>", ""),
    "Apertus": ("<|inner_prefix|>{thought}<|inner_suffix|>{said}", "<|inner_prefix|>"),
    "MedGemma": ("<unused94>thought\n{thought}<unused95>{said}", ""),
    "Kimi": ("\u25c1think\u25b7{thought}\u25c1/think\u25b7{said}", "\u25c1think\u25b7"),
    "gpt-oss": (
        "<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant<|channel|>final<|message|>{said}<|return|>",
        "",
    ),
    "gpt-oss with a format": (
        "<|start|>assistant<|channel|>analysis<|message|>{thought}<|end|>"
        "<|start|>assistant<|channel|>final <|constrain|>json<|message|>{said}",
        "<|channel|>analysis<|message|>",
    ),
}
"""an answer of each family of models, and what a chat template of it may end a prompt with"""


@pytest.mark.parametrize("family", FAMILIES)
def test_reasoning_of_every_family_is_left_out(family: str) -> None:
    """What is in the thought is not in the answer, and the answer is all there; a thought alone says nothing."""
    form, opened = FAMILIES[family]
    thought = "Is it\n```python\ndef double(x): return x\n```\nor needle?"
    assert final_answer(form.format(thought=thought, said="42")) == "42"
    assert final_answer("\n " + form.format(thought=thought, said="a\n\nb")) == "a\n\nb"
    code = "def double(x):\n    return 2 * x\n"
    fenced = form.format(thought=thought, said=f"Here:\n```python\n{code}```")
    assert program_in(fenced, {"double"}).strip() == code.strip()
    assert program_in(form.format(thought=thought, said=code), {"double"}).strip() == code.strip()
    if "{thought}" in form:
        alone = form.format(thought=thought, said="").partition("needle?")[0]
        assert final_answer(alone) == "" == program_in(alone, {"double"})
    if opened:
        behind = form.removeprefix("<|start|>assistant").removeprefix(opened).format(thought=thought, said="42")
        assert final_answer(with_opened_reasoning(f"q<|im_end|>{opened}", behind)) == "42"


@pytest.mark.parametrize("opened", [opened for _, opened in FAMILIES.values() if opened])
def test_reasoning_that_the_prompt_opened_and_that_never_ends_says_nothing(opened: str) -> None:
    """Not even where it holds a draft, or calls a tool; of a mark that is quoted in it, what is behind is the answer."""
    for before in (f"<|im_start|>assistant\n{opened}", f"<|im_start|>assistant\n{opened}\n\n"):
        for said in ("9*2 = 18", "```python\ndef double(x): return 2 * x\n```", "", "def double(x): return 2 * x\n"):
            judged = with_opened_reasoning(before, said)
            assert final_answer(judged) == "" == program_in(judged, {"double"})
    assert final_answer(with_opened_reasoning("<think>\n", "18? `</think>` is not said yet")) == "` is not said yet"
    assert final_answer(with_opened_reasoning("<think>\n", "18 # x = '</think>'")) == "'"


@pytest.mark.parametrize(
    "before",
    ["q", "<think>\n\n</think>\n\n", "What does <think> mean?", "<|im_start|>assistant\n", "[THINK]a[/THINK]", ""],
)
def test_without_an_opened_reasoning_what_was_said_stays(before: str) -> None:
    for said in ("18", "x</think>18", "<think>x</think>18", "def f(): return '</think>'\n"):
        assert with_opened_reasoning(before, said) == said


def test_what_a_prompt_opened_and_the_answer_ends_stays() -> None:
    """Nothing is put in front of an answer whose end of reasoning tells by itself where it begins."""
    for said in ("hm\n</think>\n\n42", "<think>\nhm</think>42", "hm </think>```python\nx\n```"):
        assert with_opened_reasoning("<think>\n", said) == said


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("42<|im_end|>", "42"),
        ("42<|eot_id|>\n", "42"),
        ("a [THINK] b", "a [THINK] b"),
        ("the mark `[/THINK]` ends it", "the mark `[/THINK]` ends it"),
        ("print('<|channel|>final<|message|>')", "print('<|channel|>final<|message|>')"),
        ("f <| g |>", "f <| g |>"),
        ("say <|im_end|> to end", "say <|im_end|> to end"),
    ],
)
def test_answers_about_marks_stay(text: str, answer: str) -> None:
    assert final_answer(text) == answer


def test_json_says_the_same_without_an_end_of_reasoning() -> None:
    said = {
        "said": ["</think>", "[/THINK] \u25c1/think\u25b7", "<|END_THINKING|><|START_RESPONSE|>", "<unused95>", "</a>"]
    }
    written = json_without_reasoning_ends(json.dumps(said, ensure_ascii=False))
    assert json.loads(written) == said
    assert final_answer(written) == written
    assert not any(mark in written for mark in REASONING_MARKS.values())


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("First\n```bash\nF=flag\n```\nthen\n```bash\necho $F\n```", "F=flag\n\necho $F\n"),
        ("```sh\na\n```\nCheck it:\n```console\n$ ls\n```", "a\n"),
        ("```bash\na\n```\nRun it:\n```bash\n$ ls\nx\n```", "a\n"),
        ("```bash\na\n```\nIt prints\n```\nx\n```\n```bash\nb\n```", "a\n\nb\n"),
        ("```bash\n#!/bin/bash\na\n```\nor\n```bash\n#!/bin/bash\nb\n```", "#!/bin/bash\nb\n"),
        ("<think>```bash\nno\n```</think>```bash\na\n```", "a\n"),
        ("a\nb\n", "a\nb\n"),
        (
            "cat > f <<'EOF'\n```bash\nx\n```\n```bash\ny\n```\nEOF\n",
            "cat > f <<'EOF'\n```bash\nx\n```\n```bash\ny\n```\nEOF\n",
        ),
    ],
)
def test_steps_of_a_shell_are_run_one_after_the_other(text: str, script: str) -> None:
    """Only the last one was run, without what those before had made; whole programs are drafts of each other."""
    assert scripts_in(text) == script


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("```bash\r\necho hello > out.txt\r\n```\r\n", "echo hello > out.txt\n"),
        ("```console\n$ echo hello > out.txt\n```\n", "echo hello > out.txt\n"),
        ("$ echo hello > out.txt\n$ cat out.txt\nhello\n", "echo hello > out.txt\ncat out.txt\n"),
        ("```sh\n$ mkdir a\n```\nThen:\n```sh\n$ echo b > a/b\nb\n```\n", "mkdir a\n\necho b > a/b\n"),
        ("```sh\necho a > b\n```\nTry it:\n```sh\n$ cat b\na\n```\n", "echo a > b\n"),
        ("```sh\necho '$ not typed'\n```\n", "echo '$ not typed'\n"),
    ],
)
def test_what_is_typed_into_a_shell_is_what_is_run(text: str, script: str) -> None:
    """Behind a prompt, where an answer shows nothing but a session; without the carriage returns of other systems."""
    assert scripts_in(text) == script
