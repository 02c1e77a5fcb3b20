"""What the guides of three clients show, on a real node: their imports and calls as printed, the words our own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harena.alias_modules import install_aliases

pytestmark = pytest.mark.thorough

RUN_ID = f"guides-{os.getpid()}"


@pytest.fixture(scope="module", autouse=True)
def _other_names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`import aviato` and the others work, and harena's home is the test's own."""
    before = os.environ.get("HARENA_HOME")
    os.environ["HARENA_HOME"] = str(tmp_path_factory.mktemp("home"))
    install_aliases("aviato", "cwsandbox", "runloop", force=True)
    yield
    importlib.import_module("harena").shutdown()
    for name in ("aviato", "cwsandbox", "runloop"):
        del sys.modules[name]
    if before is None:
        del os.environ["HARENA_HOME"]
    else:
        os.environ["HARENA_HOME"] = before


def _defaults(*tags: str) -> Any:
    from aviato import SandboxDefaults

    return SandboxDefaults(container_image=f"python:3.{sys.version_info.minor}", tags=("rl-training", *tags))


def test_the_core_pattern() -> None:
    """Write a file, run it against the checks, score by what it prints."""
    from aviato import Sandbox

    def compute_reward(generated_code: str, test_cases: list[dict[str, str]]) -> float:
        with Sandbox.run() as sandbox:
            sandbox.write_file("/tmp/solution.py", generated_code.encode()).result()
            passed = 0
            for test in test_cases:
                result = sandbox.exec(["python", "/tmp/solution.py"], timeout_seconds=10.0).result()
                if result.returncode == 0 and test["expected"] in result.stdout:
                    passed += 1
            return passed / len(test_cases)

    assert compute_reward("print(6 * 7)", [{"expected": "42"}, {"expected": "43"}]) == 0.5
    assert compute_reward("raise SystemExit(1)", [{"expected": ""}]) == 0.0


def test_a_session_cleans_up() -> None:
    """Sandboxes stopped on the way and sandboxes left over."""
    import aviato

    with aviato.Session(defaults=_defaults(f"run:{RUN_ID}-session")) as session:
        for step in range(3):
            sandbox = session.sandbox()
            result = sandbox.exec(["python", "-c", f"print({step})"]).result()
            assert result.stdout == f"{step}\n"
            sandbox.stop().result()
        kept = session.sandbox().wait()
        assert len(aviato.Sandbox.list(tags=[f"run:{RUN_ID}-session"]).result()) == 1
    assert kept.status is aviato.SandboxStatus.COMPLETED


def test_orphans_are_found_by_tag_and_age() -> None:
    """Cleaning up after a job that failed, and what is older than a threshold."""
    from aviato import Sandbox

    def cleanup_run(run_id: str) -> int:
        orphans = Sandbox.list(tags=[f"run:{run_id}"]).result()
        for sandbox in orphans:
            sandbox.stop(missing_ok=True).result()
        return len(orphans)

    def cleanup_old_sandboxes(max_age_hours: int = 24) -> int:
        cutoff = datetime.now(UTC) - timedelta(hours=max_age_hours)
        sandboxes = Sandbox.list(tags=["rl-training"]).result()
        cleaned = 0
        for sandbox in sandboxes:
            if sandbox.started_at and sandbox.started_at < cutoff:
                sandbox.stop(missing_ok=True).result()
                cleaned += 1
        return cleaned

    for _ in range(3):
        Sandbox.run(defaults=_defaults(f"run:{RUN_ID}-orphan")).wait()
    assert cleanup_old_sandboxes() == 0
    assert cleanup_run(f"{RUN_ID}-orphan") == 3
    assert cleanup_run(f"{RUN_ID}-orphan") == 0
    Sandbox.run(defaults=_defaults()).wait()
    assert cleanup_old_sandboxes(max_age_hours=0) == 1


def test_parallel_evaluation() -> None:
    """Create all, wait for all, run all, stop all."""
    import aviato
    from aviato import Sandbox

    defaults = _defaults()

    def parallel_evaluate(code_samples: list[str]) -> list[float]:
        sandboxes = [Sandbox.run(defaults=defaults) for _ in code_samples]
        aviato.wait(sandboxes)
        processes = [
            sb.exec(["python", "-c", code], timeout_seconds=30.0)
            for sb, code in zip(sandboxes, code_samples, strict=True)
        ]
        rewards = []
        for process in processes:
            result = process.result()
            rewards.append(1.0 if result.returncode == 0 else 0.0)
        aviato.result([sb.stop() for sb in sandboxes])
        return rewards

    assert parallel_evaluate(["print(1)", "1/0", "import sys; sys.exit(2)", "assert True"]) == [1.0, 0.0, 0.0, 1.0]


