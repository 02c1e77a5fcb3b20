"""Every parser of bytes that a candidate controls, fed with what it never expected: mutations of valid documents.

What comes out is a verdict, or the one error that the parser is documented to raise. In CI some thousand inputs; with
HARENA_FUZZ_INPUTS=1000000 a million. HARENA_FUZZ_SEED draws others.
"""

from __future__ import annotations

import io
import os
import random
import tarfile
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pytest

from harena.core import file_trees
from harena.core.errors import HarenaError
from harena.core.models import ExecOutcome, ExecResult
from harena.core.output import OutputBuffer
from harena.runtime.host import box_files
from harena.scoring import codec
from harena.scoring.battery.forgery import defined_functions
from harena.scoring.codec import MalformedError
from harena.scoring.compare import (
    OutputComparison,
    Tolerance,
    ValueComparison,
    compare_output,
    compare_values,
    parse_number,
)
from harena.scoring.contracts.contract import Check, NumericContract, TestsContract
from harena.scoring.contracts.judge import LabelModelContract, ScoreModelContract
from harena.scoring.contracts.similarity import Metric, similarity
from harena.scoring.contracts.templates import SampleError, filled
from harena.scoring.formats.answers import program_in
from harena.scoring.scorers.command_verdicts import holds_at_end_of_line
from harena.scoring.scorers.drive import FrameReader, answered_value, judge
from harena.scoring.scorers.harbor import _number as harbor_number
from harena.scoring.scorers.judgement import judged
from harena.scoring.scorers.output import numeric_score
from harena.scoring.scorers.suite_apart import parsed_report
from harena.scoring.scorers.text import holds
from harena.scoring.slices import last_line, last_text_line
from harena.scoring.values import from_tagged, show
from harena.scoring.verdict import program_failure
from harena.sdk import archive
from harena.training.data.prompts import PromptRow
from harena.training.rewards import reward_recipe
from harena.training.rewards.recipe import Rule
from harena.training.rollouts.trajectory import Reward

INPUTS = int(os.environ.get("HARENA_FUZZ_INPUTS", "12000"))
SEED = int(os.environ.get("HARENA_FUZZ_SEED", "10"))

FILES = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""where what archives hold is written"""

pytestmark = pytest.mark.timeout(max(120, INPUTS // 100))

TOKENS = [
    b"0", b"1", b"-", b".", b"e", b"E", b"9" * 50, b"9" * 5000, b"1e400", b"1e99999999999999999999", b"-0", b"nan",
    b"inf", b"Infinity", b"NaN", b"[", b"]", b"{", b"}", b"(", b")", b"[" * 3000, b"{\"a\":" * 500, b"\"", b"\\", b":",
    b",", b";", b" ", b"\n", b"\r\n", b"\t", b"\0", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"\xf0\x9f",
    "\U0001f600".encode(), "\u2028".encode(), "\xa0".encode(), "\u0661".encode(), b"```", b"```python\n", b"~~~",
    b"</think>", b"<think>", b"def f(x):\n", b"class ", b"\"\"\"", b"'''", b"#", b"lambda", b"i1;", b"s1:a", b"l2:",
    b"d1:", b"e1:", b"f0x1.0000000000000p+0;", b"l99999999:", b"N", b"T", b"F", b"0000000a", b"ffffffff", b"____",
    b"score", b"label", b"true", b"null", b"####", b"$", b"%", b"x", b"A" * 300, b"\x1c", b"async ", b"1_000", b"0x10",
    b"-Infinity", b"[" * 19_000, b"{\"a\":" * 3800, b"{\"score\": 1, \"score\": 0}", b"l-1:", b"s-1:", b"d-9:",
    b"i-" + b"f" * 5000 + b";", b"1E+999999999", b"-1", b"\\udfff\\ud800", b"\xc0\x80", b"\xf4\x90\x80\x80",
    b"\xfe\xff",
]  # fmt: skip

VALUES: list[Any] = [
    1, -(10**30), 1.5, float("nan"), "text", "\ud800", b"bytes", None, True, [1, [2.0, "a"]], (1, (2,)),
    {"$dict": [[1, [2]], ["a", {"$set": [1, 2.0]}]]}, {"$set": [1, 2, 3]}, {"$complex": [1.0, 2.0]}, [], 10**400,
]  # fmt: skip
HOST_VALUES = [from_tagged(value) for value in VALUES]


class Mutator:
    """Changes a document a little, or much; by seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def __call__(self, document: bytes) -> bytes:
        draw = self.random
        made = bytearray(document)
        for _ in range(draw.choice((0, 1, 1, 2, 3, 8))):
            at = draw.randrange(len(made) + 1)
            what = draw.randrange(6)
            if what == 0:
                made[at:at] = draw.choice(TOKENS)
            elif what == 1 and made:
                del made[at : at + draw.choice((1, 2, 8, 100))]
            elif what == 2 and made:
                made[min(at, len(made) - 1)] = draw.randrange(256)
            elif what == 3:
                made[at:at] = made[at : at + draw.randrange(40)] * draw.choice((1, 2, 20))
            elif what == 4:
                made[at : at + 1] = draw.choice(TOKENS)
            else:
                made = made[:at] if draw.random() < 0.3 else made + draw.choice(TOKENS)
        return bytes(made[:20_000])


