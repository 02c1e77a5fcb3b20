"""`harena.sft`, on a node inside this process and over HTTP; candidates run, without isolation."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

import harena
from harena import sft
from harena.core.clock import SystemClock
from harena.core.errors import NotFoundError, PlatformError, ValidationError
from harena.core.ports import Operations
from harena.sdk import benchmark_jobs, portal, transport
from harena.sdk.http.operations import HttpOperations

sys.path.insert(0, str(Path(__file__).parent / "server"))

from server_world import fake_node, world

ADDING = {"type": "stdio", "cases": [{"stdin": "1 2", "stdout": "3"}]}
SUM, MAX = (f"print({what}(map(int, input().split())))\n" for what in ("sum", "max"))
SAID = f"I add them.\n```python\n{SUM}```\n"
PROBLEMS = {
    "problems": [
        {"id": name, "statement": f"Print the sum, {name}.", "scoring": ADDING} for name in ("add", "plus", "never")
    ],
    "scenarios": [
        {"id": "add/1", "problem": "add", "candidate": SUM},
        {"id": "add/2", "problem": "add", "candidate": MAX},
        {"id": "add/3", "problem": "add", "candidate": f"# the sum\n{SUM}"},
        {"id": "plus/1", "problem": "plus", "candidate": f"# plus\n{SUM}"},
        {"id": "never/1", "problem": "never", "candidate": MAX},
    ],
}
TEST = {"input": {"stdin": "1 2"}, "output": {"stdout": "3"}}
ROWS = [{"id": name, "content": f"Print the sum, {name}.", "test": [TEST]} for name in ("add", "plus")]
ANSWERS = [{"id": "add", "response": SAID}, {"id": "add", "response": MAX}, {"id": "plus", "response": MAX}]


class Served(HttpOperations):
    """A client whose server ends with it."""

    def __init__(self, url: str, stack: AsyncExitStack) -> None:
        super().__init__(url)
        self._stack = stack

    async def close(self) -> None:
        await super().close()
        await self._stack.aclose()


@pytest.fixture(params=["embedded", "http"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A folder of the test's own, and behind the sdk a node over a fake runtime."""

    async def opened() -> Operations:
        store = tmp_path / "node"
        store.mkdir(exist_ok=True)
        if request.param == "embedded":
            return fake_node(store, SystemClock())
        stack = AsyncExitStack()
        return Served((await stack.enter_async_context(world(store))).url, stack)

    portal.shutdown()
    before = transport.set_factory(opened)
    (tmp_path / "here").mkdir()
    yield tmp_path / "here"
    portal.shutdown()
    transport.set_factory(before)


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_candidates_run_and_what_passes_is_training_data(home: Path) -> None:
    """From a file of our own format, with a report, a lineage, and events while it runs."""
    (home / "problems.json").write_text(json.dumps(PROBLEMS))
    seen: list[Any] = []
    report = harena.sft.validate(
        home / "problems.json",
        output=home / "verified.jsonl",
        dedupe="normalized",
        system="Be brief.",
        report=home / "report.json",
        config={"concurrency": 2},
        follow=seen.extend,
    )
    assert rows(home / "verified.jsonl") == [
        {"messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": f"Print the sum, {name}."},
            {"role": "assistant", "content": code},
        ]} for name, code in (("add", SUM), ("plus", f"# plus\n{SUM}"))
    ]  # fmt: skip
    assert json.loads((home / "report.json").read_text()) == report
    totals = report["totals"]
    assert (totals["candidates"], totals["passed"], totals["kept"], totals["duplicates"]) == (5, 3, 2, 1)
    assert report["problems_without_pass"] == ["never"]
    assert [event.kind for event in seen][-1] == "job_ended"
    job = benchmark_jobs.get(report["job_id"])
    assert (job.state, job.config["concurrency"], job.name) == ("completed", 2, "sft-validation")
    lineage = rows(home / "verified.lineage.jsonl")
    runs = {run.scenario_id: run for run in benchmark_jobs.results(job.id).runs}
    assert [(row["line"], row["scenario"], row["job_id"]) for row in lineage] == [
        (1, "add/1", job.id),
        (2, "plus/1", job.id),
    ]
    for row in lineage:
        assert row["evidence"] == [runs[row["scenario"]].evidence]
        assert row["candidate_digest"] == runs[row["scenario"]].candidate_digest
        assert row["harena_version"] == harena.__version__
    assert sft.verify(home / "verified.jsonl") == {
        "ok": True, "rows": 2, "faulty": 0, "problems": 2, "job_ids": [job.id],
        "harena_versions": [harena.__version__], "faults": [],
    }  # fmt: skip
    assert sorted(path.name for path in home.iterdir()) == [
        "problems.json", "report.json", "verified.jsonl", "verified.lineage.jsonl",
    ]  # fmt: skip


