"""Episodes and task recipes in real sandboxes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pytest

import harena
from harena import scenarios, scoring_contracts
from harena.core.errors import ValidationError
from harena.training.data.prompts import PromptRow, sample_key
from harena.training.environments.sandbox import SandboxEnvironment
from harena.training.environments.task_episodes import TaskEnvironment, solved
from harena.training.environments.tasks import task_of
from harena.training.rewards import CodeTests, TaskEnvVerifier, prepare, reward_recipe, rewarded
from harena.training.rollouts.recipes import rollouts_of
from harena.training.rollouts.rollout import Policy, RolloutRequest, Rollouts
from harena.training.rollouts.trajectory import Sampled, SampleRequest, Sampling, StopReason, Trajectory
from harena.training.rollouts.turns import Episodes


@pytest.fixture(scope="module", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One node for this module, with a store of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARENA_HOME", str(tmp_path_factory.mktemp("home")))
        yield


BUGGY = "def double(x):\n    return x * x\n"
CHECK = "from solution import double\nassert double(5) == 10, double(5)\nprint('fine')\n"
BUG = PromptRow(
    id="double",
    prompt="fix solution.py",
    scoring={"type": "tests", "entry_point": "double", "checks": [{"args": [7], "expected": 14}]},
    metadata={"files": {"solution.py": BUGGY, "check.py": CHECK}},
)


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


class Speaker:
    """An engine that says what was written for it, one text for each turn."""

    context_length = 100_000

    def __init__(self, *turns: str) -> None:
        self.tokenizer: Any = self
        self.turns = turns
        self.version = 0

    end_tokens = (0,)

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(text.encode())

    def decode(self, tokens: Sequence[int]) -> str:
        return bytes(token for token in tokens if token).decode()

    def sample(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        return [asyncio.ensure_future(self._sample(request)) for request in requests]

    async def _sample(self, request: SampleRequest) -> Sampled:
        tokens = (*self.encode(self.turns[request.key[-1]]), 0)
        zeros = (0,) * len(tokens)
        return Sampled(tokens=tokens, logprobs=(0.0,) * len(tokens), versions=zeros, stop=StopReason.STOP)


async def play(rollouts: Rollouts, row: PromptRow, *turns: str) -> Trajectory:
    engine: Any = Speaker(*turns)
    policy = Policy(engine, Sampling(max_new_tokens=10_000), lockstep=False)
    await rollouts.prepare([row])
    request = RolloutRequest(row=row, prompt=(63,), sample=0, key=sample_key(0, place=0, sample=0))
    return await rollouts.rollout(request, policy)


def bug_fix() -> Episodes:
    return Episodes(
        partial(SandboxEnvironment, answer_files=["solution.py"], command_seconds=30.0),
        max_turns=6,
        recipe=CodeTests(),
    )


async def running() -> int:
    return len(await harena.Sandbox.list(status="running"))


async def test_a_bug_is_fixed_on_the_sandboxes_disk_and_judged_in_a_fresh_one() -> None:
    """Read a file, see the test fail, edit, see it pass, answer; the files are the candidate."""
    before = await running()
    told = await play(
        bug_fix(), BUG,
        "I read it first." + call("read_file", path="solution.py"),
        call("run", command="python3 check.py"),
        call("edit_file", path="solution.py", old="x * x", new="x * 2"),
        call("run", command="python3 check.py"),
        "It is fixed.",
    )  # fmt: skip
    read, failed, edited, passed, _ = (turn.observation for turn in told.turns)
    assert read == BUGGY
    assert failed.startswith("exit code 1\n")
    assert "AssertionError: 25" in failed
    assert (edited, passed) == ("edited", "exit code 0\nfine")
    assert (told.reward.value, told.reward.reason, told.stop) == (1.0, "passed", StopReason.ANSWER)
    assert await running() == before


async def test_a_test_that_was_edited_pays_nothing() -> None:
    """What judges the files has never been in the episode's sandbox."""
    told = await play(
        bug_fix(), BUG, call("write_file", path="check.py", content="print('fine')\n"),
        call("run", command="python3 check.py"), "done",
    )  # fmt: skip
    assert told.turns[1].observation == "exit code 0\nfine"
    assert (told.reward.value, told.reward.reason) == (0.0, "wrong_answer")