CONTRACT = TestsContract.model_validate({"type": "tests", "entry_point": "f", "checks": [{"expected": 1}]})
SCORE = ScoreModelContract.model_validate(
    {"type": "score_model", "model": "m", "messages": [{"role": "user", "content": "x"}], "range": [0, 10]}
)
LABEL = LabelModelContract.model_validate(
    {
        "type": "label_model",
        "model": "m",
        "messages": [{"role": "user", "content": "x"}],
        "labels": ["good", "bad"],
        "passing_labels": ["good"],
    }
)
NUMERIC = NumericContract.model_validate({"type": "numeric", "range": [0, 1e308]})
TEMPLATE = "{{ sample.output_text }} {{ sample.output_json.a[0].b }} {{ sample.output_json }}"


def outputs(content: bytes, draw: random.Random) -> None:
    """What a program prints."""
    comparison = draw.choice(get_args(OutputComparison))
    expected = draw.choice(["1 2.5\nabc", "1e10", "", "9" * 50, "ß\n\n1"])
    assert compare_output(content, expected, comparison, Tolerance(1e-6, 1e-9)) in (True, False)
    text = content.decode("utf-8", "replace")
    number = parse_number(last_text_line(text).strip())
    if number is not None:
        assert 0.0 <= numeric_score(NUMERIC, number) <= 1.0
    failed = ExecResult(outcome=ExecOutcome.EXITED, returncode=1, stdout=content, stderr=content)
    assert program_failure(failed) is not None
    assert len(last_line(content)) <= 4096
    assert holds_at_end_of_line(content, b"12345") is any(line.endswith(b"12345") for line in content.splitlines())


def replies(content: bytes, draw: random.Random) -> None:
    """What a process answers to a check."""
    comparison = draw.choice(get_args(ValueComparison))
    try:
        value = codec.decode(content)
    except MalformedError:
        pass
    else:
        expected = draw.choice(HOST_VALUES)
        assert compare_values(value, expected, comparison, Tolerance(1e-6, 1e-9)) in (True, False)
        assert len(show(value)) < 200
        assert codec.decode(codec.encode(value)) is not None or value is None
    check = Check.model_construct(args=(), kwargs={}, expected=draw.choice(HOST_VALUES), comparison=comparison)
    for kind in (b"v", b"r", b"x", b"q", content[:1]):
        with suppress(MalformedError):
            judge(check, CONTRACT, kind, content)
        with suppress(MalformedError):
            answered_value(kind, content)


def frames(content: bytes, draw: random.Random) -> None:
    """What a process sends, cut anywhere."""
    buffer = OutputBuffer(1 << 20)
    at = 0
    while at < len(content):
        size = draw.choice((1, 7, 8, 9, 1000, 20_000))
        buffer.append(content[at : at + size])
        at += size
    buffer.close()
    reader = FrameReader(buffer)
    with suppress(MalformedError):
        while _told_at_once(reader.next()) is not None:
            pass


def _told_at_once(asked: Coroutine[Any, Any, Any]) -> Any:
    """The answer of a coroutine that has nothing to wait for."""
    try:
        asked.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")


def judges(content: bytes, draw: random.Random) -> None:
    """What a judge says, in which a candidate may have itself quoted."""
    text = any_text(content)
    for contract in (SCORE, LABEL):
        score = judged(contract, text)
        assert score is None or 0.0 <= score <= 1.0