def test_a_data_set_and_answers_and_then_other_rules_for_the_same_job(home: Path) -> None:
    """Nothing runs twice: the job is named."""
    report = sft.validate(iter(ROWS), iter(ANSWERS), output=home / "a.jsonl", form="prompt-completion")  # type: ignore[arg-type]
    assert rows(home / "a.jsonl") == [{"prompt": "Print the sum, add.", "completion": SAID}]
    before = [job.id for job in benchmark_jobs.list()]
    (home / "prompt.txt").write_text("Python. {{ item.statement }}\n")
    again = sft.validate(
        ROWS,
        ANSWERS,
        output=str(home / "a.jsonl"),
        overwrite=True,
        form="preference",
        completion="code",
        prompt_template=home / "prompt.txt",
        job=report["job_id"],
    )
    assert rows(home / "a.jsonl") == [
        {"prompt": "Python. Print the sum, add.\n", "chosen": SUM, "rejected": MAX},
    ]
    assert again["job_id"] == report["job_id"]
    assert [job.id for job in benchmark_jobs.list()] == before
    with pytest.raises(ValidationError, match="what the job ran is not what the files hold now: add/1"):
        sft.validate(
            ROWS, [{**ANSWERS[0], "response": "print(3)"}, *ANSWERS[1:]], output=home / "b.jsonl", job=report["job_id"]
        )
    with pytest.raises(ValidationError, match="ran scenarios that are not among these: add/1, add/2"):
        sft.validate(ROWS, ANSWERS[2:], output=home / "b.jsonl", job=report["job_id"])
    with pytest.raises(NotFoundError, match="nowhere"):
        sft.validate(ROWS, ANSWERS, output=home / "b.jsonl", job="nowhere")
    assert not (home / "b.jsonl").exists()


def test_stored_scenarios_and_contracts_are_in_the_lineage(home: Path) -> None:
    """By their versions, whatever is stored afterwards; and a job of them can be used again."""
    harena.scoring_contracts.create("adding", ADDING)
    problem = {"id": "add", "statement": "Print the sum.", "scoring": {"contract": "adding"}}
    harena.scenarios.create("sums", {"problems": [problem]})
    answers = [{"id": f"add/{n}", "problem": "add", "candidate": code} for n, code in enumerate((SUM, MAX))]
    report = sft.validate({"ref": "sums"}, answers, output=home / "a.jsonl", form="preference")
    assert rows(home / "a.jsonl") == [{"prompt": "Print the sum.", "chosen": SUM, "rejected": MAX}]
    (origin,) = rows(home / "a.lineage.jsonl")
    for named in (origin, origin["rejected"]):
        assert (named["scenario_version"], named["contract_version"]) == ("sums@1", "adding@1")
    harena.scenarios.create("sums", {"problems": [{**problem, "statement": "Print the sum!"}]})
    again = {"job": report["job_id"], "output": home / "b.jsonl"}
    with pytest.raises(ValidationError, match="what the job ran is not what the files hold now"):
        sft.validate({"ref": "sums"}, answers, **again)
    assert sft.validate({"ref": "sums@1"}, answers, **again)["totals"]["rows"] == 1
    with pytest.raises(NotFoundError, match="no scenarios 'none'"):
        sft.validate({"ref": "none"}, answers, output=home / "c.jsonl")


def test_where_nothing_passes_the_files_are_empty(home: Path) -> None:
    """Better than what stood there before."""
    (home / "a.jsonl").write_text("old\n")
    report = sft.validate(ROWS, ANSWERS[1:], output=home / "a.jsonl", overwrite=True)
    assert (report["totals"]["rows"], report["problems_without_pass"]) == (0, ["add", "plus"])
    assert ((home / "a.jsonl").read_text(), (home / "a.lineage.jsonl").read_text()) == ("", "")
    assert sft.verify(home / "a.jsonl")["ok"]


