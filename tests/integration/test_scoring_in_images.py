"""Scenarios that name the image of their candidates: each contract is scored there, or refused before anything runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from battery_world import Source

from harena.core.errors import PlatformError, ValidationError
from harena.core.models import SandboxSpec
from harena.core.results import RunResult, Validity
from harena.runtime.host.linux import LinuxRuntime
from harena.scoring import load_scenarios, score_scenario
from image_trees import FolderImages, archive_of, image_root, put_programs, put_python

RIGHT, WRONG = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return a - b\n"
SPEAKS = "import sys\nprint(open('/etc/motd').read().strip(), sum(map(int, sys.stdin.read().split())))\n"
CASES = [{"stdin": "1 2", "stdout": "image 3\n"}, {"stdin": "3 4", "stdout": "image 7\n"}]
CONTRACTS: dict[str, tuple[dict[str, Any], str, str]] = {
    # name: (contract, a right candidate, a wrong one)
    "tests": (
        {"type": "tests", "entry_point": "add", "checks": [{"args": [1, 2], "expected": 3}]},
        RIGHT,
        WRONG,
    ),
    "reference": (
        {"type": "reference", "entry_point": "add", "solution": RIGHT, "inputs": [{"args": [1, 2]}, {"args": [5, 6]}]},
        RIGHT,
        WRONG,
    ),
    "stdio": ({"type": "stdio", "cases": CASES}, SPEAKS, "print(3)\n"),
    "numeric": ({"type": "numeric", "target": 3}, "print(3)\n", "print(4)\n"),
    "python": (
        {"type": "python", "source": "def score(run):\n    return float(run.stdout == 'image\\n')\n"},
        "print(open('/etc/motd').read(), end='')\n",
        "print('else')\n",
    ),
    "weighted": (
        {
            "type": "weighted",
            "parts": {
                "one": {"weight": 1, "scoring": {"type": "stdio", "cases": CASES}},
                "two": {"weight": 1, "scoring": {"type": "stdio", "cases": CASES[:1]}},
            },
        },
        SPEAKS,
        "print(3)\n",
    ),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def source(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Source]:
    """Images: `py` has this interpreter, `py3` by the name `python3` alone, `bare` has none, `broken` has one that does
    not start."""
    place = tmp_path_factory.mktemp("layers")
    base, python, broken, debian = place / "base", place / "python", place / "broken", place / "debian"
    put_programs(base)
    (base / "etc/motd").write_text("image\n")
    put_python(python)
    (broken / "usr/bin").mkdir(parents=True)
    (broken / "usr/bin/python").write_text("#!/bin/sh\necho 'SyntaxError: invalid syntax' >&2\nexit 1\n")
    (broken / "usr/bin/python").chmod(0o755)
    put_python(debian)
    (debian / "usr/bin/python").unlink()
    images = {
        "py3": image_root(debian, base, digest="sha256:py3"),
        "py": image_root(python, base, digest="sha256:py"),
        "bare": image_root(base, digest="sha256:bare"),
        "broken": image_root(broken, base, digest="sha256:broken"),
    }
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"), images=FolderImages(images))
    await runtime.start()
    yield Source(runtime)
    await runtime.close()


async def judged(source: Source, image: str, scoring: dict[str, Any], program: str) -> RunResult:
    row = {"id": "one", "image": image, "candidate": program, "scoring": scoring}
    (scenario,) = load_scenarios([row]).scenarios
    return await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=20)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("image", ["py", "py3"])
@pytest.mark.parametrize("name", CONTRACTS)
async def test_a_candidate_is_scored_in_the_image_that_its_scenario_names(
    source: Source, name: str, image: str
) -> None:
    contract, right, wrong = CONTRACTS[name]
    good, bad = await judged(source, image, contract, right), await judged(source, image, contract, wrong)
    assert (good.score, good.validity) == (1.0, Validity.VALID), good.detail
    assert (bad.score, bad.validity) == (0.0, Validity.VALID), bad.detail
    assert (good.profile, good.image_digest, good.blueprint_digest) == ("strict", f"sha256:{image}", "")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("image", ["bare", "broken"])
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", CONTRACTS)
async def test_an_image_without_a_python_that_starts_is_no_candidates_fault(
    source: Source, name: str, image: str
) -> None:
    contract, right, _ = CONTRACTS[name]
    advice = "python.*`python3` on PATH" if image == "bare" else "python"
    with pytest.raises(PlatformError, match=advice):
        await judged(source, image, contract, right)


COMMAND = {"type": "command", "command": ["sh", "-c", "echo harena-proof $(head -n1)"]}
REFUSED: dict[str, dict[str, Any]] = {
    "command": COMMAND,
    "asserts": {"type": "command", "asserts": "assert add(1, 2) == 3"},
    "a part": {"type": "weighted", "parts": {"one": {"weight": 1, "scoring": COMMAND}}},
    "keep_processes": {"type": "harbor", "tests": {"test.sh": "true"}, "keep_processes": True},
}


MIXES = """
import json, sys
import harena