async def test_what_tools_cannot_do_is_told_to_the_policy() -> None:
    turns = [
        call("read_file", path="gone.py"),
        call("edit_file", path="solution.py", old="nothing like this", new=""),
        call("run"),
        call("run", command=7),
        call("fly", path="x"),
        call("read_file", path="a\0b"),
        call("read_file", path="a" * 300),
        call("write_file", path="\ud800" * 300, content="x"),
        call("edit_file", path="solution.py", old="\ud800", new="\ud800"),
        call("edit_file", path="solution.py", old="def", new="\ud800"),
        call("list_files"),
        call("run", command="sleep 60"),
        call("run", command="yes | head -c 100000"),
        "<tool_call>run ls</tool_call>",
        call("list_files") + call("write_file", path="a.py", content="x"),
        "enough",
    ]
    environment = partial(SandboxEnvironment, command_seconds=0.5, most_characters=500)
    told = await play(Episodes(environment, max_turns=20), BUG, *turns)
    observed = [turn.observation for turn in told.turns]
    for observation, part in zip(
        observed,
        [
            "gone.py",
            "exactly once",
            "command",
            "must be text",
            "no tool 'fly'",
            "`path`",
            "too long",
            "half of a surrogate pair",
            "half of a surrogate pair",
            "half of a surrogate pair",
        ],
        strict=False,
    ):
        assert observation.startswith("error: ")
        assert part in observation
    assert observed[10] == "check.py\nsolution.py"
    assert observed[11].startswith("stopped after 0.5 s")
    assert "characters left out" in observed[12]
    assert len(observed[12]) < 600
    assert observed[13].startswith("error: a tool call holds one JSON object")
    assert observed[14].startswith("check.py\nsolution.py\n[of this turn's 2 calls the first was made")
    assert told.stop == StopReason.ANSWER


async def test_a_cancelled_episode_leaves_no_sandbox() -> None:
    before = await running()
    begun = asyncio.Event()

    class Slow(SandboxEnvironment):
        async def step(self, action: str) -> Any:
            begun.set()
            return await super().step(action)

    task = asyncio.create_task(play(Episodes(Slow, max_turns=2), BUG, call("run", command="sleep 60"), "x"))
    await begun.wait()
    assert await running() == before + 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await running() == before


GREET = {
    "name": "greet",
    "instruction": "Write {{word}} to out.txt.",
    "inputs": {"word": "hello"},
    "files": {"a/start.txt": "begun\n"},
    "provision": {"source": 'test "$(cat a/start.txt)" = begun && echo "$INPUT_WORD" > wanted\n'},
    "verification": {"method": "script", "script": {"source": "cmp out.txt wanted\n"}},
}
ROW = PromptRow(id="greet", prompt="?")


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("echo hello > out.txt", 1.0),
        ("```bash\necho hello > out.txt\n```\n", 1.0),
        ("echo bye > out.txt", 0.0),
        ("exit 0", 0.0),
        ("sleep 100 & echo hello > out.txt", 1.0),
    ],
)
async def test_a_program_is_run_in_the_tasks_environment_before_it_is_verified(said: str, value: float) -> None:
    recipe = reward_recipe("task_env_verifier_v1", {}, task=task_of(GREET))
    await prepare(recipe, [ROW])
    assert (await rewarded(recipe, ROW, said)).value == value


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("echo 42 > out.txt", 1.0),
        ("echo $INPUT_EXPECTED > out.txt", 0.0),
        ("cat /proc/[0-9]*/environ | tr '\\0' '\\n' | sed -n 's/INPUT_EXPECTED=//p' > out.txt", 0.0),
        ("echo $INPUT_QUESTION | sed 's/6 x 7/42/' > out.txt", 1.0),
    ],
)
async def test_what_a_row_tells_its_verification_the_policy_does_not_read(said: str, value: float) -> None:
    """Its question is for both: the instruction names it."""
    verification = {"method": "script", "script": {"source": 'test "$(cat out.txt)" = "$INPUT_EXPECTED"\n'}}
    provision = {"source": "nohup sleep 60 >/dev/null 2>&1 &\n"}
    asked = "Write the value of {{question}} to out.txt."
    task = task_of({**GREET, "instruction": asked, "verification": verification, "provision": provision})
    row = PromptRow(id="r", prompt="?", metadata={"inputs": {"question": "6 x 7", "expected": "42"}})
    assert (await rewarded(reward_recipe("task_env_verifier_v1", {}, task=task), row, said)).value == value


