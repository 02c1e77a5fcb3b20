"""A training worker: one process that does one job and tells its node how it gets on.

    python -m harena.training.worker.main FOLDER DESCRIPTOR

It reads FOLDER/plan.json (which may ask for a model of a checkpoint, or for episodes in a world, instead of training),
writes lines (`harena.core.training_lines`) to the descriptor, and keeps everything else below FOLDER. Rewards come from
sandboxes of a node of its own, inside this process. It ends when its work is done, when it is asked to (SIGTERM), and
when its node has gone, which the end of its standard input tells it, by whatever death.

One worker at a time works in a folder: a lock tells. One that was started while an earlier one still dies waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import resource
import signal
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from harena.core import settings
from harena.core.errors import HarenaError
from harena.core.records.training_plans import RLPlan, plan_from_dict
from harena.core.training_jobs import EXPORT, PLAY, TrainingEventKind
from harena.core.training_lines import BEAT, BEAT_SECONDS, WorkerLine, encode_line
from harena.sdk.portal import shutdown
from harena.training.requests.references import ResolvedReferences
from harena.training.worker.job import TrainingWork

MEMORY_FRACTION = 0.8
LOCK_FILE = "worker.lock"
DEATH_SECONDS = 10.0
"""after which a worker whose node has gone ends, whatever it does"""
ENDED_BY_SIGNAL = 128 + signal.SIGTERM


class EventWriter:
    """Writes lines to the node. Used from one thread at a time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def tell(self, kind: str, message: str | None = None, **parts: Any) -> None:
        """One line; see WorkerLine. Waits while the node does not read; what nobody reads any more is lost."""
        line = memoryview(encode_line(WorkerLine(event_type=kind, message=message, **parts)))
        with self._lock, contextlib.suppress(BrokenPipeError):
            while line:
                line = line[os.write(self._descriptor, line) :]


def main(words: list[str]) -> None:
    """The whole life; it ends the process."""
    folder, teller = Path(words[0]), EventWriter(int(words[1]))
    limit_memory(os.environ)
    os.environ.setdefault(
        settings.READING_ANSWER_BYTES.name, str(1 << 40)
    )  # rows that are learned from: this process's limit bounds them
    os.umask(0o077)  # models, checkpoints and ledgers are written by libraries
    with open(folder / LOCK_FILE, "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        asyncio.run(_live(folder, teller))


def limit_memory(environ: Mapping[str, str]) -> None:
    """What this process may take for itself: the bytes of HARENA_TRAINING_MEMORY_BYTES, else MEMORY_FRACTION of the
    machine's memory where no GPU's driver maps more than there is. A model that is larger than it says fails its job,
    and not the server beside it."""
    written = settings.TRAINING_MEMORY_BYTES.read(environ)
    if written is not None and not (written.isdecimal() and int(written) > 0):
        sys.exit(f"{settings.TRAINING_MEMORY_BYTES.name} must be a number of bytes above 0 (got {written!r:.40})")
    if written is None and Path("/dev/nvidiactl").exists():
        return
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = int(written) if written is not None else round(there * MEMORY_FRACTION)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


async def _live(folder: Path, teller: EventWriter) -> None:
    plan = json.loads((folder / "plan.json").read_text())
    work = asyncio.ensure_future(_work(folder, plan, teller))
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, work.cancel)
    threading.Thread(target=_watch_node, args=(loop, work), daemon=True, name="node watch").start()
    async with _beats(teller):
        await asyncio.wait([work])
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)
        await asyncio.to_thread(shutdown)  # ends the sandboxes
    if work.cancelled():
        os._exit(ENDED_BY_SIGNAL)  # not waiting for what the engine's threads are at
    teller.tell(**work.result())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # to take an interpreter with torch in it apart takes seconds


async def _work(folder: Path, plan: Mapping[str, Any], teller: EventWriter) -> dict[str, Any]:
    """The last line."""
    try:
        artifacts = await _trained(folder, plan, teller)
    except HarenaError as error:
        told = ResolvedReferences.from_json(plan["resolved"]).in_words(str(error))
        return {"kind": TrainingEventKind.TRAINING_ERROR, "level": "error", "error": told}
    except Exception as fault:  # noqa: BLE001 - doing the same again would end in the same way: the job is told of it
        traceback.print_exc()
        last = "".join(traceback.format_exception(fault)[-3:])
        return {"kind": TrainingEventKind.TRAINING_ERROR, "level": "error", "error": f"training failed: {last}"}
    return {"kind": TrainingEventKind.TRAINING_END, "message": "all steps are done", "artifacts": artifacts}


async def _trained(folder: Path, plan: Mapping[str, Any], teller: EventWriter) -> Mapping[str, Any]:
    made = plan_from_dict(plan["plan"])
    work = TrainingWork(folder=folder, resolved=ResolvedReferences.from_json(plan["resolved"]), tell=teller.tell)
    # the only way to torch: this module is imported by tests that have none
    if (checkpoint := plan.get(EXPORT)) is not None:
        from harena.training.worker.export import export_checkpoint

        return await export_checkpoint(work, made, Path(checkpoint))
    if (count := plan.get(PLAY)) is not None and isinstance(made, RLPlan):
        from harena.training.worker.play import play_episodes

        return await play_episodes(work, made, count)
    if isinstance(made, RLPlan):
        from harena.training.worker.rl import train_rl

        return await train_rl(work, made)
    from harena.training.worker.sft import train_rows

    return await train_rows(work, made)


@contextlib.asynccontextmanager
async def _beats(teller: EventWriter) -> AsyncIterator[None]:
    async def beat() -> None:
        while True:
            teller.tell(BEAT)
            await asyncio.sleep(BEAT_SECONDS)

    beating = asyncio.ensure_future(beat())
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.wait([beating])


def _watch_node(loop: asyncio.AbstractEventLoop, work: asyncio.Future[Any]) -> None:
    """Runs on a thread of its own."""
    while os.read(0, 1024):
        pass
    timer = threading.Timer(DEATH_SECONDS, os._exit, (1,))
    timer.daemon = True
    timer.start()
    with contextlib.suppress(RuntimeError):  # the loop is closed: it ends anyway
        loop.call_soon_threadsafe(work.cancel)


if __name__ == "__main__":
    main(sys.argv[1:])
