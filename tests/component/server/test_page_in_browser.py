"""The page in Debian's Chromium: every view at two widths without an error on the console, what changes while it is
looked at, ten thousand runs, and texts that programs wrote."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from served import Served

from harena.core.job_diff import mcnemar_exact
from harena.core.training_jobs import merge_metrics
from harena.testing.conformance_operations import BAD, GOOD

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="this machine has no chromium (as root, `make test` installs it)"
)

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"
OF_A_JOB = {
    "tokens": None, "advantage": 0.5,
    "said": {"count": 7, "text": [HOSTILE, "b"], "logprob": [-0.5, -1.5], "version": [2, 3]},
}  # fmt: skip
"""tokens as samples.jsonl of a job has them"""
WRONG = {"step": {"innerHTML": [HOSTILE], "onclick": HOSTILE}, "turns": [None], "tokens": [None, 1], "reward": "none"}
"""a line of a file of rollouts in which nothing is what it should be"""
RUNS = 10_000
SEEN_MILLISECONDS = 10_000
"""for an update; a second on a machine that nobody else uses"""
MULTIPLY = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :last)
INSERT INTO runs SELECT job_id, i, 'problem-' || i, 1, state, i % 3 = 0, i % 3 = 0,
  json_set(envelope, '$.run', i, '$.scenario_id', 'problem-' || i, '$.score', (i % 3 = 0) * 1.0,
    '$.passed', json(iif(i % 3 = 0, 'true', 'false')), '$.reason', iif(i % 3 = 0, 'passed', 'wrong_answer')),
  failures, repeats, interruptions, ended_cursor + i, metadata_digest, metadata_bytes
FROM runs, n WHERE job_id = :job AND number = 0
"""
COUNTED = """
UPDATE benchmark_jobs SET total = :all, runs_done = :all, runs_scored = :all,
  runs_passed = (SELECT count(*) FROM runs WHERE job_id = :job AND passed), last_cursor = last_cursor + :all
WHERE id = :job
"""


@dataclass
class Browser:
    """One browser for the module, with a page at a time, and what its console said."""

    browser: Any
    url: str
    key: str
    said: list[str] = field(default_factory=list)
    context: Any = None

    def open(self, path: str, *, key: str | None = "") -> Any:
        """A page of a fresh tab, whose key was pasted before (None = it was not)."""
        if self.context is not None:
            self.context.close()
        self.context = self.browser.new_context(viewport={"width": 1280, "height": 900})
        self.said.clear()
        page = self.context.new_page()
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.said.append(f"dialog: {dialog.message}") or dialog.dismiss())
        page.on("request", lambda asked: asked.url.startswith(self.url) or self.said.append(f"asked for {asked.url}"))
        if key is not None:
            page.add_init_script(f"sessionStorage.setItem('harena-key', {json.dumps(key or self.key)})")
        page.goto(f"{self.url}{path}")
        return page


@pytest.fixture(scope="module")
def browser(served: Served) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    key = str(served.http.headers["authorization"]).removeprefix("Bearer ")
    with sync_playwright() as playwright:
        # as root Chromium has no sandbox of its own
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield Browser(chromium, served.world.url, key)
        chromium.close()


@pytest.fixture(scope="module")
def done(served: Served) -> Callable[..., str]:
    """Runs a benchmark job to its end; its id."""

    def run(*scenarios: Any, **more: Any) -> str:
        job = served.made("/v1/benchmark_jobs", {"name": "x", "scenarios": list(scenarios), **more})
        ended = served.http.get(f"{served.world.url}/v1/benchmark_jobs/{job}?wait_seconds=60", timeout=70).json()
        assert ended["state"] == "completed"
        return job

    return run


