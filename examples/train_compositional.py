"""A small model learns from execution where hardly any whole answer is right: there is next to nothing to imitate.

    python examples/train_compositional.py --seed 0 --compare --out compositional

Prompts have four operations. The demonstrations, of one to four, have each single operation right in 20 of 100 cases;
of four in a row, that is 1 in 600. RL gets partial credit, the share of hidden checks that pass, among them checks of
what the first statements do; so it learns each operation from programs that are wrong as a whole. SFT on verified
samples (`--compare`) begins with the same weights, sees the same prompts, and has the same time; it can only imitate
whole programs that passed.
"""

from __future__ import annotations

import harena.training  # noqa: F401 - first: it says how torch's threads wait
import word_arithmetic as words
from learning import Recipe
from learning_command import Rows, parser, prove

RIGHT_SHARE = 0.2
"""share of single operations that a demonstration has right"""
DEMONSTRATIONS = 6000
DEPTHS = (1, 2, 3, 4)
"""operations of a demonstration"""
DEPTH = 4
"""operations in a prompt that is learned from, or held out"""


def rows(recipe: Recipe, held_out: int) -> Rows:
    """Demonstrations, prompts to learn from, and held-out prompts: none of four operations is in two of them."""
    drawn = words.Problems(recipe.seed)
    share = DEMONSTRATIONS // len(DEPTHS)
    held, prompts, shown = drawn.split((held_out, recipe.steps * recipe.groups, share), (DEPTH,))
    shown += [drawn.any(depth) for depth in DEPTHS if depth != DEPTH for _ in range(share)]
    said = [(one.prompt, drawn.mixed(one, RIGHT_SHARE)) for one in shown]
    return Rows(demonstrations=said, prompts=prompts, held_out=held, stepwise=True)


if __name__ == "__main__":
    prove(rows, parser(__doc__, out="compositional", steps=150, learning_rate=6e-4).parse_args())