SERVED = """\
import socket
with socket.create_connection(("127.0.0.1", 8000), timeout=10) as served:
    assert served.recv(9) == b"here"
"""
SERVES = """\
cat > serve.py <<'END'
import os, socket
listening = socket.create_server(("127.0.0.1", 8000))
if os.fork():
    os._exit(0)
while True:
    listening.accept()[0].sendall(b"here")
END
python3 serve.py > /dev/null 2>&1
"""


@pytest.mark.parametrize(("keeps", "said", "value"), [(True, SERVES, 1.0), (False, SERVES, 0.0), (True, "true", 0.0)])
async def test_what_is_asked_to_run_may_go_on_while_it_is_verified(keeps: bool, said: str, value: float) -> None:
    verification = {"method": "script", "script": {"source": f"#!/usr/bin/env python3\n{SERVED}"}}
    task = task_of({**GREET, "verification": {**verification, "keep_processes": keeps}})
    assert (await rewarded(reward_recipe("task_env_verifier_v1", {}, task=task), ROW, said)).value == value


async def test_the_flag_of_an_environment() -> None:
    verification = {"method": "env_flag", "flag_path": "/tmp/flag", "expected": "sand"}
    recipe = reward_recipe(
        "task_env_verifier_v1", {"acting": "python"}, task=task_of({**GREET, "verification": verification})
    )
    rewards = [
        await rewarded(recipe, ROW, said)
        for said in ("open('/tmp/flag', 'w').write('sand\\n')", "open('/tmp/flag', 'w').write('dust')", "print('sand')")
    ]
    assert [reward.value for reward in rewards] == [1.0, 0.0, 0.0]


async def test_a_script_judges_what_was_said() -> None:
    verification = {"method": "script", "script": {"source": "#!/usr/bin/env python3\nassert input() == '6 * 7'\n"}}
    recipe = reward_recipe("task_verifier_v1", {}, task=task_of({**GREET, "verification": verification}))
    said = ("6 * 7", "7 * 6", "<think>7 * 6</think>6 * 7", "6 * 7\n</think>7 * 6")
    assert [(await rewarded(recipe, ROW, text)).value for text in said] == [1.0, 0.0, 1.0, 0.0]


async def test_an_environment_that_cannot_be_made_leaves_the_group() -> None:
    recipe = reward_recipe("task_env_verifier_v1", {}, task=task_of({**GREET, "provision": {"source": "exit 9\n"}}))
    given = await rewarded(recipe, ROW, "true")
    assert (given.value, given.reason) == (None, "environment_fault")
    assert "ended with 9" in given.detail


async def test_whoever_breaks_the_verification_earns_the_minimum() -> None:
    """It ends in time without the candidate: that it hangs is the candidate's doing."""
    slow = {"method": "script", "script": {"source": "test ! -e block || sleep 60\n"}, "timeout": 2.0}
    recipe = reward_recipe(
        "task_env_verifier_v1", {"reward_if_false": -1.0}, task=task_of({**GREET, "verification": slow})
    )
    given = await rewarded(recipe, ROW, "touch block")
    assert (given.value, given.reason) == (-1.0, "fault_follows_candidate")


async def test_a_fault_that_does_not_come_again_takes_the_second_verdict() -> None:
    """Not none: whoever breaks the verification by chance is judged like everybody."""
    script = "test ! -p out.txt || sleep 60\ngrep -qx hi out.txt\n"
    slow = {"method": "script", "script": {"source": script}, "timeout": 2.0}
    begun: list[TaskEnvironment] = []

    class ByChance(TaskEnvVerifier):
        def environment(self, row: PromptRow) -> TaskEnvironment:
            made = TaskEnvVerifier.environment(self, row)
            begun.append(made)
            if len(begun) == 1:
                step = made.step
                made.step = lambda said: step("mkfifo out.txt")  # type: ignore[method-assign]
            return made

    recipe = ByChance(task=task_of({**GREET, "verification": slow}))
    for program, value in (("echo bye > out.txt", 0.0), ("echo hi > out.txt", 1.0)):
        begun.clear()
        assert (await recipe.reward(ROW, program)).value == value


