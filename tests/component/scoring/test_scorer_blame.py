"""Whose fault it is that a `python` scorer raises: the candidate's, wherever the scorer has an answer for some form."""

from __future__ import annotations

import textwrap

import pytest

from harena.core.models import SandboxSpec
from harena.core.results import Reason, RunResult, Validity
from harena.scoring import load_scenarios, score_scenario
from sandbox_source import SandboxSource

ONE_FORM = {
    "nested JSON": "import json\nreturn json.loads(run.answer)['result']['value'] == 42",
    "a number in JSON": "import json\nreturn abs(float(json.loads(run.answer)['a']['b']) - 42) < 1e-6",
    "lists in JSON": "from json import loads\nreturn sum(row['v'] for row in loads(run.answer)['rows'][0]) / 2 == 21",
    "an asserted kind": "import json\nd = json.loads(run.answer)\nassert isinstance(d['a'], dict)\n"
    "return d['a']['b'] == 1",
    "an asserted length": "import json\nd = json.loads(run.answer)['a']\nif len(d) != 3: raise ValueError\n"
    "return d[2] == 1",
    "unpacked words": "a, b, c, d, e = run.answer.split(',')\nreturn int(e) == 42",
    "a late line": "return run.answer.splitlines()[7].split(':')[2] == 'x'",
    "a group": "import re\nreturn int(re.search(r'answer: (\\d+)', run.answer).group(1)) == 42",
    "a named group": "import re\nP = re.compile(r'<(?P<a>.+)>')\nreturn P.fullmatch(run.answer)['a'] == '42'",
    "the last match": "import re\nreturn re.findall('<(.*?)>', run.answer, re.M)[-1].strip() == '42'",
    "a literal": "import ast\na, (b, *c) = ast.literal_eval(run.answer)\nreturn [v for k, v in b.items()][0] == 1",
    "a table": "import csv, io\nreturn list(csv.DictReader(run.answer.splitlines()))[1]['price'] == '42'",
    "a decoder": "import json\nreturn json.JSONDecoder().raw_decode(run.answer)[0]['a'][0]['b'].lower() == 'x'",
    "a template": "return float(run.answer % 3 == '3')",
    "a template of parts": "first, last = ('Ann', 'Lee')\n"
    "return (run.answer.strip() % (last, first)).lower() == 'lee, ann'",
    "text in JSON": "import json, re\nreturn bool(re.match('a+', json.loads(run.answer)['a']['b'].strip()))",
}
BROKEN = {
    "a name": "import json\nreturn json.loads(run.answer)['a']['b'] == wanted",
    "metadata": "import json\nreturn json.loads(run.answer)['a']['b'] == run.metadata['none']",
    "a method": "import json\nreturn json.loads(run.answer.stirp())['a']['b'] == 1",
    "a field": "import json\nreturn json.loads(run.stdot)['a']['b'] == 1",
    "a module": "import json\nreturn json.loadz(run.answer)['a']['b'] == 1",
    "a remainder of text": "return float(run.answer % 2 == 0)",
    "a remainder of text, as a number": "return int(run.answer % 2)",
    "a remainder of text that is asked": "return 0 if run.answer % 2 else 1",
    "a number that is filled in": "return float('%d' % run.answer == '3')",
    "no number": "import json\njson.loads(run.answer)['a']['b']",
    "another number": "import json\njson.loads(run.answer)['a']['b']\nreturn 2",
    "a file": "import json\nreturn json.loads(run.answer)['a']['b'] == open('/nowhere/at-all').read()",
}
WORDS = '{"a": [1, {"b": null}], "result": '
BAD_ANSWERS = ["I do not know", "[" * 100_000, "9" * 5000, "NaN", '{"a": 1, "a": [' + "1e999", WORDS, "\ud7ff\x00"]


async def scored(body: str, answer: str) -> RunResult:
    """An answer that is not run."""
    source = "def score(run):\n" + textwrap.indent(body, "    ")
    scoring = {"type": "python", "run_candidate": False, "source": source}
    (scenario,) = load_scenarios([{"id": "one", "candidate": answer, "scoring": scoring}]).scenarios
    return await score_scenario(scenario, sandboxes=SandboxSource(), base_spec=SandboxSpec(), timeout_seconds=60)


@pytest.mark.parametrize("name", ONE_FORM)
async def test_an_answer_without_the_form_that_a_scorer_takes_scores_0(name: str) -> None:
    """However deep the form is: no answer for nothing, `0` or flat JSON does not excuse a wrong one."""
    answer = BAD_ANSWERS[list(ONE_FORM).index(name) % len(BAD_ANSWERS)]
    result = await scored(ONE_FORM[name], answer)
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.SCORER_REJECTED), (
        result.detail
    )


@pytest.mark.parametrize("answer", BAD_ANSWERS, ids=range(len(BAD_ANSWERS)))
async def test_no_text_that_breaks_a_parser_is_excused(answer: str) -> None:
    """Depth, long integers, numbers that are none, keys twice, half a document, characters that are none."""
    result = await scored(ONE_FORM["a number in JSON"], answer)
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_scorer_gives_no_score(name: str) -> None:
    """It raises for every form: not the candidate's doing."""
    result = await scored(BROKEN[name], "I do not know")
    assert (result.score, result.validity, result.reason) == (None, Validity.INVALID, Reason.SCORER_ERROR), (
        result.detail
    )


async def test_a_right_answer_is_paid() -> None:
    """The scorer that judges it is not told of other forms."""
    result = await scored(ONE_FORM["nested JSON"], '{"result": {"value": 42}}')
    assert (result.score, result.passed) == (1.0, True)
