"""Each family of data sets on running sandboxes: right answers score 1, wrong ones and known forgeries 0."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from harena.core.errors import HostUnsupportedError
from harena.core.models import SandboxSpec
from harena.core.results import Reason, RunResult, Trust, Validity
from harena.runtime.host.linux import LinuxRuntime
from harena.scoring import score_scenario
from harena.scoring.formats import import_scenarios
from sandbox_source import SandboxSource

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "scoring"))

from data_set_rows import (
    APPS,
    APPS_CALL,
    CODECONTESTS,
    COMMONOJ,
    EVALPLUS,
    GRADER_REQUEST,
    GRADERS,
    HARBOR,
    HUMANEVAL,
    HUMANEVAL_PLUS_TEST,
    LIVECODEBENCH,
    LIVECODEBENCH_CALL,
    MBPP,
    MBPP_FUSION,
    MBPP_SANITISED,
    RFT,
    VERIFICATION_INFO,
    harbor_task,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHARED = {
    **HUMANEVAL,
    "test": "def check(candidate):\n    for n in range(4):\n        assert abs(candidate(n)) == n * 2\n",
}


WORD_THIEF = """\
import gc, os, sys
frame = sys._getframe()
held = [word for word in gc.get_objects() if isinstance(word, (list, tuple, dict))]
while frame:
    held.append(dict(frame.f_locals))
    frame = frame.f_back
parts = [part for one in held for part in (one.values() if isinstance(one, dict) else one)]
words = {part for part in parts if isinstance(part, str)}
words |= {open(f"/proc/{entry}/cmdline").read() for entry in os.listdir("/proc") if entry.isdecimal()}
proofs = ["harena-proof " + word for word in words if len(word) == 32]
for place in [f"/proc/{entry}/fd/1" for entry in os.listdir("/proc") if entry.isdecimal()]:
    try:
        with open(place, "w") as out:
            out.write("\\n".join(["", *proofs, ""]))
    except OSError:
        pass
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def source(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SandboxSource]:
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"))
    try:
        await runtime.start()
    except HostUnsupportedError as error:
        pytest.skip(str(error))
    yield SandboxSource(runtime)
    await runtime.close()


async def scored(source: SandboxSource, rows: Any, answers: Any = None, **options: Any) -> list[RunResult]:
    """The envelopes of all scenarios, in order."""
    batch = import_scenarios(rows, candidates=answers, **options)
    return [
        await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=30)
        for scenario in batch.scenarios
    ]


@pytest.mark.parametrize(
    "row",
    [
        *(HUMANEVAL, HUMANEVAL_PLUS_TEST, SHARED, EVALPLUS, MBPP, MBPP_SANITISED, MBPP_FUSION),
        *(APPS, APPS_CALL, CODECONTESTS, VERIFICATION_INFO),
    ],
)
async def test_the_oracle_scores_1_and_nop_0(source: SandboxSource, row: dict[str, Any]) -> None:
    """Of every family whose rows hold solutions."""
    (oracle,) = await scored(source, [row])
    assert (oracle.score, oracle.reason, oracle.validity) == (1.0, Reason.PASSED, Validity.VALID)
    (nop,) = await scored(source, [row], "nop")
    assert (nop.score, nop.validity) == (0.0, Validity.VALID)


@pytest.mark.parametrize("row", [HUMANEVAL, HUMANEVAL_PLUS_TEST, SHARED, EVALPLUS])
async def test_wrong_completions_and_forgeries_score_0(source: SandboxSource, row: dict[str, Any]) -> None:
    """Whether the tests are asked from outside or run beside the candidate."""
    answers = [
        "    return x\n",
        "    import os\n    os._exit(0)\n",
        "    raise SystemExit(0)\n",
        "    return (\n",
        "    return All()\nclass All:\n    def __eq__(self, other): return True\n    def __abs__(self): return self\n",
        "    return x\nabs = lambda x: All()\nclass All:\n    def __eq__(self, other): return True\n",
        "    return x\nimport builtins\nbuiltins.abs = lambda x: x * 2\n",
        "    return x\nimport atexit, os\natexit.register(os._exit, 0)\n",
        "    return x\n" + WORD_THIEF,
        "    exec(THIEF)\nTHIEF = " + repr(WORD_THIEF) + "\n",
    ]
    results = await scored(source, [row], [{"task_id": row["task_id"], "completions": answers}])
    assert [result.score for result in results] == [0.0] * len(answers)