def test_a_pool_of_workers() -> None:
    """A few sandboxes, kept, for many programs."""
    import aviato

    with aviato.Session(defaults=_defaults("worker-pool")) as session:
        workers = [session.sandbox() for _ in range(3)]
        for batch in (["a", "b", "c"], ["d", "e", "f"]):
            processes = [
                worker.exec(["python", "-c", f"print({code!r})"]) for worker, code in zip(workers, batch, strict=True)
            ]
            results = [p.result() for p in processes]
            assert [result.stdout.strip() for result in results] == batch
        assert session.get_metrics()["cwsandbox/avg_execs_per_sandbox"] == 2


def test_the_first_results_and_no_more() -> None:
    """`wait(num_returns=)` gives exactly that many; the others are cancelled and the sandbox stays usable."""
    import aviato

    with aviato.Sandbox.run() as sandbox:
        quick = [sandbox.exec(["python", "-c", f"print({number})"]) for number in range(2)]
        slow = [sandbox.exec(["sleep", "300"]) for _ in range(2)]
        done, pending = aviato.wait([*slow, *quick], num_returns=2)
        assert set(done) == set(quick)
        for process in done:
            assert process.result().returncode == 0
        for process in pending:
            process.cancel()
        with pytest.raises(concurrent.futures.CancelledError):
            pending[0].result()
        assert sandbox.exec(["echo", "alive"]).result().stdout == "alive\n"


def test_a_robust_reward_tells_a_time_out_apart() -> None:
    """The library's time-out is an exception of its own, and the block still ends the sandbox."""
    from aviato import Sandbox, SandboxTimeoutError

    def robust_reward(code: str) -> str:
        try:
            with Sandbox.run(defaults=_defaults()) as sandbox:
                result = sandbox.exec(["python", "-c", code], timeout_seconds=1.0).result()
                return "right" if result.returncode == 0 else "wrong"
        except SandboxTimeoutError:
            return "slow"
        except Exception:  # noqa: BLE001 - as the guide has it: a reward function never raises
            return "broken"

    assert [robust_reward(code) for code in ("pass", "1/0", "while True: pass")] == ["right", "wrong", "slow"]


def test_counting_active_sandboxes() -> None:
    """Several statuses at once."""
    from aviato import Sandbox, SandboxStatus

    def count_active_sandboxes(run_id: str) -> dict[str, int]:
        sandboxes = Sandbox.list(tags=[f"run:{run_id}"], status=[SandboxStatus.RUNNING, SandboxStatus.PENDING]).result()
        return {
            "running": sum(1 for s in sandboxes if s.status == SandboxStatus.RUNNING),
            "pending": sum(1 for s in sandboxes if s.status == SandboxStatus.PENDING),
            "total": len(sandboxes),
        }

    kept = [Sandbox.run(tags=[f"run:{RUN_ID}-count"]).wait() for _ in range(2)]
    assert count_active_sandboxes(f"{RUN_ID}-count") == {"running": 2, "pending": 0, "total": 2}
    for sandbox in kept:
        sandbox.stop().result()
    assert count_active_sandboxes(f"{RUN_ID}-count")["total"] == 0


