"""The task of the learning proofs: words in, Python statements on x out. "add 3 then double>" becomes "x+=3;x*=2".

A teacher may say each of it wrongly, and always in the same way: add for subtract, times 3 for double. The answer is
run in a fresh sandbox on inputs that the policy never sees; nothing else decides whether it is right.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from harena.training.data.prompts import PromptRow
from harena.training.engines.tiny import END, PAD, UNKNOWN
from harena.training.rewards import CodeTests

INPUTS = (-7, -2, 0, 3, 5, 11)
LARGEST = 50
"""constant in a prompt; the smallest is 2"""
OPERATIONS = (
    ("add {c}", "x+={c}", "x-={c}"),
    ("subtract {c}", "x-={c}", "x+={c}"),
    ("times {c}", "x*={c}", "x//={c}"),
    ("double", "x*=2", "x*=3"),
    ("negate", "x=-x", "x=+x"),
    ("square", "x*=x", "x+=x"),
)
"""(words, what is right, what a wrong teacher says)"""
PIECES = (" then", "add", "subtract", "times", "double", "negate", "square", *"0123456789 x=+-*/;>")
"""the tokens: words, and single characters"""
HEAD, TAIL = "def f(x):\n    ", "\n    return x\n"
STEPWISE = """def f(x, done=None):
    statements, scope = "{completion}".split(";"), {"x": x}
    if done is not None and done > len(statements):
        return None
    for statement in statements[:done]:
        exec(statement, scope)
    return scope["x"]
"""
"""the program of an answer, which can also be asked for x after the first statements; no token holds a quote"""
LONGEST_ANSWER = 40
"""tokens, at most"""


@dataclass(frozen=True, slots=True)
class Problem:
    """A prompt, the right answer, and the wrong teacher's."""

    prompt: str
    right: str
    wrong: str
    depth: int
    """operations"""

    def contract(self) -> dict[str, Any]:
        """The checks that an answer is held to; they never enter the prompt."""
        checks = [{"args": [x], "expected": value} for x, value in zip(INPUTS, outputs(self.right), strict=True)]
        return {"type": "tests", "entry_point": "f", "checks": checks}

    def stepwise_contract(self) -> dict[str, Any]:
        """Checks of STEPWISE programs: those of `contract`, and for partial credit x after each statement but the
        last, for half of the inputs."""
        statements = self.right.split(";")
        checks = list(self.contract()["checks"])
        for done in range(1, len(statements)):
            values = outputs(";".join(statements[:done]))
            checks += [
                {"args": [x, done], "expected": value} for x, value in list(zip(INPUTS, values, strict=True))[::2]
            ]
        return {"type": "tests", "entry_point": "f", "checks": checks, "partial_credit": True}

    def row(self) -> PromptRow:
        """For RL and for evaluation."""
        return PromptRow(id=self.prompt, prompt=self.prompt, scoring=self.contract())


class Problems:
    """Draws problems, no prompt twice but where that is asked for."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._drawn: set[str] = set()

    def fresh(self, count: int, depths: Sequence[int]) -> list[Problem]:
        """Problems whose prompts were never drawn before, each of one of these depths."""
        drawn: list[Problem] = []
        while len(drawn) < count:
            one = self.any(self._rng.choice(depths))
            if one.prompt not in self._drawn and outputs(one.right) != outputs(one.wrong):
                self._drawn.add(one.prompt)
                drawn.append(one)
        self._rng.shuffle(drawn)
        return drawn

    def split(self, counts: Sequence[int], depths: Sequence[int]) -> list[list[Problem]]:
        """Lists of so many problems, of one distribution: no prompt is in two of them. There are few short prompts, and
        they would all be in the list that is drawn first; so the lists are cut from one that is shuffled."""
        everything = self.fresh(sum(counts), depths)
        return [[everything.pop() for _ in range(count)] for count in counts]

    def any(self, depth: int) -> Problem:
        """Any problem of this depth, drawn before or not."""
        said, right, wrong = [], [], []
        for words, yes, no in self._rng.choices(OPERATIONS, k=depth):
            c = self._rng.randint(2, LARGEST)
            said.append(words.format(c=c))
            right.append(yes.format(c=c))
            wrong.append(no.format(c=c))
        return Problem(" then ".join(said) + ">", ";".join(right), ";".join(wrong), depth)

    def mixed(self, one: Problem, right_share: float) -> str:
        """An answer whose operations are right or wrong each by itself."""
        pairs = zip(one.right.split(";"), one.wrong.split(";"), strict=True)
        return ";".join(yes if self._rng.random() < right_share else no for yes, no in pairs)


def outputs(statements: str) -> list[int]:
    """What a teacher's answer makes of each input."""
    known: dict[str, Any] = {}
    exec(program(statements), known)
    return [known["f"](x) for x in INPUTS]


def program(answer: str) -> str:
    """The program that an answer stands for."""
    return HEAD + answer + TAIL


def answer_of(source: str) -> str:
    """The answer that a program was made of."""
    return source.removeprefix(HEAD).removesuffix(TAIL)


def rewards(*, stepwise: bool = False) -> CodeTests:
    """Rewards from execution: 1 for programs that are right; `stepwise`: the share of checks that pass."""
    if stepwise:
        return CodeTests(template=STEPWISE, blueprint_id="python-warm", credit="fraction")
    return CodeTests(template=program("{completion}"), blueprint_id="python-warm")


def tokenizer() -> PreTrainedTokenizerFast:
    """One token for each of PIECES."""
    vocabulary = {token: number for number, token in enumerate([PAD, END, UNKNOWN, *PIECES])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(r" then|[a-wyz]+|[\s\S]"), behavior="isolated")
    inner.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token=PAD, eos_token=END, unk_token=UNKNOWN, clean_up_tokenization_spaces=False
    )