@pytest.fixture(scope="module")
def many(done: Callable[..., str], served: Served) -> str:
    """A job of RUNS runs, as a database has it that an earlier server has filled."""
    job = done({**GOOD, "id": "problem-0"}, name="many")
    with sqlite3.connect(served.home / "harena.db") as database:
        database.execute(MULTIPLY, {"job": job, "last": RUNS - 1})
        database.execute(COUNTED, {"job": job, "all": RUNS})
    database.close()
    return job


@pytest.fixture(scope="module")
def train(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Starts a training job with these tags, which say what the fake trainer does; its id."""
    rows = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    rows.write_text('{"prompt": "1+1=", "completion": "2"}\n')

    def start(name: str, *tags: str) -> str:
        asked = {"trainer_type": "sft", "model": "tiny-llama", "name": name, "tags": [*tags]}
        asked["config"] = {"dataset_ref": str(rows)}
        job = served.do(served.world.state.operations.create_training_job(asked))
        return str(job["id"])

    return start


@pytest.fixture(scope="module")
def trained(served: Served, train: Callable[..., str]) -> str:
    """A training job that has ended."""
    job = train("trained", "steps:5")
    served.do(served.world.state.operations.wait_training_job(job))
    return job


def test_every_view_fits_its_width_and_says_nothing_on_the_console(
    browser: Browser, done: Callable[..., str], trained: str, served: Served
) -> None:
    """Dark and light, wide and narrow; nothing is asked of any other server."""
    one = done(GOOD, BAD, name=HOSTILE, config={"attempts": 3})
    other = done(GOOD, {**BAD, "candidate": GOOD["candidate"]}, name="better")
    box = served.made("/v1/sandboxes", {"tags": [HOSTILE]})
    argv = ["python3", "-c", f"print({HOSTILE!r} * 1000)"]
    served.http.post(f"{served.world.url}/v1/sandboxes/{box}/execs", json={"argv": argv}, timeout=60)
    views = {
        "/ui#/jobs": "better",
        f"/ui#/jobs/{one}": "6 runs",
        f"/ui#/jobs/{one}/runs/4": "Evidence",
        f"/ui#/compare/{one}/{other}": "problems that pass now",
        "/ui#/training": "trained",
        f"/ui#/training/{trained}": "all steps are done",
        f"/ui#/training/{trained}/rollouts": "Only jobs of reinforcement learning have rollouts",
        "/ui#/sandboxes": box,
        f"/ui#/sandboxes/{box}": "Newest commands (1)",
        "/ui#/audits": "An audit is a calibration",
        "/docs": "/v1/benchmark_jobs/{job}/events",
    }
    page = browser.open("/ui#/jobs")
    for path, says in views.items():
        page.goto(f"{browser.url}{path}")
        page.get_by_text(says).first.wait_for()
        for width, scheme in ((1280, "light"), (390, "dark")):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.evaluate("document.querySelectorAll('main script, main img').length") == 0
        assert browser.said == [], path
    page.goto(f"{browser.url}/ui#/sandboxes/{box}")
    page.get_by_text("What it uses").wait_for()
    assert page.locator(".panel dl, .panel .pairs").get_by_text("processor time so far").is_visible()
    told = page.locator(".panel .block", has=page.get_by_text("stdout, the end"))
    assert told.inner_text().rstrip().endswith(HOSTILE)
    assert browser.said == []
    served.http.post(f"{served.world.url}/v1/sandboxes/{box}/stop", json={}, timeout=60)


def test_ten_thousand_runs_are_painted_at_once_and_laid_out_as_they_are_seen(browser: Browser, many: str) -> None:
    """The first paint waits for no run; the table has as many elements as fit, wherever it is scrolled to."""
    page = browser.open(f"/ui#/jobs/{many}")
    page.get_by_text("10,000 runs", exact=True).wait_for()
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    loaded = page.evaluate(
        "performance.getEntriesByType('resource').findLast((one) => one.name.includes('results/page')).responseEnd"
    )
    assert painted < loaded
    assert page.locator(".legend").inner_text().split() == ["passed", "3,334", "failed", "6,666"]
    body = page.locator(".rows .body")
    body.focus()
    for pressed, shown in (("End", "problem-9999"), ("Home", "problem-0"), ("PageDown", "problem-1")):
        page.keyboard.press(pressed)
        page.locator(".rows .row").get_by_text(shown, exact=True).wait_for()
        assert page.locator(".rows .row").count() < 80
    most_rows = page.evaluate(
        """async () => {
            const body = document.querySelector(".rows .body");
            let most = 0;
            for (let at = 0; at < 30; at++) {
                body.scrollTop = at * 9000;
                await new Promise(requestAnimationFrame);
                most = Math.max(most, document.querySelectorAll(".rows .row").length);
            }
            return most;
        }"""
    )
    assert 0 < most_rows < 80  # what a frame lays out does not grow with the table
    page.get_by_label("Search runs").fill("problem-77")
    page.get_by_text("111 runs").wait_for()
    page.get_by_role("columnheader", name="score").click()
    page.locator(".rows .row[aria-rowindex='1']").get_by_text("passed").first.wait_for()
    canvas = page.locator(".heat canvas")
    canvas.focus()
    for pressed in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(pressed)
    page.locator(".panel h2").get_by_text("problem-2", exact=True).wait_for()
    page.keyboard.press("Escape")
    page.locator(".panel").wait_for(state="hidden")
    assert browser.said == []


def test_an_update_is_seen_while_it_happens(
    browser: Browser, served: Served, train: Callable[..., str], tmp_path: Path
) -> None:
    """A job that begins appears, its runs change as they end, and curves grow with each step."""
    gate = tmp_path / "gate"
    waits = f"import os\nwhile not os.path.exists({str(gate)!r}): pass\n"
    page = browser.open("/ui#/jobs")
    page.locator(".rows").wait_for()
    program = {"files": {"solution.py": waits + GOOD["candidate"]["files"]["solution.py"]}}
    job = served.made("/v1/benchmark_jobs", {"name": "begins now", "scenarios": [{**GOOD, "candidate": program}]})
    page.get_by_text("begins now").click(timeout=SEEN_MILLISECONDS)
    page.locator(".legend").get_by_text("running 1").wait_for(timeout=SEEN_MILLISECONDS)
    gate.touch()
    page.locator(".legend").get_by_text("passed 1").wait_for(timeout=SEEN_MILLISECONDS)
    page.locator("h1").get_by_text("completed").wait_for(timeout=SEEN_MILLISECONDS)
    assert job in page.url
    training = train("held", "steps:3", "held")
    page.goto(f"{browser.url}/ui#/training/{training}")
    page.locator(".tile").get_by_text("0 / 3").wait_for(timeout=SEEN_MILLISECONDS)
    folder = Path(str(served.do(served.world.state.operations.training_job_artifacts(training))["folder"]))
    for step in (1, 2, 3):
        (folder / f"go-{step}").touch()
        reward = page.locator(".sheet", has=page.get_by_text("Reward", exact=True)).locator(".legend")
        reward.get_by_text(f"{step / 10}").first.wait_for(timeout=SEEN_MILLISECONDS)
    page.locator("h1").get_by_text("completed").wait_for(timeout=SEEN_MILLISECONDS)
    assert browser.said == []


def test_texts_of_programs_stay_texts(
    browser: Browser, done: Callable[..., str], train: Callable[..., str], tmp_path: Path
) -> None:
    """Markup, changes of direction, NUL and lines of a megabyte, in names, details, metadata and rollouts of a file."""
    shown = "\u202egpj.exe\x00" + HOSTILE
    scenario = {**BAD, "id": HOSTILE, "metadata": {"note": shown + "y" * 1_000_000}}
    job = done(scenario, name=HOSTILE)
    page = browser.open(f"/ui#/jobs/{job}/runs/0")
    note = page.locator(".panel .block", has=page.get_by_text("The scenario's metadata"))
    note.get_by_text("⟨202e⟩gpj.exe").first.wait_for()
    assert len(note.inner_text()) < 30_000
    note.get_by_role("button", name="more characters").click()
    assert len(note.inner_text()) > 30_000
    assert page.locator("h1").get_by_text(HOSTILE).is_visible()
    line = {
        "step": 1, "group": 0, "sample": 0, "prompt": shown, "text": shown + "z" * 1_000_000, "stop": "stop",
        "reward": {"value": 0.5, "validity": "valid", "reason": HOSTILE, "detail": shown, "parts": {HOSTILE: 0.25}},
        "turns": [{"text": "<tool_call>" + shown + "</tool_call>", "observation": shown, "stop": "stop", "reward": 1}],
        "tokens": [{"text": HOSTILE, "logprob": -2.5, "version": 3, "advantage": -1.0}, {"text": "b", "logprob": -0.1}],
    }  # fmt: skip
    samples = tmp_path / "samples.jsonl"
    samples.write_text(
        json.dumps(line)
        + "\n"
        + json.dumps({**line, "sample": 1, "reward": {"value": 1.5}, **OF_A_JOB})
        + f"\n{json.dumps(WRONG)}\n{{cut"
    )
    _rollouts(browser, train("has no samples"), samples)


def _rollouts(browser: Browser, job: str, samples: Path) -> None:
    page = browser.open("/ui#/training")
    late: list[Any] = []
    page.route("**/artifacts", lambda route: late.append(route))
    page.goto(f"{browser.url}/ui#/training/{job}/rollouts")
    page.get_by_label("A file of rollouts of your own").set_input_files(samples)
    page.locator(".rows .row").nth(1).wait_for()
    # that the job has no samples is heard after a file was chosen, and takes nothing of it away
    with page.expect_response("**/artifacts"):
        late.pop().continue_()
    page.evaluate("new Promise(requestAnimationFrame)")
    rows = [page.locator(".rows .row").nth(place).element_handle() for place in range(3)]
    page.locator(".rows .row").first.click()
    panel = page.locator(".panel")
    panel.get_by_text("above its siblings").wait_for()
    assert panel.get_by_text("-0.5 (mean of the 2 shown: 1)").is_visible()
    assert "⟨202e⟩gpj.exe␀<img" in panel.inner_text()
    page.locator(".rows .row").nth(2).click()
    panel.get_by_text("sample ?").wait_for()
    # a row stays the same element when the panel beside it makes it narrower: nothing vanishes under a pointer
    assert [row.evaluate("(one) => one.isConnected") for row in rows] == [True] * 3
    page.locator(".rows .row").first.click()
    tokens = panel.locator(".tokens span")
    assert tokens.first.get_attribute("title") == "logprob -2.5, advantage -1, version 3"
    colours = [tokens.nth(place).evaluate("(one) => getComputedStyle(one).backgroundColor") for place in (0, 1)]
    assert colours[0] != colours[1]
    panel.get_by_label("Colour tokens by").select_option("advantage")
    assert tokens.first.evaluate("(one) => getComputedStyle(one).backgroundColor") not in colours
    page.locator(".rows .row").nth(1).click()
    panel.get_by_text("7 tokens, by").wait_for()
    titles = [tokens.nth(place).get_attribute("title") for place in (0, 1)]
    assert titles == ["logprob -0.5, advantage 0.5, version 2", "logprob -1.5, advantage 0.5, version 3"]
    assert panel.get_by_text("5 further tokens are left out").is_visible()
    assert page.evaluate("document.querySelectorAll('main script, main img').length") == 0
    assert browser.said == []


def test_markup_cannot_be_made_of_text(browser: Browser) -> None:
    """The policy holds also where somebody forgets what texts are made into."""
    page = browser.open("/ui#/jobs")
    page.locator(".rows").wait_for()
    assert "TrustedHTML" in page.evaluate(
        "try { document.body.innerHTML = '<b>x</b>'; '' } catch (error) { String(error) }"
    )
    page.evaluate("fetch('http://127.0.0.1:9/').catch(() => {})")
    assert any("Content Security Policy" in said for said in browser.said)


def test_a_key_is_asked_for_and_used(browser: Browser, served: Served) -> None:
    """One that is refused is forgotten; one that is good is kept for the tab, and its workspace's jobs are seen."""
    token, _ = served.do(served.keys.create(name="reader", workspace="elsewhere", scopes=["read"]))
    page = browser.open("/ui#/jobs", key=None)
    page.get_by_label("API key").fill("hk_wrong")
    page.keyboard.press("Enter")
    page.get_by_text("is unknown or was revoked").wait_for()
    assert page.evaluate("sessionStorage.getItem('harena-key')") is None
    page.get_by_label("API key").fill(token)
    page.keyboard.press("Enter")
    page.get_by_text("no benchmark job yet").wait_for()
    assert page.evaluate("Object.keys(localStorage)") == ["harena-theme"]
    page.get_by_text("forget key").click()
    page.get_by_label("API key").wait_for()


def test_the_keyboard_does_all(browser: Browser, done: Callable[..., str]) -> None:
    """Views, search, rows, help and theme."""
    done(GOOD, name="by keys")
    page = browser.open("/ui#/sandboxes")
    page.get_by_label("Search sandboxes").wait_for()
    for pressed in ("g", "j"):
        page.keyboard.press(pressed)
    page.get_by_text("by keys").first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("by keys")
    page.keyboard.press("Escape")
    for pressed in ("j", "j", "Enter"):
        page.keyboard.press(pressed)
    page.locator("h1").get_by_text("by keys").wait_for()
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert browser.said == []


def test_the_page_counts_as_the_other_clients_do(browser: Browser) -> None:
    """Curves are put together as the SDK does it, and two jobs are compared by the same test."""
    page = browser.open("/ui#/jobs")
    page.locator(".rows").wait_for()
    told: list[dict[str, Any]] = [
        {"steps": [1, 2], "train/reward": [0.1, 0.2], "train/tokens": 5},
        {"eval/steps": [2], "eval/reward": [0.3]},
        {"steps": [2, 3], "train/reward": [0.25, 0.3], "train/entropy": [1.0, None]},
        {"steps": [4], "train/entropy": [2.0]},
    ]
    merged: dict[str, Any] = {}
    for one in told:
        merge_metrics(merged, one)
    made = "async (told) => { const { merge } = await import('./ui/curves.js'); return told.reduce(merge, {}); }"
    assert page.evaluate(made, told) == merged
    pairs = [(0, 0), (5, 0), (3, 4), (40, 11), (900, 1100)]
    counted = (
        "async (all) => { const { mcnemar } = await import('./ui/compare.js'); return all.map((n) => mcnemar(...n)); }"
    )
    assert page.evaluate(counted, pairs) == pytest.approx([mcnemar_exact(*pair) for pair in pairs], rel=1e-6)


def test_the_reference_has_every_route_and_its_fields(browser: Browser, served: Served) -> None:
    """As the document says; a search leaves those that match."""
    document = served.http.get(f"{served.world.url}/openapi.json", timeout=60).json()
    page = browser.open("/docs")
    routes = page.locator("section > details")
    routes.first.wait_for()
    assert routes.count() == sum(len(methods) for methods in document["paths"].values())
    page.get_by_role("searchbox").fill("post keys")
    page.locator("section > details:visible summary").first.click()
    page.get_by_text("Body, application/json").wait_for()
    assert page.locator("section > details:visible").count() == 1
    page.locator(".schema summary", has_text="201").first.click()
    page.locator(".schema .schema b", has_text="key").first.wait_for()
    assert browser.said == []