def any_text(content: bytes) -> str:
    """With lone surrogates, where there are some; else whatever it is."""
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return content.decode("utf-8", "replace")


def rewards(content: bytes, draw: random.Random) -> None:
    """A reward file that a verifier left, or a candidate."""
    number = harbor_number(content.decode("utf-8", "replace"))
    assert number is None or 0.0 <= number <= 1.0


def answers(content: bytes, draw: random.Random) -> None:
    """What a model says: the program in it, its number, its JSON."""
    text = any_text(content)
    assert isinstance(program_in(text, ("f",)), str)
    assert isinstance(defined_functions(text), tuple)
    with suppress(SampleError):
        filled(TEMPLATE, {}, text)
    assert holds(text, "a", draw.choice(("eq", "ne", "like", "ilike"))) in (True, False)
    assert 0.0 <= similarity(text[:500], "the cat sat", draw.choice(get_args(Metric))) <= 1.0 + 1e-9
    row = PromptRow(id="r", prompt="?", expected_output="42")
    for name in ("gsm8k_v1", "exact_match_v1", "math_v1"):
        rule = reward_recipe(name, {})
        assert isinstance(rule, Rule)
        assert Reward(value=rule.decide(row, text)).value is not None


def files(content: bytes, draw: random.Random) -> None:
    """What a file operation answers from inside of a sandbox."""
    for parse in (box_files.parse_entries, box_files.parse_processes):
        with suppress(HarenaError):
            parse(box_files.parse_answer(content, "x"))


def archives(content: bytes, draw: random.Random) -> None:
    """The stream that a sandbox packs, or a client: as it came, or with sums that fit its headers."""
    if draw.random() < 0.8:
        content = with_sums(content)
    with TemporaryDirectory(dir=FILES) as folder:
        with suppress(HarenaError, OSError):
            archive.unpack(io.BytesIO(content), Path(folder, "a"), max_bytes=1 << 20)
        with suppress(HarenaError, OSError):
            file_trees.unpack(io.BytesIO(content), Path(folder, "b"), most_bytes=1 << 20)
        assert os.listdir(folder) in (["a"], ["b"], ["a", "b"], ["b", "a"])


def with_sums(content: bytes) -> bytes:
    """Every block of a tar stream as if it were a header with the right sum."""
    made = bytearray(content)
    for start in range(0, len(made) - 511, 512):
        block = made[start : start + 512]
        if any(block) and (block[257:262] == b"ustar" or start == 0):
            block[148:156] = b" " * 8
            made[start + 148 : start + 156] = b"%06o\0 " % sum(block)
    return bytes(made)