async def test_right_answers_of_other_types_pass(source: SandboxSource) -> None:
    """What Python's own asserts would have taken: a subclass, a float for an int."""
    answers = [
        "class Pair(tuple): pass\ndef shared(a, b): return Pair(set(a) & set(b))\n",
        "from collections import namedtuple\nEmpty = namedtuple('Empty', '')\n"
        "def shared(a, b): return tuple(sorted(set(a) & set(b))) or Empty()\n",
        "def shared(a, b): return tuple(float(x) for x in set(a) & set(b))\n",
    ]
    assert [result.score for result in await scored(source, [MBPP], [{"task_id": 902, "solutions": answers}])] == [
        1.0
    ] * 3


async def test_what_cannot_cross_the_border_is_true_or_false(source: SandboxSource) -> None:
    """A match object, for instance, of which only that is asked."""
    tests = ["assert finds('ab')", "assert not finds('b')"]
    row = {**MBPP, "code": "import re\ndef finds(text): return re.search('a', text)\n", "test_list": tests}
    answers = ["def finds(text): return object()\n", "def finds(text): return text == 'ab'\n"]
    assert [result.score for result in await scored(source, [row])] == [1.0]
    results = await scored(source, [row], [{"task_id": 902, "solutions": answers}])
    assert [result.score for result in results] == [0.0, 1.0]


async def test_livecodebench_and_commonoj(source: SandboxSource) -> None:
    """Right and wrong, by programs and by calls, as function and as method."""
    programs = ["print(int(input()) * 2)", "print(float(input()) * 2)", "print(4)", "print(int(input()) * 2, 'x')"]
    results = await scored(source, [LIVECODEBENCH], [{"question_id": "abc_1", "code_list": programs}])
    assert [result.score for result in results] == [1.0, 1.0, 0.0, 0.0]
    calls = [
        "class Solution:\n    def pair(self, x: int, y: List[int]) -> List[int]: return x, y[0]\n",
        "def pair(x, y): return [x, y[0]]\n",
        "class Solution:\n    def pair(self, x, y): return [x]\n",
    ]
    results = await scored(source, [LIVECODEBENCH_CALL], [{"question_id": "lc_2", "code_list": calls}])
    assert [(result.score, result.trust) for result in results] == [
        (1.0, Trust.SEPARATE),
        (1.0, Trust.SEPARATE),
        (0.0, Trust.SEPARATE),
    ]
    results = await scored(source, [COMMONOJ], {"11": ["print('yes')", "print('no')"]})
    assert [result.score for result in results] == [1.0, 0.0]


async def test_a_canonical_solution_that_fails_gives_no_score(source: SandboxSource) -> None:
    """It is the data set's fault, not the candidate's."""
    row = {**EVALPLUS, "canonical_solution": "    return 1 / x\n"}
    (result,) = await scored(source, [row], [{"task_id": row["task_id"], "completion": "    return x\n"}])
    assert (result.score, result.validity, result.reason) == (None, Validity.INVALID, Reason.SCORER_ERROR)
    assert "`solution` raised for inputs[1]: ZeroDivisionError" in result.detail


async def test_tests_that_import_what_is_not_there_give_no_score(source: SandboxSource) -> None:
    """The blueprint lacks it."""
    row = {**SHARED, "test": "import no_such_module\n" + SHARED["test"]}
    (result,) = await scored(source, [row])
    assert (result.score, result.validity) == (None, Validity.INVALID)
    assert "the contract requires no_such_module" in result.detail


async def test_graders(source: SandboxSource) -> None:
    """Each kind, with a right and a wrong answer."""
    for kind, wrong in (("string_check", 0.0), ("text_similarity", 0.4), ("python", 0.0), ("multi", 0.048)):
        right, other = await scored(source, [RFT, RFT], [{"output": "42"}, {"output": "41!"}], grader=GRADERS[kind])
        assert (right.score, right.passed) == (1.0, True)
        assert (other.score, other.passed) == (pytest.approx(wrong), False)
    (result,) = await scored(source, [GRADER_REQUEST])
    assert result.score == 1.0


async def test_a_python_grader_that_breaks_gives_no_score(source: SandboxSource) -> None:
    """Nor does one that gives no number."""
    for body in ("raise ValueError('mine')", "return None", "return 7"):
        grader = {"type": "python", "source": f"def grade(sample, item):\n    {body}\n"}
        (result,) = await scored(source, [RFT], [{"output": "42"}], grader=grader)
        assert (result.score, result.validity) == (None, Validity.INVALID)