def test_every_mistake_is_told_before_anything_runs(home: Path) -> None:
    """Of the rule, of the files, and of options that a job that exists cannot take any more."""
    (home / "a.jsonl").write_text("")
    with pytest.raises(ValidationError, match="nothing was run") as caught:
        sft.validate(
            ROWS,
            output=home / "a.jsonl",
            keep="bset",
            report=home / "no" / "r.json",
            prompt_template=home / "none",
            job="j",
            name="n",
        )
    assert [line.strip().split(":")[0] for line in str(caught.value).splitlines()[1:]] == [
        "keep", "output", "report", "name", "prompt_template",
    ]  # fmt: skip
    (home / "latin").write_bytes(b"\xff {{ item.statement }}")
    with pytest.raises(ValidationError, match="is not UTF-8"):
        sft.validate(ROWS, ANSWERS, output=home / "b.jsonl", prompt_template=home / "latin")
    with pytest.raises(ValidationError, match="1 mistake in the scenarios"):
        sft.validate(ROWS, [{"id": "adds", "code": "x"}], output=home / "b.jsonl")
    bare = [{**ROWS[0], "content": ""}]
    with pytest.raises(ValidationError, match="scenario 'add/1' has no prompt"):
        sft.validate(bare, ANSWERS[:1], output=home / "b.jsonl")
    with pytest.raises(ValidationError, match="concurrency"):
        sft.validate(ROWS, ANSWERS, output=home / "b.jsonl", config={"concurrency": 0})
    with pytest.raises(ValidationError, match="name: must be text that is not empty"):
        sft.validate(ROWS, ANSWERS, output=home / "b.jsonl", name="")
    assert benchmark_jobs.list() == []
    assert [path.name for path in home.iterdir() if path.name[0] in "b."] == []


def test_a_job_that_was_ended_writes_nothing_until_it_is_asked_for(home: Path) -> None:
    """Its results so far can be taken, and say that they are not all."""
    slow = {"id": "slow", "problem": "plus", "candidate": "import time\ntime.sleep(3600)\n"}
    given = {**PROBLEMS, "scenarios": [PROBLEMS["scenarios"][0], slow]}

    def cancel(events: Any) -> None:
        for event in events:
            if event.kind == "run_finished":
                benchmark_jobs.cancel(event.job_id)

    with pytest.raises(PlatformError, match=r"job_\w+ is cancelled: it was ended; nothing was written") as caught:
        sft.validate(given, output=home / "a.jsonl", follow=cancel)
    assert list(home.iterdir()) == []
    (job,) = benchmark_jobs.list()
    assert job.id in str(caught.value)
    report = sft.validate(given, output=home / "a.jsonl", job=job.id)
    assert (report["job_state"], report["totals"]["rows"], report["totals"]["not_run"]) == ("cancelled", 1, 1)


def test_an_interruption_ends_the_job_that_was_started(home: Path) -> None:
    """And not one that was only looked at."""
    given = {**PROBLEMS, "scenarios": [{"id": "s", "problem": "add", "candidate": "import time\ntime.sleep(3600)\n"}]}

    def interrupt(events: Any) -> None:
        next(iter(events))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sft.validate(given, output=home / "a.jsonl", follow=interrupt)
    (job,) = benchmark_jobs.list()
    assert job.state == "cancelled"
    other = benchmark_jobs.create(name="other", scenarios=given)
    with pytest.raises(KeyboardInterrupt):
        sft.validate(given, output=home / "a.jsonl", job="other", follow=interrupt)
    assert benchmark_jobs.get(other.id).state != "cancelled"
    benchmark_jobs.cancel(other.id)
    assert list(home.iterdir()) == []


def test_data_that_cannot_be_written_says_that_its_job_is_kept(home: Path) -> None:
    """After hours of runs, nobody wants to run them again."""

    def vanish(events: Any) -> None:
        list(events)
        (home / "folder").rmdir()

    (home / "folder").mkdir()
    with pytest.raises(
        PlatformError, match=r"could not be written: .*; the job's results are kept: .* give job 'job_\w+'"
    ):
        sft.validate(ROWS, ANSWERS, output=home / "folder" / "a.jsonl", follow=vanish)


def test_data_and_lineage_stand_beside_each_other(tmp_path: Path) -> None:
    """What is missing is named."""
    with pytest.raises(ValidationError, match=r"a\.jsonl cannot be read: No such file"):
        sft.verify(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text("")
    with pytest.raises(ValidationError, match=r"a\.lineage\.jsonl cannot be read: No such file"):
        sft.verify(tmp_path / "a.jsonl")
    assert sft.lineage_path("x/data.v2.jsonl") == Path("x/data.v2.lineage.jsonl")
    assert sft.lineage_path("data") == Path("data.lineage.jsonl")
    for nothing in ("", "/", ".."):
        with pytest.raises(ValidationError, match="cannot be read: Is a directory"):
            sft.verify(nothing)
        with pytest.raises(ValidationError, match="is a folder; name a file"):
            sft.validate(ROWS, ANSWERS, output=nothing)
