"""Texts that patterns would search in quadratic or exponential time: whatever reads what users write is linear."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import pytest

from harena.core.errors import ValidationError
from harena.runtime.host.layers import check_requirements
from harena.scoring.contracts.templates import TemplateError, check_template
from harena.scoring.formats.answers import SHELLS, final_answer, program_in
from harena.scoring.formats.final_number import last_number
from harena.scoring.formats.lexemes import literals
from harena.scoring.reading import read_json, read_yaml
from harena.scoring.scorers.leftover_links import _LOOKS_AT_LINKS
from harena.scoring.scorers.start_up_files import _PROGRAM_NAME, _SETS_SEARCH_PATH, _SUBSTITUTE
from harena.scoring.scorers.trusted_names import _programs_within
from harena.scoring.verified_data.rows import PromptError, checked_template
from harena.training.environments.tool_calls import parse_call, words_and_calls

SIZE = 40_000
SECONDS = 4.0
"""of processor time, for all texts: linear work takes a tenth of it, quadratic work minutes"""
PIECES = (
    *(
        "{",
        "{{ ",
        "[",
        "[ -h",
        '\\"',
        '"',
        "'",
        "`",
        "```",
        "```\n",
        "~~~",
        "\\",
        "\\\\",
        "<",
        "<<a\n",
        "<<a",
        "<tool_call>",
    ),
    *(
        "a",
        "0",
        " ",
        "\t",
        "\n",
        "\r\n",
        " \n",
        "/",
        ": /",
        "-",
        ".",
        "a.",
        "a.py",
        "x=1\n",
        "a=b ",
        "PYTHONPATH=`",
        "-c'",
    ),
    *(
        "</think>",
        "<think>",
        "<answer>",
        "</answer> ",
        "NaN,",
        "NaN\n",
        "#",
        '"""',
        "f'{",
        "(",
        "a==1 ",
        ",",
        ";",
        "|",
        "$(",
        "#### 1 a\n",
        "\\text{",
        "1 m/",
        "<b ",
        "~~a",
    ),
)
READERS: dict[str, Callable[[str], object]] = {
    "answer": final_answer,
    "program": program_in,
    "literals": literals,
    "number": last_number,
    "script": lambda text: program_in(f"```bash\n{text}\n```\n", languages=SHELLS),
    "json": lambda text: read_json(f"[NaN, {text}", "a.json"),
    "yaml": lambda text: read_yaml(text, "a.yaml"),
    "template": lambda text: check_template(text, {}),
    "prompt": checked_template,
    "requirement": lambda text: check_requirements([f"a{text[:4096]}\0"]),
    "shell": lambda text: list(_programs_within(text)),
    "links": _LOOKS_AT_LINKS.search,
    "program names": _PROGRAM_NAME.findall,
    "tool call": parse_call,
    "words and calls": words_and_calls,
    "search paths": _SETS_SEARCH_PATH.findall,
    "substitutes": _SUBSTITUTE.findall,
}


@pytest.mark.parametrize("name", READERS)
def test_no_text_takes_more_than_linear_time(name: str) -> None:
    """One piece again and again, alone and where an answer or a quote has begun."""
    before = time.process_time()
    for piece in PIECES:
        for text in (piece * (SIZE // len(piece)), f"x `{piece * 90}</think> {piece * 90}\n"):
            with contextlib.suppress(ValidationError, TemplateError, PromptError):
                READERS[name](text)
        assert time.process_time() - before < SECONDS, piece
