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

_SCRIPTS = "tests/integration/test_rl_training_examples.py"
ELSEWHERE = {
    (RUNLOOP, 23): "ts/test/package.test.ts",
    (RUNLOOP, 73): "ts/test/package.test.ts",
    (COREWEAVE, 108): f"{_SCRIPTS}::test_reward_function",
    (COREWEAVE, 210): f"{_SCRIPTS}::test_trl_trains_for_ten_steps",
    (COREWEAVE, 413): f"{_SCRIPTS}::test_art_trains_as_printed",
    (COREWEAVE, 418): f"{_SCRIPTS}::test_art_is_installed_by_what_is_printed",
    (COREWEAVE, 425): f"{_SCRIPTS}::test_art_is_installed_by_what_is_printed",
    (COREWEAVE, 427): f"{_SCRIPTS}::test_art_dry_run",
    (COREWEAVE, 478): f"{_SCRIPTS}::test_art_trains_as_printed",
    (COREWEAVE, 495): f"{_SCRIPTS}::test_art_rolls_out_step_by_step",
    (COREWEAVE, 507): f"{_SCRIPTS}::test_art_rolls_out_step_by_step",
}
"""snippet -> the test outside of this folder that runs it; those with ART where HARENA_TEST_ART_PYTHON names a Python
that has it"""


def snippets(seed: str) -> dict[int, str]:
    """Line -> text, of all that the seed prints."""
    parts = FOLDER.joinpath(f"{seed}.txt").read_text().split("#### ")[1:]
    return {int(line): text for line, _, text in (part.partition("\n") for part in parts)}


def run(seed: str, line: int, **given: Any) -> dict[str, Any]:
    """Execute the snippet that begins on this line, among the names `given`; all names that there are then."""
    names = {"__name__": f"seed_{line}", **given}
    exec(compile(snippets(seed)[line], f"{seed}:{line}", "exec"), names)
    return names
