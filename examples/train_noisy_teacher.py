"""A small model learns from execution what its demonstrations could not teach it.

    python examples/train_noisy_teacher.py --seed 0 --mode sync --compare --out noisy-teacher

The demonstrations are right in 35 of 100 cases, and consistently wrong in the others, so imitation alone ends near 0.35
at best. Then the model's own answers run in fresh sandboxes against hidden checks, and GRPO learns from their rewards.

`--compare` adds, from the same weights after SFT: the control, RL on shuffled rewards; and SFT on verified samples of
the model's own, in as much time as RL took. The latter does well here: a third of the samples pass, so that there is
plenty to imitate. In `train_compositional.py` hardly any sample passes.
"""

from __future__ import annotations

import random

import harena.training  # noqa: F401 - first: it says how torch's threads wait
import word_arithmetic as words
from learning import Recipe
from learning_command import Rows, parser, prove

RIGHT_SHARE = 0.35
DEMONSTRATIONS = 6000
DEPTHS = (1, 2)


def rows(recipe: Recipe, held_out: int) -> Rows:
    """Demonstrations, prompts to learn from, and held-out prompts: no prompt is in two of them."""
    lists = words.Problems(recipe.seed).split((held_out, DEMONSTRATIONS, recipe.steps * recipe.groups), DEPTHS)
    teacher = random.Random(recipe.seed + 1)
    said = [(one.prompt, one.right if teacher.random() < RIGHT_SHARE else one.wrong) for one in lists[1]]
    return Rows(demonstrations=said, prompts=lists[2], held_out=lists[0])


if __name__ == "__main__":
    prove(rows, parser(__doc__, out="noisy-teacher").parse_args())
