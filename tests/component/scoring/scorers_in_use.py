"""Scorers of ordinary form, each with a right answer and wrong ones; and scorers with mistakes of their authors."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from harena.core.models import SandboxSpec
from harena.core.results import RunResult
from harena.scoring import load_scenarios, score_scenario
from sandbox_source import SandboxSource

GARBAGE = ("I do not know", "\ud7ff\x00\u2028", "-", '{"a": [', "1e999")
HUGE = ("[" * 50_000, "9" * 1_000_000, "x\n" * 100_000)


@dataclass(frozen=True, slots=True)
class Ordinary:
    """The body of `score(run)`, with lines before it."""

    body: str
    right: str
    wrong: tuple[str, ...]
    before: str = ""

    @property
    def source(self) -> str:
        return source_of(self.body, self.before)


def source_of(body: str, before: str = "") -> str:
    """The text of a scorer."""
    return f"{before}\ndef score(run):\n{textwrap.indent(body, '    ')}\n"


COLOR = "import enum\nclass Color(enum.Enum):\n    RED = 'red'\n    BLUE = 'blue'\n"
FIELDS = "def fields(text):\n    return dict(line.split(': ') for line in text.splitlines())\n"
SHADES = "import enum\nShade = enum.Enum('Shade', {'-'.join(('dark', 'red')): 1, 'pale': 2})\n"

ORDINARY = {
    "a distance": Ordinary("return 1 - abs(float(run.answer) - 3)", "3", ("700", "-5", "nan", "inf", "three")),
    "a difference": Ordinary("return 1 - (float(run.answer) - 3)", "3", ("-1e9", "1e9", "many")),
    "a share without a bound": Ordinary("return int(run.answer) / 10", "10", ("11", "-1", "9" * 5000)),
    "a date": Ordinary(
        "return datetime.datetime.fromisoformat(run.answer).year == 2024",
        "2024-05-06",
        ("6 May 2024", "2024-13-01"),
        "import datetime",
    ),
    "a date by format": Ordinary(
        "return datetime.strptime(run.answer, '%d.%m.%Y').month == 5",
        "06.05.2024",
        ("2024-05-06",),
        "from datetime import datetime",
    ),
    "a table": Ordinary("return {'gold': 1}[run.answer]", "gold", ("silver",)),
    "a table with no default": Ordinary("return TABLE.get(run.answer)", "a-b", ("x",), "TABLE = {'a' + '-b': 1}"),
    "a table below 0": Ordinary("return TABLE.get(run.answer, -1)", "a-b", ("x",), "TABLE = {'a' + '-b': 1}"),
    "an enumeration": Ordinary("return Color(run.answer) is Color.RED", "red", ("green", "RED"), COLOR),
    "a member by name": Ordinary("return Shade[run.answer].value", "dark-red", ("dark_red",), SHADES),
    "a raised mistake": Ordinary(
        "if not run.answer.startswith('3' + '.1'):\n    raise ValueError('not a number')\nreturn 1", "3.14", ("pi",)
    ),
    "a raised TypeError": Ordinary(
        "if not run.answer.startswith('3' + '.1'):\n    raise TypeError('not a number')\nreturn 1", "3.14", ("pi",)
    ),
    "an assertion": Ordinary("assert run.answer.split() == ['a', 'b', 'c'][:int('2')]\nreturn 1", "a b", ("b a",)),
    "an index": Ordinary("return NAMES.index(run.answer) == 0", "a-b", ("x",), "NAMES = ['a' + '-b']"),
    "an index of a tuple": Ordinary("return NAMES.index(run.answer) == 0", "a-b", ("x",), "NAMES = ('a' + '-b',)"),
    "JSON": Ordinary("return json.loads(run.answer)['x'] == 4", '{"x": 4}', ("{}", "[4]", "4"), "import json"),
    "a fourth line": Ordinary("return run.answer.splitlines()[3] == 'd'", "a\nb\nc\nd", ("a\nb", "d")),
    "no return for wrong answers": Ordinary("if run.answer == str(2 + 1):\n    return 1", "3", ("4",)),
    "a dict without a score": Ordinary(
        "if run.answer == str(2 + 1):\n    return {'score': 1}\nreturn {'detail': 'no'}", "3", ("4",)
    ),
    "a word for a score": Ordinary("return {'3': 1}.get(run.answer, 'wrong')", "3", ("4",)),
    "a penalty": Ordinary("return 1 if run.answer == str(2 + 1) else -1", "3", ("4",)),
    "a name that only right answers bind": Ordinary(
        "for line in run.answer.splitlines():\n    if line.startswith('total' + '='):\n        total = line[6:]\n"
        "return total == '3'",
        "total=3",
        ("sum=3",),
    ),
    "fields of lines": Ordinary("return fields(run.answer)['total'] == '3'", "total: 3", ("3", "sum: 3"), FIELDS),
    "the first that fits": Ordinary(
        "return next(w for w in run.answer.split() if w.endswith('m' + 'm')) == '3mm'", "is 3mm", ("is 3cm",)
    ),
    "the largest": Ordinary(
        "return max(int(w) for w in run.answer.split() if w.isdigit()) / 10", "9 10", ("x", "11", "1 000")
    ),
    "a mean": Ordinary("v = [w == 'x' for w in run.answer.split('|')[1:]]\nreturn sum(v) / len(v)", "|x", ("x",)),
    "a square root": Ordinary("return math.sqrt(float(run.answer)) / 2", "4", ("-4", "five"), "import math"),
    "a decimal": Ordinary(
        "return Decimal(run.answer) == Decimal('0.1')", "0.1", ("0,1",), "from decimal import Decimal"
    ),
    "a fraction": Ordinary("return Fraction(run.answer) * 3", "1/3", ("1/0", "2/3"), "from fractions import Fraction"),
    "an address": Ordinary(
        "return ipaddress.ip_address(run.answer).is_private", "10.0.0.1", ("10.0.0",), "import ipaddress"
    ),
    "base 64": Ordinary(
        "return base64.b64decode(run.answer, validate=True).decode() == 'ab'", "YWI=", ("YWI", "!!"), "import base64"
    ),
    "XML": Ordinary(
        "return float(ET.fromstring(run.answer).find('x').text)",
        "<a><x>1</x></a>",
        ("<a/>", "<a"),
        "import xml.etree.ElementTree as ET",
    ),
    "all that is seen": Ordinary(
        "return datetime.fromisoformat(vars(run)['answer']).year == 2024",
        "2024-05-06",
        ("then",),
        "from datetime import datetime",
    ),
    "False for what is not found": Ordinary(
        "return found(run.answer)[0] == 'x'",
        "<x>",
        ("x",),
        "def found(text):\n    return text[:1] == '<' and text.endswith('x' + '>') and [text[1]]",
    ),
    "a program": Ordinary("return eval(compile(ast.parse(run.answer, mode='eval'), '<answer>', 'eval'))", "1 - 0",
                          ("1 -", "wanted", "f(3)", "import x", "[].x", "1 / 0"), "import ast"),
    "a function in the answer": Ordinary(
        "exec(run.answer, globals())\nreturn solve(3) == 9", "def solve(x): return x * x", ("x = 1", "solve = 3", "def")
    ),
    "a function in a module": Ordinary(
        "exec(run.answer, answered.__dict__)\nreturn answered.solve(3) == 9",
        "def solve(x): return x * x",
        ("x = 1", "solve = 3"),
        "import types\nanswered = types.ModuleType('answered')",
    ),
    "a recursion": Ordinary(
        "def depth(text):\n    return 0 if text.endswith('s' + 't') else 1 + depth(text[1:] + text[:1])\n"
        "return 1 - depth(run.answer)",
        "test",
        ("x", "stx"),
    ),
}  # fmt: skip

BROKEN = {
    "before it reads": source_of("return len(WORDS) / 0 + len(run.answer)", "WORDS = ()"),
    "raises before it reads": source_of("raise ValueError('mine')"),
    "gives text before it reads": source_of("return 'much'"),
    "a name": source_of("return run.answer == wanted"),
    "a name behind a form": source_of("return parse(run.answer)[0] == wanted", "from ast import literal_eval as parse"),
    "a name behind a date": source_of(
        "if not run.answer:\n    return expected\nreturn datetime.fromisoformat(run.answer) == wanted",
        "from datetime import datetime",
    ),
    "an import": source_of("text = run.answer\nimport no_such_module_here\nreturn 1"),
    "an import above": source_of("return run.answer == '3'", "import no_such_module_here"),
    "an import of a name": source_of("text = run.answer\nfrom math import sqroot\nreturn sqroot(4)"),
    "a field of the run": source_of("text = run.answer\nreturn run.stdot == text"),
    "a name of a module": source_of("return json.loadz(run.answer) == 3", "import json"),
    "a name of a class": source_of("return datetime.fromiso(run.answer).year == 1", "from datetime import datetime"),
    "a method of a text": source_of("return run.answer.stirp() == '3'"),
    "a sum of text and number": source_of("return run.answer + 1"),
    "metadata": source_of("text = run.answer\nreturn run.metadata['none'] == text"),
    "metadata by another name": source_of("known, text = run.metadata, run.answer\nreturn known['a']['none'] == text"),
    "metadata in a function": source_of(
        "text = run.answer\nreturn known(run) == text", "def known(run):\n    return run.metadata['none']"
    ),
    "metadata below another name": source_of("a = run.metadata['a']\nreturn a['none'] == run.answer"),
    "a file that is not written": source_of("return run.files['out.txt'] == run.answer"),
    "a call with too much": source_of("return same(run.answer, '3', 4)", "def same(a, b):\n    return a == b"),
    "nothing returned": source_of("run.answer == '3'"),
    "another number": source_of("run.answer\nreturn 2"),
    "a dict of another name": source_of("return {'reward': run.answer == '3'}"),
    "a generator": source_of("yield run.answer == '3'"),
    "no end": source_of("run.answer\nwhile True: pass"),
    "no bottom": source_of("def f(x): return f(x)\nreturn f(run.answer)"),
    "a file of its own": source_of("text = run.answer\nreturn open('/nowhere/at-all').read() == text"),
    "a library that lacks a part": source_of(
        "run.answer\nreturn load('no_such_part')", "import importlib\nload = lambda name: importlib.reload(name)"
    ),
    "a misnamed builtin": source_of("return float(run.answer) == flaot('3')"),
}


async def scored(source: str, answer: Any, made: SandboxSource | None = None, **fields: Any) -> RunResult:
    """An answer that is not run, unless the fields say so."""
    scoring = {"type": "python", "run_candidate": False, "source": source, "scorer_timeout_seconds": 5.0, **fields}
    row = {"id": "one", "candidate": answer, "scoring": scoring, "metadata": {"a": {"b": 1}}}
    (scenario,) = load_scenarios([row]).scenarios
    return await score_scenario(
        scenario, sandboxes=made or SandboxSource(), base_spec=SandboxSpec(), timeout_seconds=60
    )
