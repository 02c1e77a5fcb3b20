"""What a notebook shows of records, sandboxes and jobs that run; data frames of results and of curves."""

from __future__ import annotations

import builtins
import io
import sys
import types
from html.parser import HTMLParser
from typing import Any

import pandas
import pytest
from sdk_fake_node import NodeControl
from test_sdk_results import ODD, run

from fake_answers import filled
from harena import Sandbox, benchmark_jobs
from harena.core.errors import SandboxTimeoutError, ValidationError
from harena.core.html_views import MOST_ROWS
from harena.core.records.benchmark_jobs import BenchmarkJob, BenchmarkResults
from harena.core.records.training_jobs import TrainingMetrics
from harena.sdk import progress_bars
from harena.sdk.progress_bars import Look

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\ud800"


class Tags(HTMLParser):
    """The elements of a text, and what stands in them; every element must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open[-1] == "polyline" != tag:  # closes itself
            self.open.pop()
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def shown(value: Any) -> Tags:
    html = value._repr_html_()
    html.encode()  # a notebook is stored as UTF-8
    return Tags(html)


def results(runs: list[dict[str, Any]], **more: Any) -> BenchmarkResults:
    return filled(BenchmarkResults, {"runs": runs, "name": "mine", "state": "completed", **more})


def test_results_are_a_table_that_says_what_passed() -> None:
    """Each run with its score and reason, those beyond the first counted below, and what a program wrote is text."""
    runs = [run(at, detail=HOSTILE, score=at % 2 * 1.0, passed=bool(at % 2)) for at in range(MOST_ROWS + 7)]
    tags = shown(results(runs))
    assert tags.names.count("tr") == MOST_ROWS + 1
    assert {"script", "img"}.isdisjoint(tags.names)
    assert any("<script>alert(1)</script>" in text for text in tags.texts)
    assert "… and 7 more" in tags.texts
    assert any(text.startswith("mine: completed, passed") for text in tags.texts)


def test_a_run_without_a_score_is_neither_right_nor_wrong() -> None:
    right, wrong, none = (
        results([run(0, score=score, passed=passed)])._repr_html_()
        for score, passed in ((1.0, True), (0.0, False), (None, False))
    )
    colours = [html.partition("color:")[2][:7] for html in (right, wrong, none)]
    assert len(set(colours)) == 3
    assert "&ndash;" in none


def test_every_record_is_a_table_of_its_fields() -> None:
    job = filled(BenchmarkJob, {"name": HOSTILE, "id": "job_1"})
    tags = shown(job)
    assert "BenchmarkJob" in tags.texts
    assert "job_1" in tags.texts
    assert "script" not in tags.names


def test_metrics_are_curves_and_rows() -> None:
    """A row for each step that has a value, evaluations beside the training steps of the same number."""
    metrics = TrainingMetrics(
        metrics={
            "steps": [1, 2, 3],
            "reward": [0.0, None, 0.5],
            "eval/steps": [0, 2],
            "eval/pass": [0.1, 0.2],
            "total": 7.0,
        },
        cursor=9,
    )
    assert metrics.to_rows() == [
        {"step": 0, "eval/pass": 0.1},
        {"step": 1, "reward": 0.0},
        {"step": 2, "eval/pass": 0.2},
        {"step": 3, "reward": 0.5},
    ]
    frame = metrics.to_pandas()
    assert frame["step"].tolist() == [0, 1, 2, 3]
    assert frame["reward"].dropna().tolist() == [0.0, 0.5]
    tags = shown(metrics)
    assert tags.names.count("svg") == tags.names.count("polyline") == 2
    assert {"reward: 0.5", "eval/pass: 0.2"} <= set(tags.texts)
    assert "no step has been trained yet" in shown(TrainingMetrics(metrics={}, cursor=0)).texts


def test_results_are_a_data_frame() -> None:
    frame = results(ODD).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["detail"][1] == "?"
    assert (frame["scenario_id"].tolist(), frame["score"].isna().tolist()) == (
        [one["scenario_id"] for one in ODD],
        [True, False, False],
    )


def test_without_pandas_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ValidationError, match=r"pip install pandas; or use to_rows\(\)"):
        results(ODD).to_pandas()


def test_a_sandbox_shows_what_is_known_of_it(node: NodeControl) -> None:
    sandbox = Sandbox(tags=["<u>"])
    assert "not started" in sandbox._repr_html_()
    sandbox.wait()
    tags = shown(sandbox)
    assert "Sandbox" in tags.texts
    assert "u" not in tags.names
    sandbox.stop().result()


class Screen(io.StringIO):
    """A terminal, or not."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_job_that_is_waited_for_shows_how_far_it_is(
    node: NodeControl, monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool
) -> None:
    """A bar in a terminal, and a line in a log; results are the same."""
    monkeypatch.setattr(sys, "stderr", Screen(is_terminal))
    found = benchmark_jobs.wait("j", progress=True)
    assert found == benchmark_jobs.wait("j")
    assert "running, passed 0 of 1" in sys.stderr.getvalue()


def test_a_late_job_leaves_no_bar_behind(node: NodeControl, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark_jobs.get("j")
    closed: list[bool] = []
    bar = types.SimpleNamespace(draw=lambda look: None, close=lambda: closed.append(True))
    monkeypatch.setattr(progress_bars, "open_bar", lambda out: bar)
    node.opened[0].file_gate.clear()
    with pytest.raises(SandboxTimeoutError):
        benchmark_jobs.wait("j", timeout=0.05, progress=True)
    assert closed == [True]
    node.opened[0].file_gate.set()


def test_a_log_has_a_line_for_each_tenth() -> None:
    out = Screen(False)
    bar = progress_bars.open_bar(out)
    for done in range(1001):
        bar.draw(Look(name="mine", done=done, total=1000, told="running"))
    bar.close()
    lines = out.getvalue().splitlines()
    assert (len(lines), lines[-1]) == (11, "mine: 1000/1000 running")


def test_in_a_notebook_one_output_is_updated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is asked for one output, which each look changes; what a name holds is text there, too."""
    outputs: builtins.list[str] = []

    class Handle:
        def update(self, data: dict[str, str], *, raw: bool) -> None:
            outputs.append(data["text/html"])

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        assert (raw, display_id, outputs) == (True, True, [])
        outputs.append(data["text/html"])
        return Handle()

    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))  # type: ignore[arg-type]
    bar = progress_bars.open_bar(Screen(True))
    for done in (0, 5):
        bar.draw(Look(name=HOSTILE, done=done, total=5, told="running"))
    bar.close()
    assert len(outputs) == 2
    assert 'max="5" value="5"' in outputs[1]
    assert "<script>" not in outputs[1]