def tar(*members: tuple[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar stream; a name that ends in a slash is a directory."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as made:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            made.addfile(member, io.BytesIO(content))
    return stream.getvalue()[: 512 * (3 + 4 * len(members))]


REPORT = (
    b'harena-report w {"first": "a", "broken": "", "unserved": "", "doubted": "", "believed": "", "timed": true, '
    b'"excused": ["t.py::b"], "skips": [["t.py::b", "t.py:7"]], "expected": ["t.py::c"], '
    b'"ran": ["t.py::a"], "read": [], "unread": [], "counts": {"t.py::a": 1, "t.py::b": 2}, '
    b'"questions": [["is f there", true]], "unheard": "", "taken": "", "sought": false, "named": ["f"], "caught": {}, '
    b'"hollow": {"t.py:9": 3}, "unexplained": {"t.py:9": 1}, '
    b'"judged": {"t.py::a": 4}, "silent": ["t.py::d"], "unjudged": ["t.py::e"], "passed": 1}'
)
COUNTS = (
    b"Infinity", b"-Infinity", b"NaN", b"1e999", b"1.0", b"0", b"-1", b"9" * 5000, b"10000001", b"true", b"null",
    b'"1"', b"[" * 100_000,
)  # fmt: skip
FORGED = {
    b'"timed": true': [b'"timed": 1', b'"timed": null', b'"timed": "true"'],
    b'"t.py::a": 1': [b'"t.py::a": ' + value for value in COUNTS],
    b'["t.py::a"]': [b"NaN", b"{}", b"[1]", b'"t.py::a"', b"[[]]"],
    b'{"t.py::a": 1, "t.py::b": 2}': [b"[]", b'[["a", 1]]', b"null"],
    b'[["is f there", true]]': [b"[[]]", b"[1]", b'[["a", 1]]', b"{}", b'[["a", true, true]]'],
    b'[["t.py::b", "t.py:7"]]': [b"[[]]", b"[1]", b'[["a", 1]]', b"{}", b'[["a", "b", "c"]]', b'["ab"]'],
    b'{"t.py:9": 3}': [b"[]", b"null", b'{"t.py:9": -1}', b'{"t.py:9": "3"}'],
    b'{"t.py::a": 4}': [b"[]", b"null", b'{"t.py::a": 1.5}'],
    b'["t.py::d"]': [b"{}", b"[1]", b"null"],
    b'["t.py::e"]': [b"{}", b"[1]", b"null"],
    b'["t.py::c"]': [b"{}", b"[1]", b"null"],
    b"false": [b"0", b"null", b'""'],
    b'"first": "a"': [b'"first": 1', b'"first": Infinity', b'"last": "a"', b'"first": {}'],
}


def reports(content: bytes, draw: random.Random) -> None:
    """What the runner of a suite says of its tests, which a candidate beside it may forge."""
    with suppress(MalformedError):
        told = parsed_report(content, "w")
        assert all(type(count) is int and count > 0 for count in told.counts.values())
        assert all(type(name) is str for name in (*told.excused, *told.ran, *told.read, *told.unread, *told.counts))


def test_a_report_that_no_runner_writes_is_malformed() -> None:
    """Numbers without end, numbers that no suite has, and other kinds than a runner writes."""
    assert parsed_report(REPORT, "w").counts == {"t.py::a": 1, "t.py::b": 2}
    for part, others in FORGED.items():
        for other in others:
            assert REPORT.count(part) == 1
            with pytest.raises(MalformedError):
                parsed_report(REPORT.replace(part, other), "w")


PARSERS: dict[str, tuple[Callable[[bytes, random.Random], None], list[bytes]]] = {
    "outputs": (outputs, [b"1 2.5\nabc\n", b"3.0\n", b"ValueError: x\n", b"a b c\n1e5 -2.5E-3\n", b"12345\n"]),
    "replies": (replies, [codec.encode(value) for value in [*HOST_VALUES, (("ValueError", "Exception"), "message")]]),
    "frames": (frames, [b"00000005hello00000001x", b"0000000aabcdefghij"]),
    "judges": (judges, [b'{"score": 5}', b'<think>a {"score": 1}</think> {"score": 2.5}', b'x {"label": "good"} y']),
    "reports": (reports, [REPORT, *(REPORT.replace(part, other[0]) for part, other in FORGED.items())]),
    "rewards": (rewards, [b"1", b"0.5\n", b'{"reward": 0.25, "other": [1]}']),
    "answers": (
        answers,
        [
            b"<think>x</think>\nHere:\n```python\ndef f(x):\n    return '```'\n```\n#### 42",
            b'def f(x):\n    """a\n    ```\n    """\n    return 1\n',
            b'{"a": [{"b": 1.5}], "c": "x"}',
            b"```\nx = 1\n```\n~~~py\ndef f(): pass\n",
        ],
    ),
    "archives": (
        archives,
        [
            tar(("a.txt", b"x" * 600), ("b/", b""), ("b/c", b"")),
            tar(("a/" * 60 + "\u0661", b"1")),
            tar(("b" * 150, b"2"), form=tarfile.GNU_FORMAT),
        ],
    ),
    "files": (
        files,
        [
            b"ok\0/workspace/a\0file\x0012\x00420\x001.5\0\0",
            b"error\x002\0no such file\0",
            b"ok\x0012\x001\0S\x002\0python\0x.py\0",
        ],
    ),
}


@pytest.mark.parametrize("name", PARSERS)
def test_no_input_is_more_than_a_verdict(name: str) -> None:
    """No exception but the documented one; every input can be made again from its seed."""
    parse, documents = PARSERS[name]
    for number in range(INPUTS // len(PARSERS)):
        seed = SEED * 1_000_000_007 + number
        mutate = Mutator(seed)
        content = mutate(mutate.random.choice(documents))
        try:
            parse(content, mutate.random)
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}: {content[:200]!r}") from error