harena.images.import_archive("localhost/tools:1", sys.argv[1])
harena.blueprints.create("of-image", image="localhost/tools:1", env={"MARK": "blueprint"})
harena.blueprints.create("reaches", network={"allow": ["pypi"]})
says = "import os; print(os.path.exists('/etc/motd') and open('/etc/motd').read().strip(), os.environ.get('MARK'))"
prints = lambda said: {"type": "stdio", "cases": [{"stdout": f"{said}\\n"}]}
rows = [
    {"id": f"{name}-{number}", "candidate": says, "scoring": prints(said), **where}
    for number in range(2)
    for name, said, where in (
        ("image", "image None", {"image": "localhost/tools:1"}),
        ("blueprint", "image blueprint", {"blueprint": "of-image"}),
        ("job", "False None", {}),
    )
]
looks = "import os; print(os.environ.get('http_proxy', 'nothing'))"
proxy = "http://127.0.0.1:3128"
rows += [
    {"id": name, "candidate": looks, "scoring": prints(said), **where}
    for name, said, where in (
        ("reach-blueprint", proxy, {"blueprint": "reaches"}),
        ("reach-none", "nothing", {"blueprint": "reaches", "network": "none"}),
        ("reach-own", proxy, {"network": {"allow": ["pypi"]}}),
        ("reach-verifier", "nothing", {"problem": {"network": {"verifier": {"allow": ["pypi"]}}}}),
    )
]
job = harena.benchmark_jobs.create(scenarios=rows, name="mixed")
harena.benchmark_jobs.wait(job)
said = {"scores": {one.scenario_id: one.score for one in harena.benchmark_jobs.runs(job)}}
said["origins"] = {
    one.scenario_id: [one.profile, one.image_digest, one.blueprint_digest] for one in harena.benchmark_jobs.runs(job)
}
image = harena.images.get("localhost/tools:1").digest
said["digests"] = [image, *(harena.blueprints.get(name).digest for name in ("of-image", "python-warm", "default"))]
said["direct"] = harena.score(says, prints("image None"), image="localhost/tools:1").score
for name, row in {
    "refused": {"image": "localhost/tools:1", "scoring": {"type": "command", "command": ["true"]}},
    "nowhere": {"blueprint": "is-not-there"},
    "both": {"image": "a", "blueprint": "b"},
}.items():
    try:
        harena.benchmark_jobs.create(scenarios=[{**rows[0], "image": None, **row}], name=name)
    except harena.HarenaError as error:
        said[name] = str(error)
job = harena.benchmark_jobs.create(scenarios=[{**rows[0], "image": "localhost:9/not/there:1"}], name="absent")
harena.benchmark_jobs.wait(job)
said["absent"] = [[one.score, one.validity, one.detail] for one in harena.benchmark_jobs.runs(job)]
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program above has found, with an image made of a root file system's archive."""
    tree, place = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("used")
    put_programs(tree)
    put_python(tree)
    (tree / "etc/motd").write_text("image\n")
    archive_of(tree, place / "root.tar")
    ended = subprocess.run(
        [sys.executable, "-c", MIXES, str(place / "root.tar")],
        env={**os.environ, "HARENA_HOME": str(place / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def test_one_job_mixes_images_blueprints_and_its_own(said: dict[str, Any]) -> None:
    assert len(said["scores"]) == 10
    assert set(said["scores"].values()) == {1.0}, said["scores"]
    assert said["direct"] == 1.0


def test_runs_name_what_they_ran_in(said: dict[str, Any]) -> None:
    """The digests of the image and of the blueprint, whatever names led there."""
    image, of_image, warm, default = said["digests"]
    assert image.startswith("sha256:")
    assert said["origins"]["image-0"] == ["strict", image, ""]
    assert said["origins"]["blueprint-1"] == ["strict", image, of_image]
    profile, python, blueprint = said["origins"]["job-0"]
    assert (profile, python.partition(":")[0]) == ("strict", "python")
    assert blueprint in (warm, default)


def test_what_cannot_be_scored_in_an_image_is_told_before_anything_runs(said: dict[str, Any]) -> None:
    assert "[0].scoring: the contract cannot be scored in the image 'localhost/tools:1': `command`" in said["refused"]
    assert "is-not-there" in said["nowhere"]
    assert "two places for a candidate" in said["both"]


def test_an_image_that_cannot_be_had_is_no_candidates_fault(said: dict[str, Any]) -> None:
    ((score, validity, detail),) = said["absent"]
    assert (score, validity) == (None, "infra")
    assert "localhost:9" in detail


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", REFUSED)
async def test_a_contract_that_trusts_the_candidates_root_is_refused_in_an_image(source: Source, name: str) -> None:
    with pytest.raises(ValidationError, match=r"cannot be scored in the image 'py': .*`(command|keep_processes)`"):
        await judged(source, "py", REFUSED[name], RIGHT)
