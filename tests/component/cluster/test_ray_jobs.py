"""Jobs whose runs and rollouts are spread over the nodes of a real Ray cluster, in real sandboxes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.ray_cluster import LocalCluster, local_cluster

import harena

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("one_home"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets that Ray leaves open
]
END_SECONDS = 200.0
TEMPLATE = "def f(x):\n    return {completion}\n"


@pytest.fixture(scope="module")
def one_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A home of its own, and one thread to a worker."""
    harena.shutdown()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARENA_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("OMP_NUM_THREADS", "1")
        yield
    harena.shutdown()


@pytest.fixture(scope="module")
def cluster(one_home: None) -> Iterator[LocalCluster]:
    with local_cluster(nodes=2) as made:
        yield made
        harena.shutdown()


def scenarios(count: int, seconds: float = 0.0) -> list[dict[str, Any]]:
    """Programs that are right, wrong, or end too early, in turn; each takes so long."""
    said = ["x + 1", "x - 1", "exit(3)"]
    return [
        {
            "id": f"s{place}",
            "candidate": f"import time\ndef f(x):\n    time.sleep({seconds})\n    return {said[place % 3]}\n",
            "scoring": {"type": "tests", "entry_point": "f", "checks": [{"args": [3], "expected": 4}]},
        }
        for place in range(count)
    ]


def outcome(job: Any) -> list[tuple[Any, ...]]:
    results = harena.benchmark_jobs.wait(job)
    assert results.state == "completed", results.error
    return sorted((r.scenario_id, r.attempt, r.score, r.passed, r.validity, r.reason, r.trust) for r in results.runs)


def test_runs_over_the_cluster_have_the_same_results(cluster: LocalCluster) -> None:
    here = outcome(harena.benchmark_jobs.create(name="here", scenarios=scenarios(9), config={"attempts": 2}))
    config = {"attempts": 2, "execution": "ray"}
    there = outcome(harena.benchmark_jobs.create(name="there", scenarios=scenarios(9), config=config))
    assert there == here
    assert len({entry[2] for entry in there}) == 2


def test_a_node_that_is_lost_costs_no_try(cluster: LocalCluster) -> None:
    """Each run ends once, with its result; the journal tells of no failure of the platform."""
    config = {"execution": "ray", "retry_attempts": 0}
    job = harena.benchmark_jobs.create(name="lost", scenarios=scenarios(24, seconds=1.0), config=config)
    finished: list[Any] = []
    for event in harena.benchmark_jobs.events(job):
        assert event.kind != "run_retried"
        if event.kind == "run_finished":
            finished.append(event.run)
            if len(finished) == 4:
                cluster.lose()
    assert len(finished) == len(set(finished)) == 24
    assert {entry[4] for entry in outcome(job)} == {"valid"}
    cluster.add()


@pytest.mark.thorough
def test_a_training_job_goes_on_when_a_node_is_lost(cluster: LocalCluster, tmp_path: Path) -> None:
    """The whole road: a request, a worker process, rollouts and rewards from sandboxes on two nodes, of which one dies
    before the third step."""
    problems = [
        {"id": entry["id"], "prompt": f"add {n}>", "scoring": entry["scoring"]} for n, entry in enumerate(scenarios(4))
    ]
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text("".join(json.dumps(row) + "\n" for row in problems))
    recipe = {"name": "code_tests_v1", "params": {"template": TEMPLATE, "blueprint_id": "python-warm"}}
    job = harena.training_jobs.create(
        trainer_type="rl",
        backend="ray",
        model="tiny-llama",
        config={
            "algorithm": "grpo", "prompt_dataset_ref": str(prompts), "steps": 6, "batch_size": 4, "group_size": 4,
            "max_new_tokens": 8, "overlong": "score", "reward_recipe": recipe, "execution_mode": "distributed",
            "num_rollout_workers": 2, "buffer_size": 2, "checkpoint_interval": 3,
        },
    )  # fmt: skip
    said: list[str] = []
    steps: list[int] = []
    for event in harena.training_jobs.events(job):
        said.append(event.message or "")
        if event.kind == "step_complete":
            steps += event.metrics["steps"]
            if steps[-1] == 2:
                cluster.lose()
    ended = harena.training_jobs.get(job)
    assert (ended.state, ended.restarts) == ("completed", 0), ended.error
    assert steps == [1, 2, 3, 4, 5, 6]
    assert "rollouts are made by 2 workers of the Ray cluster" in said
    assert any("was lost" in line for line in said)
    cluster.add()
