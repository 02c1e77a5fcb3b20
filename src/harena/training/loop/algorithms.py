"""The algorithms: one formula each, one importance correction, a stated denominator. No torch here.

For each token that the policy chose: pi is its probability under the weights that are trained, mu under those that
sampled it, prox under the weights at the start of the step, A the advantage of its rollout, sg() stops the gradient.

    importance_sampling   -pi/mu * A                                          never clipped: staleness 1 at most
    ppo, grpo             -min(r * A, clip(r, 1 - low, 1 + high) * A)         PPO, arXiv 1707.06347
    cispo                 -sg(min(r, 1 + high)) * A * log pi                  arXiv 2506.13585; not clipped below
    gspo                  -min(s * A, clip(s, 1 - low, 1 + high) * A), once   GSPO, arXiv 2507.18071
                          for each sequence: s = exp(mean over its tokens of log r)

with the correction
    bypass      r = pi / mu
    decoupled   r = pi / prox, and the whole term times sg(min(prox / mu, cap))   (AReaL, arXiv 2505.24298)

`ppo` and `grpo` differ in their default clip range: grpo's is wider above (DAPO, arXiv 2503.14476). `ppo` may have a
critic: then A is of each token (`harena.training.engines.critic`).

To each token may be added kl_coefficient * k3, k3 = ref/pi - log(ref/pi) - 1 (http://joschu.net/blog/kl-approx.html).

The loss of a step is a sum over tokens, each with a weight, divided by one denominator:

    token      weight 1, denominator = tokens chosen in the step
    sequence   weight 1 / length of its sequence, denominator = sequences of the step
    constant   weight 1, denominator = sequences of the step * max_new_tokens      (Dr. GRPO)

Sequences are those with a reward whose group has at least two such, also those of groups that have nothing to teach; so
neither skipping such groups nor the way in which a step is cut into micro-batches changes a gradient.
"""

from __future__ import annotations

from typing import get_args

from harena.core.errors import ValidationError
from harena.core.records.training_plans import (
    DEFAULT_CORRECTION_CAP,
    DEFAULT_GAE_LAMBDA,
    Aggregation,
    AlgorithmName,
    Correction,
    LossSpec,
)

ALGORITHMS: tuple[AlgorithmName, ...] = get_args(AlgorithmName)

DEFAULT_CLIPS: dict[AlgorithmName, tuple[float | None, float | None]] = {
    "grpo": (0.2, 0.28),
    "ppo": (0.2, 0.2),
    "importance_sampling": (None, None),
    "cispo": (None, 4.0),
    "gspo": (3e-4, 4e-4),
}
"""(low, high), as 1 - low and 1 + high; None = not clipped on that side"""


def loss_spec(
    algorithm: AlgorithmName,
    *,
    max_steps_off_policy: int,
    clip_low: float | None = None,
    clip_high: float | None = None,
    correction: Correction = "bypass",
    correction_cap: float | None = None,
    kl_coefficient: float = 0.0,
    aggregation: Aggregation = "token",
    critic: bool = False,
    gae_lambda: float | None = None,
) -> LossSpec:
    """The loss of an algorithm; what is None is as the algorithm has it. Raises ValidationError that lists every
    combination that is not one of the formulas above."""
    low, high = DEFAULT_CLIPS[algorithm]
    mistakes = []
    if algorithm == "importance_sampling" and max_steps_off_policy > 1:
        mistakes.append(
            f"importance_sampling is not clipped, and unstable above staleness 1 (got {max_steps_off_policy}): "
            "use grpo, or cispo"
        )
    for name, given, default in (("clip_low", clip_low, low), ("clip_high", clip_high, high)):
        if given is not None and default is None:
            mistakes.append(f"{name}: {algorithm} has no such clip; leave it out")
        if given is not None and not given > 0:
            mistakes.append(f"{name} must be above 0 (got {given})")
    if clip_low is not None and clip_low >= 1:
        mistakes.append(f"clip_low must be below 1 (got {clip_low}): ratios are at least 0")
    if correction == "decoupled" and algorithm in ("importance_sampling", "gspo", "cispo"):
        mistakes.append(f"correction 'decoupled' belongs to ppo and grpo; {algorithm} takes 'bypass'")
    if correction_cap is not None and correction != "decoupled":
        mistakes.append("correction_cap belongs to correction 'decoupled'; leave it out")
    if correction_cap is not None and correction_cap < 1:
        mistakes.append(f"correction_cap must be at least 1 (got {correction_cap})")
    if critic and algorithm != "ppo":
        mistakes.append(f"critic belongs to ppo; {algorithm} has none")
    if gae_lambda is not None and not critic:
        mistakes.append("gae_lambda belongs to a critic; leave it out")
    if kl_coefficient < 0:
        mistakes.append(f"kl_coefficient must be at least 0 (got {kl_coefficient})")
    if mistakes:
        raise ValidationError("\n  ".join(["this loss is none of harena's:", *mistakes]))
    return LossSpec(
        algorithm=algorithm,
        clip_low=low if clip_low is None else clip_low,
        clip_high=high if clip_high is None else clip_high,
        correction=correction,
        correction_cap=correction_cap or DEFAULT_CORRECTION_CAP,
        kl_coefficient=kl_coefficient,
        aggregation=aggregation,
        critic=critic,
        gae_lambda=DEFAULT_GAE_LAMBDA if gae_lambda is None else gae_lambda,
    )