def test_execution_details_can_be_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Id, return code and lengths."""
    import cwsandbox

    with cwsandbox.Session(cwsandbox.SandboxDefaults(tags=("log",))) as session, caplog.at_level(logging.DEBUG):
        sandbox = session.sandbox()
        sandbox.wait()
        result = sandbox.exec(["python", "-c", "print('x' * 10)"], timeout_seconds=30.0).result()
        details = {"sandbox_id": sandbox.sandbox_id, "returncode": result.returncode, "stdout_len": len(result.stdout)}
        logging.getLogger(__name__).debug("Reward computation", extra=details)
        sandbox.stop()
    [record] = [record for record in caplog.records if record.message == "Reward computation"]
    assert (record.returncode, record.stdout_len) == (0, 11)  # type: ignore[attr-defined]
    assert isinstance(record.sandbox_id, str)  # type: ignore[attr-defined]


def _observe(sandbox: Any, tool: SimpleNamespace) -> str:
    from cwsandbox import SandboxFileError, SandboxTimeoutError

    try:
        if tool.name == "bash":
            result = sandbox.exec(["bash", "-c", tool.command], timeout_seconds=1.0).result()
            return f"exit={result.returncode}\n{result.stdout}{result.stderr}"
        if tool.name == "read_file":
            content: bytes = sandbox.read_file(tool.path).result()
            return content.decode()
        sandbox.write_file(tool.path, tool.content.encode()).result()
        return "File written successfully"
    except SandboxTimeoutError:
        return "Error: command timed out"
    except SandboxFileError as error:
        return f"Error: {error}"


def test_an_episode_keeps_its_state_between_tool_calls() -> None:
    """Files stay from step to step; mistakes come back as observations."""
    from cwsandbox import Session

    with Session() as session:
        sandboxes = [session.sandbox() for _ in range(2)]
        refs = [sb.start() for sb in sandboxes]
        assert [r.result() for r in refs] == [None, None]
        sandbox = sandboxes[0]
        steps = [
            SimpleNamespace(name="write_file", path="/workspace/solution.py", content="print(sum(range(5)))\n"),
            SimpleNamespace(name="bash", command="python solution.py && cat solution.py | wc -l"),
            SimpleNamespace(name="bash", command="echo oops >&2; exit 3"),
            SimpleNamespace(name="bash", command="sleep 60"),
            SimpleNamespace(name="read_file", path="/workspace/solution.py"),
            SimpleNamespace(name="read_file", path="/workspace/missing.py"),
        ]
        seen = [_observe(sandbox, step) for step in steps]
        assert seen[:5] == [
            "File written successfully",
            "exit=0\n10\n1\n",
            "exit=3\noops\n",
            "Error: command timed out",
            "print(sum(range(5)))\n",
        ]
        assert seen[5].startswith("Error: ")
        assert "missing.py" in seen[5]
        assert _observe(sandboxes[1], steps[4]).startswith("Error: ")
        assert sandbox.exec(["bash", "-c", "test -f solution.py"]).result().returncode == 0


def test_results_as_they_come() -> None:
    """The guides' loop: one at a time, quick ones first, from sandboxes that nobody keeps."""
    import cwsandbox

    codes = ["import time; time.sleep(0.6); print('slow')", "print('quick')", "def broken(:", "1/0"]
    with cwsandbox.Session(defaults=cwsandbox.SandboxDefaults(tags=("trl-grpo",))) as session:
        pending = [session.sandbox().exec(["python", "-c", code], timeout_seconds=30.0) for code in codes]
        order = list(pending)
        rewards: dict[int, float] = {}
        while pending:
            [process], pending = cwsandbox.wait(pending, num_returns=1)
            result = process.result()
            rewards[order.index(process)] = 1.0 if result.returncode == 0 else 0.0
        assert rewards == {0: 1.0, 1: 1.0, 2: 0.0, 3: 0.0}
        assert list(rewards)[-1] == 0


def test_a_reward_function_for_conversations_and_texts() -> None:
    """Only completions with an answer get a sandbox."""
    import cwsandbox

    session = cwsandbox.Session(defaults=cwsandbox.SandboxDefaults(tags=("trl-grpo",)))

    def extract_xml_answer(text: str) -> str:
        if "<answer>" not in text:
            return ""
        return text.split("<answer>")[-1].split("</answer>")[0].strip()

    def reward_fn(completions: list[Any], **kwargs: Any) -> list[float]:
        texts = [c[0]["content"] if isinstance(c, list) else c for c in completions]
        codes = [extract_xml_answer(t) for t in texts]
        code_indices = [(i, code) for i, code in enumerate(codes) if code]
        processes = [
            (i, session.sandbox().exec(["python", "-c", code], timeout_seconds=30.0)) for i, code in code_indices
        ]
        rewards = [0.0] * len(codes)
        for i, process in processes:
            rewards[i] = 1.0 if process.result().returncode == 0 else 0.0
        return rewards

    completions = ["<answer>print(1)</answer>", [{"content": "<answer>1/0</answer>"}], "no code at all"]
    assert reward_fn(completions, step=1) == [1.0, 0.0, 0.0]
    assert session.get_metrics()["cwsandbox/sandboxes_created"] == 2
    session.close().result()


def test_metrics_of_a_session_and_a_sandbox() -> None:
    """Counted by themselves; sent nowhere where there is no run."""
    from cwsandbox import SandboxDefaults, Session

    defaults = SandboxDefaults(tags=("metrics",))
    with Session(defaults, report_to=[]) as session:
        sandbox = session.sandbox()
        assert sandbox.exec(["echo", "hello"]).result().stdout == "hello\n"
        assert sandbox.exec_stats == {"exec_count": 1, "completed_ok": 1, "completed_nonzero": 0, "failures": 0}
        assert session.log_metrics(step=1, reset=False) is False
        metrics = session.get_metrics()
        assert metrics["cwsandbox/startup_count"] == 1
        assert metrics["cwsandbox/exec_completion_rate"] == 1.0


def test_a_remote_function() -> None:
    """Its source travels, its result comes back, its exception is told."""
    import cwsandbox

    base = 10
    with cwsandbox.Session() as session:

        @session.function()
        def power(exponent: int) -> int:
            return int(base**exponent)

        assert power.remote(2).result() == 100
        assert [ref.result() for ref in power.map([(0,), (1,)])] == [1, 10]
        assert power.local(3) == 1000
        with pytest.raises(cwsandbox.SandboxExecutionError) as caught:
            power("x").result()
        assert caught.value.exception_type == "TypeError"