async def test_a_tasks_own_solution_is_tried_and_it_is_torn_down() -> None:
    """The teardown's trace is on a file that outlives nothing: it is seen in the sandbox that is about to end."""
    seen: list[str] = []

    class Watched(TaskEnvironment):
        async def _script(self, text: str, seconds: float, env: Any) -> Any:
            done = await super()._script(text, seconds, env)
            seen.append(done.stdout)
            return done

    task = task_of({**GREET, "solution": {"source": "cp wanted out.txt\n"}, "teardown": {"source": "cat out.txt\n"}})
    assert (await solved(task, ROW)).value == 1.0
    assert (await solved(task_of({**GREET, "solution": {"source": "true\n"}}), ROW)).value == 0.0
    environment = Watched(task, acting="shell", seconds=60.0)
    await environment.reset(ROW)
    await environment.step("echo torn > out.txt")
    await environment.close()
    assert seen == ["", "torn\n"]
    with pytest.raises(ValidationError, match="no solution"):
        await solved(task_of(GREET), ROW)


async def test_an_agent_works_in_a_tasks_environment() -> None:
    recipe = reward_recipe("task_env_agent_v1", {"reward_if_true": 2.0}, task=task_of(GREET))
    rollouts = rollouts_of(recipe)
    told = await play(
        rollouts, ROW, call("read_file", path="wanted"), call("write_file", path="out.txt", content="hello\n"), "done"
    )
    assert told.turns[0].observation == "hello\n"
    assert (told.reward.value, told.stop) == (2.0, StopReason.ANSWER)
    lazy = await play(rollouts, ROW, "done")
    assert lazy.reward.value == 0.0


async def test_any_contract_and_stored_ones_reward_code() -> None:
    stdio = {"type": "stdio", "cases": [{"stdin": "4\n", "stdout": "8\n"}]}
    await scoring_contracts.aio.create("training-stdio", stdio)
    problem = {"id": "twice", "statement": "?", "scoring": stdio}
    await scenarios.aio.create("training-problems", {"problems": [problem]})
    program = "print(int(input()) * 2)"
    rows = {
        "own": PromptRow(id="own", prompt="?", scoring=stdio),
        "contract": PromptRow(id="contract", prompt="?", scoring={"contract": "training-stdio"}),
        "scenario": PromptRow(id="scenario", prompt="?", scoring={"scenario": "training-problems@1", "id": "twice"}),
    }
    recipe = CodeTests(extract="fenced", timeout_seconds=30.0)
    await prepare(recipe, list(rows.values()))
    for row in rows.values():
        assert (await rewarded(recipe, row, f"So:\n```python\n{program}\n```\n")).value == 1.0
        assert (await rewarded(recipe, row, "print(3)")).value == 0.0
    missing = [
        PromptRow(id="no-name", prompt="?", scoring={"scenario": "gone@1", "id": "x"}),
        PromptRow(id="no-id", prompt="?", scoring={"scenario": "training-problems@1", "id": "x"}),
    ]
    with pytest.raises(ValidationError, match=r"row no-name: (.|\n)*row no-id: .*neither a problem"):
        await prepare(CodeTests(), missing)


PYTHON_VERIFIED = {
    **GREET,
    "verification": {
        "method": "script",
        "script": {"source": "#!/usr/bin/env python3\nimport json\nassert json.load(open('out.txt')) == 'hello'\n"},
    },
}
DONE = 'echo "import os; os._exit(0)"'


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("""echo '"hello"' > out.txt""", 1.0),
        (f"{DONE} > /tmp/json.py", 0.0),
        (f"{DONE} > json.py", 0.0),
        (f"d=$(python3 -m site --user-site); mkdir -p $d; {DONE} > $d/usercustomize.py", 0.0),
    ],
)
async def test_a_verifying_script_imports_what_it_means(said: str, value: float) -> None:
    """Whatever lies beside it, in the working directory or among the user's packages."""
    recipe = reward_recipe("task_env_verifier_v1", {}, task=task_of(PYTHON_VERIFIED))
    assert (await rewarded(recipe, ROW, said)).value == value


async def test_a_script_of_the_image_is_run_as_it_was() -> None:
    """What the policy writes in its place is not; and one that is not there verifies nothing."""
    verification = {"method": "env_script", "script_path": "/workspace/check.sh"}
    provision = {"source": "echo 'cmp out.txt wanted' > check.sh; echo $INPUT_WORD > wanted\n"}
    recipe = reward_recipe(
        "task_env_verifier_v1", {}, task=task_of({**GREET, "verification": verification, "provision": provision})
    )
    assert (await rewarded(recipe, ROW, "echo hello > out.txt")).value == 1.0
    assert (await rewarded(recipe, ROW, "echo true > check.sh")).value == 0.0
    recipe = reward_recipe("task_env_verifier_v1", {}, task=task_of({**GREET, "verification": verification}))
    assert (await rewarded(recipe, ROW, "true")).value is None
