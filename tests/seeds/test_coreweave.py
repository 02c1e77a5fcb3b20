"""Every snippet of the guide for agents in sandboxes, as printed, on a real node."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from printed_snippets import COREWEAVE, run, snippets

import harena

GOOD, BAD = "print('42')", "raise SystemExit(1)"


def tool(name: str, **fields: str) -> SimpleNamespace:
    return SimpleNamespace(name=name, **fields)


def test_line_11_a_key_alone_is_not_silently_local(tmp_path: Path) -> None:
    """The program runs, in a node of its own, and says that no remote place is asked."""
    program = (
        "import harena.aliases; from cwsandbox import Sandbox\nwith Sandbox.run() as s: print(s.exec(['id']).wait())"
    )
    ended = subprocess.run(
        ["bash", "-eu", "-c", f'{snippets(COREWEAVE)[11]}\n"$0" -c "$1"', sys.executable, program],
        env={**os.environ, "HARENA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout) == (0, "0\n"), ended.stderr
    assert "CWSANDBOX_API_KEY is set and CWSANDBOX_BASE_URL is not" in ended.stderr


class Model:
    """Says what it is told to, one answer a step."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)

    def generate(self, _messages: list[Any]) -> Any:
        return self._answers.pop(0) if self._answers else []


def test_lines_15_and_49_episodes() -> None:
    task = {"prompt": "make it pass", "test_command": ["python", "/workspace/a.py"], "max_steps": 3}
    steps = [tool("write_file", path="/workspace/a.py", content=GOOD)], [tool("bash", command="cat /workspace/a.py")]
    names = run(COREWEAVE, 15, parse_tool_calls=list)
    with harena.Session() as session:
        trajectory, reward = names["run_agent_episode"](Model(*steps), task, session.sandbox())
        assert (reward, trajectory[-2]["content"]) == (1.0, f"exit=0\n{GOOD}")
        step = run(COREWEAVE, 49, run_agent_episode=names["run_agent_episode"])["training_step"]
        assert step(Model(*steps), [task, {**task, "max_steps": 1}], session) == [1.0, 0.0]


def test_line_65_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WANDB_RUN_ID", raising=False)
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    made = run(COREWEAVE, 65)["make_defaults"]("tiny")
    assert made.tags == ("wandb-run:local", "slurm-job:17", "model:tiny", "rl-training")


def test_line_94_results_as_they_come() -> None:
    import cwsandbox  # type: ignore[import-not-found]

    pending: list[Any] = []
    with harena.Session() as session:
        given = {"session": session, "completions": [GOOD], "EXECUTION_TIMEOUT_SECONDS": 10.0, "cwsandbox": cwsandbox}
        pending = run(COREWEAVE, 94, pending=[], **given)["processes"]
        names = run(COREWEAVE, 94, pending=pending, **given)
    assert (names["pending"], names["reward"]) == ([], 1.0)


def test_line_136_reward_function() -> None:
    names = run(COREWEAVE, 136)
    completions = ["<answer>print(1)</answer>", [{"content": "<answer>1/0</answer>"}], "no code"]
    assert names["reward_fn"](completions) == [1.0, 0.0, 0.0]
    names["session"].close().result()


def test_line_176_reward_function_of_the_example() -> None:
    with harena.Session() as session:
        names = run(COREWEAVE, 176, session=session, EXECUTION_TIMEOUT_SECONDS=10.0)
        completions = ["<answer>print(1)</answer>", [{"content": "<answer>1/0</answer>"}], "no code"]
        assert names["code_execution_reward"](completions) == [1.0, 0.0, 0.0]


def test_line_205_the_prompt_and_what_is_extracted_by_it() -> None:
    prompt = run(COREWEAVE, 205)["SYSTEM_PROMPT"]
    assert run(COREWEAVE, 176)["extract_xml_answer"](prompt.splitlines()[1]) == 'print("hello")'


def test_line_241_mistakes_are_observations() -> None:
    execute_tool = run(COREWEAVE, 241)["execute_tool"]
    with harena.Sandbox.run() as sandbox:
        assert execute_tool(sandbox, tool("write_file", path="/tmp/x", content="hi")) == "File written successfully"
        assert execute_tool(sandbox, tool("read_file", path="/tmp/x")) == "hi"
        assert execute_tool(sandbox, tool("bash", command="echo no >&2; exit 3")) == "exit=3\nno\n"
        assert execute_tool(sandbox, tool("read_file", path="/tmp/none")).startswith("Error: ")


@pytest.mark.thorough
def test_line_268_wandb(tmp_path: Path) -> None:
    """With W&B itself, which keeps the run in a file here."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import harena, harena.aliases; from printed_snippets import *\n"
        "given = dict(defaults=harena.SandboxDefaults(), num_steps=2, code='print(1)')\n"
        "names = run(COREWEAVE, 268, **given)\n"
        "print(names['wandb'].run.summary['cwsandbox/executions'], names['result'].returncode)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parent)],
        cwd=tmp_path,
        env={**os.environ, "WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_API_KEY": "0" * 40},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ended.returncode, ended.stdout.split()[-2:]) == (0, ["1", "0"]), ended.stderr


def test_line_282_explicit_control() -> None:
    from cwsandbox import Session

    run(COREWEAVE, 282, Session=Session, defaults=harena.SandboxDefaults())["session"].close().result()


def test_line_304_metrics_of_a_step() -> None:
    with harena.Session() as session:
        training_step = run(COREWEAVE, 304)["training_step"]
        assert training_step(session, None, [{"code": GOOD}, {"code": BAD}], 1) == [1.0, 0.0]
        assert session.get_metrics()["cwsandbox/executions"] == 2


def test_line_317_statistics_of_a_sandbox(capsys: pytest.CaptureFixture[str]) -> None:
    with harena.Session() as session:
        run(COREWEAVE, 317, session=session)
    assert capsys.readouterr().out == ("{'exec_count': 1, 'completed_ok': 1, 'completed_nonzero': 0, 'failures': 0}\n")


def test_line_338_metrics_that_go_on() -> None:
    with harena.Session() as session:
        session.sandbox().exec(["true"]).result()
        run(COREWEAVE, 338, session=session, step=1)
        assert session.get_metrics()["cwsandbox/executions"] == 1


def test_line_343_counting() -> None:
    count_active_sandboxes = run(COREWEAVE, 343)["count_active_sandboxes"]
    with harena.Sandbox.run(tags=["wandb-run:s343"]) as sandbox:
        sandbox.wait()
        assert count_active_sandboxes("s343") == {"running": 1, "pending": 0, "total": 1}


def test_line_356_logging(caplog: pytest.LogCaptureFixture) -> None:
    extract = run(COREWEAVE, 176)["extract_xml_answer"]
    with harena.Session() as session, caplog.at_level(logging.DEBUG):
        names = run(COREWEAVE, 356, session=session, extract_xml_answer=extract)
        assert names["logged_reward"](f"<answer>{GOOD}</answer>", 3) == 1.0
    [record] = [record for record in caplog.records if record.message == "Reward computation"]
    assert (record.step, record.returncode, record.stdout_len) == (3, 0, 3)  # type: ignore[attr-defined]


def test_line_523_tags_of_art() -> None:
    args = SimpleNamespace(project="cwsandbox-mbpp", run_name="train-001")
    names = run(COREWEAVE, 523, args=args, SandboxDefaults=harena.SandboxDefaults)
    assert names["sandbox_defaults"].tags == ("art-training", "cwsandbox-mbpp", "train-001")