def test_output_streams_while_the_program_runs() -> None:
    """Each line arrives before the next is printed, because the program waits for an answer."""
    from cwsandbox import Sandbox

    talk = "for n in range(3):\n    print('line', n, flush=True)\n    input()\n"
    with Sandbox.run() as sandbox:
        process = sandbox.exec(["python", "-c", talk], stdin=True)
        assert process.stdin is not None
        for number in range(3):
            assert next(process.stdout) == f"line {number}\n"
            process.stdin.writeline("go on")
        assert process.wait() == 0


async def test_everything_in_a_running_loop() -> None:
    """As in a notebook."""
    from cwsandbox import Sandbox

    async with Sandbox.run() as sandbox:
        results = await asyncio.gather(*(sandbox.exec(["echo", str(number)]) for number in range(5)))
        assert [result.stdout for result in results] == [f"{number}\n" for number in range(5)]


def test_directories_and_large_files_travel(tmp_path: Path) -> None:
    """Beyond the guides: up, changed inside, down."""
    from cwsandbox import Sandbox

    (tmp_path / "in" / "pkg").mkdir(parents=True)
    (tmp_path / "in" / "pkg" / "mod.py").write_text("VALUE = 41\n")
    with Sandbox.run() as sandbox:
        sandbox.upload_dir(tmp_path / "in", "/workspace/in").result()
        program = "import pkg.mod; open('out.txt', 'w').write(str(pkg.mod.VALUE + 1))"
        sandbox.exec(["python", "-c", program], cwd="/workspace/in", check=True).result()
        sandbox.download_dir("/workspace/in", tmp_path / "out").result()
        big = os.urandom(3 * 1024 * 1024)
        sandbox.write_file_streaming("/tmp/big", iter([big, big])).result()
        assert b"".join(sandbox.read_file_streaming("/tmp/big")) == big + big
    assert (tmp_path / "out" / "out.txt").read_text() == "42"


def test_a_sandbox_for_one_command() -> None:
    """Its end is the sandbox's end, its output the log."""
    from cwsandbox import Sandbox, SandboxStatus

    sandbox = Sandbox.run("python", "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    logs = sandbox.stream_logs(follow=True)
    assert sorted("".join(logs).split()) == ["err", "out"]
    sandbox.wait_until_complete(timeout=30).result()
    assert (sandbox.returncode, sandbox.status) == (3, SandboxStatus.COMPLETED)


def test_a_shell() -> None:
    """A real terminal of the size that was asked for."""
    from cwsandbox import Sandbox

    with Sandbox.run() as sandbox:
        terminal = sandbox.shell(width=100, height=30)
        terminal.stdin.write(b"stty size; exit 4\n")
        assert terminal.wait(timeout=30) == 4
        assert b"30 100" in b"".join(terminal.output)


def test_a_program_in_a_fresh_process_leaves_nothing_behind(tmp_path: Path) -> None:
    """Forked workers have sandboxes of their own; the end is clean, also with sandboxes left running."""
    script = """
import multiprocessing, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import harena.aliases
from aviato import Sandbox
def work(number):
    with Sandbox.run() as sandbox:
        return sandbox.exec(["echo", str(number)]).result().stdout.strip()
left = Sandbox.run().wait()
left.exec(["sleep", "300"])
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(work, range(4)))
print(left.exec(["echo", "parent"]).result().stdout.strip())
"""
    environment = os.environ | {"HARENA_HOME": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("['0', '1', '2', '3']\nparent\n", "", 0)


def test_a_benchmark_job() -> None:
    """Reward signals for a batch of candidates."""
    import runloop

    checks = [{"args": [2], "expected": 4}, {"args": [3], "expected": 9}]
    contract = {"type": "tests", "entry_point": "f", "comparison": "exact", "checks": checks}
    candidates = {"right": "def f(n):\n    return n * n\n", "wrong": "def f(n):\n    return n + n\n"}
    candidate_solutions = [{"id": name, "scoring": contract, "candidate": code} for name, code in candidates.items()]
    runloop.blueprints.create("python-ml-training-env")
    blueprint = runloop.blueprints.get("python-ml-training-env")
    job = runloop.benchmark_jobs.create(
        name=f"rft-epoch-42-{RUN_ID}",
        scenarios=candidate_solutions,
        blueprint_id=blueprint.id,
        config={"concurrency": 200, "timeout_seconds": 120, "retry_attempts": 1},
    )
    results = runloop.benchmark_jobs.wait(job.id)
    reward_signals = [(r.scenario_id, r.score) for r in results.runs]
    signals = dict(reward_signals)
    assert (signals["right"], len(signals)) == (1.0, 2)
    assert signals["wrong"] < 1.0
    assert {r.validity for r in results.runs} == {"valid"}
    assert runloop.benchmark_jobs.get(job.id).progress.done == 2