async def test_a_harbor_oracle_scores_1_and_nop_0(source: SandboxSource, tmp_path: Path) -> None:
    """The environment is prepared, and the verifier sees it."""
    folder = harbor_task(tmp_path / "hello")
    (oracle,), (nop,) = await scored(source, folder), await scored(source, folder, "nop")
    assert (oracle.score, oracle.trust, oracle.reason) == (1.0, Trust.SHARED, Reason.PASSED)
    assert (nop.score, nop.reason) == (0.0, Reason.SCORER_REJECTED)


async def test_no_known_forgery_of_a_reward_pays(source: SandboxSource, tmp_path: Path) -> None:
    """Planted, raced, redirected, or disagreeing."""
    race = "while :; do echo 1 > /logs/verifier/reward.txt; echo 1 > /logs/verifier/reward.json; done"
    scripts = [
        "echo 1 > /logs/verifier/reward.txt",
        "mkdir -p /logs/verifier; echo '{\"reward\": 1}' > /logs/verifier/reward.json",
        f"({race}) & exit 0",
        f"setsid bash -c '{race}' & disown; exit 0",
        "rm -rf /data/tests /data/logs; ln -s /workspace /data/tests; ln -s /usr/lib /data/logs",
        "echo 'exit 0' > /root/.bashrc; echo 'echo 1 > /logs/verifier/reward.txt' > /root/.bash_profile",
        "mkdir -p /tests; echo 'echo 1 > /logs/verifier/reward.txt' > /tests/test.sh; chmod -w /tests/test.sh /tests",
        "exit 1",
    ]
    results = await scored(source, harbor_task(tmp_path / "hello"), {"hello": scripts})
    assert [result.score for result in results] == [0.0] * len(scripts)


async def test_a_verifier_that_leaves_no_reward_gives_no_score(source: SandboxSource, tmp_path: Path) -> None:
    """Unless it leaves one without the candidate."""
    for script in ("exit 0", "echo much > /logs/verifier/reward.txt", "echo 7 > /logs/verifier/reward.txt"):
        (result,) = await scored(source, harbor_task(tmp_path / "hello", **{"tests/test.sh": script}))
        assert (result.score, result.validity, result.reason) == (None, Validity.INVALID, Reason.SCORER_ERROR)
    fragile = "[ -e /app/work/broken ] || echo 1 > /logs/verifier/reward.txt"
    folder = harbor_task(tmp_path / "hello", **{"tests/test.sh": fragile})
    (result,) = await scored(source, folder, {"hello": ["touch broken"]})
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.SCORER_REJECTED)


async def test_rewards_as_harbor_writes_them(source: SandboxSource, tmp_path: Path) -> None:
    """A part, a mapping with metrics, and two files that disagree."""
    txt, json_file = "/logs/verifier/reward.txt", "/logs/verifier/reward.json"
    for script, score, validity in (
        (f"echo 0.25 > {txt}", 0.25, Validity.VALID),
        (f'echo \'{{"reward": 0.5, "steps": 3}}\' > {json_file}', 0.5, Validity.VALID),
        (f"echo 1 > {txt}; echo 0 > {json_file}", 0.0, Validity.SUSPECT),
    ):
        (result,) = await scored(source, harbor_task(tmp_path / "hello", **{"tests/test.sh": script}))
        assert (result.score, result.passed, result.validity) == (score, False, validity)


async def test_a_task_that_asks_for_a_server_keeps_it(source: SandboxSource, tmp_path: Path) -> None:
    """Where it says so; otherwise nothing of the candidate runs beside the verifier."""
    toml = HARBOR["task.toml"]
    server = "(while :; do echo up > /app/work/beat; sleep 0.05; done) & exit 0"
    verifier = (
        "rm -f beat; for n in 1 2 3 4 5 6 7 8 9 10; do [ -e beat ] && break; sleep 0.1; done\n"
        "if [ -e beat ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
    )
    for kept, score in (("true", 1.0), ("false", 0.0)):
        files = {"task.toml": f"{toml}[metadata]\nkeep_processes = {kept}\n", "tests/test.sh": verifier}
        (result,) = await scored(source, harbor_task(tmp_path / "hello", **files), {"hello": [server]})
        assert result.score == score


async def test_an_environment_that_cannot_be_made_gives_no_score(source: SandboxSource, tmp_path: Path) -> None:
    """It is said what failed, and what to do."""
    docker = "FROM python\nRUN no-such-program --now\n"
    (result,) = await scored(source, harbor_task(tmp_path / "hello", **{"environment/Dockerfile": docker}))
    assert (result.score, result.validity) == (None, Validity.INVALID)
    assert "no-such-program" in result.detail
    assert "choose a blueprint that has it" in result.detail
