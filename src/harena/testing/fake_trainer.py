"""A training worker that learns nothing, for tests of everything around it: `python -m harena.testing.fake_trainer`.

It speaks the lines of a worker, counts steps, writes a file where a checkpoint would be, and goes on from there. What
it shall do is said by the job's tags, the last of each wins:

    steps:N       so many steps (3)
    held          step N waits until the file `go-N` is in the job's folder
    die:N         kills itself before step N, in each life that begins before that step
    fail:TEXT     ends with this error
    hang          goes on counting, but does not end when it is asked to
    babble        tells a line that is none
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from harena.core import settings
from harena.core.training_jobs import EPISODES_FILE, EVAL_STEPS, PLAY, STEPS, TrainingEventKind
from harena.core.training_lines import WorkerLine, encode_line

PAUSE_SECONDS = 0.01


def told(tags: list[str]) -> dict[str, str]:
    """What the job's tags say."""
    return {word: rest for word, _, rest in (tag.partition(":") for tag in tags)}


async def work(folder: Path, out: int) -> None:
    """All of it, and a line at the end."""
    plan = json.loads((folder / "plan.json").read_text())
    does = told(plan.get("request", {}).get("tags", []))
    steps = int(does.get("steps", "3"))
    checkpoint = folder / "checkpoint.json"
    done = json.loads(checkpoint.read_text())["step"] if checkpoint.exists() else 0

    def tell(kind: str, message: str | None = None, **parts: object) -> None:
        os.write(out, encode_line(WorkerLine(event_type=kind, message=message, **parts)))  # type: ignore[arg-type]

    if (count := plan.get(PLAY)) is not None:  # looks around in each episode, and goes home
        (folder / EPISODES_FILE).write_text(json.dumps([[["enumerate", {}], ["move", {"host": "home"}]]] * count))
        tell(TrainingEventKind.TRAINING_END)
        return
    if "hang" in does:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("the fake trainer begins", file=sys.stderr, flush=True)  # noqa: T201 - what a library would print
    tell(
        TrainingEventKind.TRAINING_START,
        f"{steps - done} steps to go for {settings.WORKSPACE.read()}",
        data={"steps": steps, "from": done},
    )
    if "babble" in does:
        os.write(out, b"?\n")
    for step in range(done + 1, steps + 1):
        while "held" in does and not (folder / f"go-{step}").exists():  # noqa: ASYNC110 - files tell nobody
            await asyncio.sleep(PAUSE_SECONDS)
        if int(does.get("die", "0")) == step:
            os.kill(os.getpid(), signal.SIGKILL)
        tell(
            TrainingEventKind.STEP_COMPLETE, metrics={STEPS: [step], "train/reward": [step / 10], "train/tokens": step}
        )
        (folder / "new").write_text(json.dumps({"step": step}))
        (folder / "new").replace(checkpoint)
        tell(TrainingEventKind.CHECKPOINT_SAVED, artifacts={"checkpoints": ["checkpoint.json"]}, data={"step": step})
    tell(TrainingEventKind.EVAL_COMPLETE, metrics={EVAL_STEPS: [steps], "eval/reward": [0.5]})
    if "fail" in does:
        tell(TrainingEventKind.TRAINING_ERROR, error=does["fail"], level="error")
        return
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "weights").write_bytes(b"\x00\xff" * 1000)
    tell(TrainingEventKind.TRAINING_END, "all steps are done", artifacts={"model": "model"})


async def main() -> None:
    """Until its end, or its node's."""
    loop = asyncio.get_running_loop()
    working = asyncio.ensure_future(work(Path(sys.argv[1]), int(sys.argv[2])))
    loop.add_reader(0, lambda: working.cancel() if not os.read(0, 1) else None)
    await asyncio.wait([working])
    if not working.cancelled():
        working.result()


if __name__ == "__main__":
    asyncio.run(main())
