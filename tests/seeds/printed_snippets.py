"""The snippets and commands of the four seeds, as they are printed, by the line on which each begins there.

`printed/SEED.txt` holds those of one seed, each behind a line `#### LINE`. One of the seeds has lost the white space
before its lines; there it is put back, and nothing else is changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "printed"
AVIATO, COREWEAVE, RUNLOOP = "aviato-rl-guide", "coreweave-sandboxes-rl", "runloop-fine-tuning"
SEEDS = (AVIATO, COREWEAVE, RUNLOOP)
"""the fourth, dreadnode-hosted-training, prints no line of code"""

ELSEWHERE = {
    (RUNLOOP, 23): "ts/test/package.test.ts",
    (RUNLOOP, 73): "ts/test/package.test.ts",
}
"""snippet -> the test outside of this folder that runs it"""
NOT_THERE = {
    (COREWEAVE, 108): "the example script is not in this repository",
    (COREWEAVE, 210): "the example script is not in this repository",
    (COREWEAVE, 413): "keys of OpenAI, Tinker and W&B for the example with ART, which is not in this repository",
    (COREWEAVE, 418): "the example with ART is not in this repository",
    (COREWEAVE, 425): "the example with ART is not in this repository, and this backend needs a GPU",
    (COREWEAVE, 427): "the example with ART is not in this repository",
    (COREWEAVE, 478): "the example with ART is not in this repository",
    (COREWEAVE, 495): "the example with ART is not in this repository",
    (COREWEAVE, 507): "the example with ART is not in this repository",
}
"""snippet -> why nothing runs it"""


def snippets(seed: str) -> dict[int, str]:
    """Line -> text, of all that the seed prints."""
    parts = FOLDER.joinpath(f"{seed}.txt").read_text().split("#### ")[1:]
    return {int(line): text for line, _, text in (part.partition("\n") for part in parts)}


def run(seed: str, line: int, **given: Any) -> dict[str, Any]:
    """Execute the snippet that begins on this line, among the names `given`; all names that there are then."""
    names = {"__name__": f"seed_{line}", **given}
    exec(compile(snippets(seed)[line], f"{seed}:{line}", "exec"), names)
    return names
