"""Rewards for code completions: each runs in a sandbox of its own, all at the same time.

    python examples/rl_training/reward_function.py [--report-to wandb]

The guide's example, over harena under the name that it uses (`cwsandbox`). With `--report-to wandb` (`pip install
'harena[wandb]'`) the session's metrics are those of a W&B run. The reward is an exit status, which any
completion can forge (`os._exit(0)`): for training take `harena.integrations.trl.reward_function`.
"""

from __future__ import annotations

import argparse
import uuid

import harena.aliases  # noqa: F401 - makes `cwsandbox` importable

import cwsandbox  # isort: skip
from cwsandbox import SandboxDefaults  # isort: skip

EXECUTION_TIMEOUT_SECONDS = 30.0
PROBLEMS: list[tuple[str, str, float]] = [
    ("slow-sum", "import time; time.sleep(1.0); assert sum(range(101)) == 5050", 1.0),
    ("string-ops", "assert 'hello'.upper()[::-1] == 'OLLEH'", 1.0),
    ("delayed-error", "import time; time.sleep(0.5); raise RuntimeError('later')", 0.0),
    ("syntax-error", "def broken(:", 0.0),
    ("slow-list", "import time; time.sleep(1.5); assert [n * n for n in range(4)] == [0, 1, 4, 9]", 1.0),
]
"""(name, completion, reward that it must get)"""


def rewards_of(session: cwsandbox.Session, completions: list[tuple[str, str, float]]) -> list[float]:
    """The reward of each completion; prints results as they arrive."""
    processes = [
        session.sandbox().exec(["python", "-c", code], timeout_seconds=EXECUTION_TIMEOUT_SECONDS)
        for _, code, _ in completions
    ]
    places = {id(process): place for place, process in enumerate(processes)}
    rewards = [0.0] * len(completions)
    pending = processes
    while pending:
        [process], pending = cwsandbox.wait(pending, num_returns=1)
        place = places[id(process)]
        try:
            rewards[place] = 1.0 if process.result().returncode == 0 else 0.0
        except Exception:  # the guide's: a reward function does not raise
            rewards[place] = 0.0
        done = len(completions) - len(pending)
        told = "PASS" if rewards[place] else "FAIL"
        print(f"[{done}/{len(completions)}] Problem {place} ({completions[place][0]}): {told}", flush=True)
    return rewards


def main() -> int:
    """Evaluate the toy completions; the exit status tells whether every reward is what it must be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--report-to", action="append", default=None, help="wandb: log the session's metrics to the run"
    )
    report_to = parser.parse_args().report_to
    job = uuid.uuid4().hex[:8]
    if "wandb" in (report_to or ()):
        import wandb

        wandb.init(project="cwsandbox-rewards", name=f"reward-function-{job}")
    print(f"RL Training Reward Function Example (job: {job})")
    print("=" * 60)
    print(f"Evaluating {len(PROBLEMS)} completions...\n")
    print("Progress (results arrive as executions complete):")
    print("-" * 60)
    defaults = SandboxDefaults(container_image="python:3.11", tags=("rl-training", f"job:{job}"))
    with cwsandbox.Session(defaults, report_to=report_to) as session:
        rewards = rewards_of(session, PROBLEMS)
        session.log_metrics(step=0)
    print("-" * 60)
    print("\nFinal summary (original order):")
    print("-" * 60)
    right = True
    for place, ((name, _, expected), reward) in enumerate(zip(PROBLEMS, rewards, strict=True)):
        right = right and reward == expected
        told = "PASS" if reward else "FAIL"
        print(f"Problem {place} ({name}): reward={reward} [{told}] {'OK' if reward == expected else 'UNEXPECTED'}")
    print("-" * 60)
    print(f"Total reward: {sum(rewards)}/{len(rewards)}")
    print(f"Pass rate: {sum(map(int, rewards))}/{len(rewards)} ({100 * sum(rewards) / len(rewards):.0f}%)")
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
