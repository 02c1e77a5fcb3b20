"""What is kept of scored candidates, and how it is written: one value, checked before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from harena.core.checked import quote
from harena.core.errors import ValidationError
from harena.core.near_names import nearest_name

FORMS = ("chat", "prompt-completion", "preference", "preference-chat")
KEEPS = ("all", "best-of-n", "shortest", "first", "random")
DEDUPES = ("exact", "normalized", "none")
COMPLETIONS = ("original", "code")

MOST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The whole rule. Made by `checked_rule`."""

    form: str = "chat"
    """`chat`: {messages}; `prompt-completion`: {prompt, completion}; `preference`: {prompt, chosen, rejected} as texts,
    `preference-chat`: the same as lists of messages"""
    keep: str = "all"
    """the order in which a problem's passing candidates are taken: `all` and `first` as they stand in the file,
    `best-of-n` by score, `shortest` by length, `random` by `seed`; all but `all` take one, unless told how many"""
    dedupe: str = "exact"
    """which programs of one problem count as one: see `sameness`"""
    max_per_problem: int | None = None
    max_pairs: int | None = None
    """largest number of pairs of one problem; None = each candidate is in at most one pair"""
    min_score: float | None = None
    """keep what scored at least this, whether the contract calls it a pass or not; None = what passed"""
    seed: int | None = None
    """for `random`; None = 0"""
    completion: str = "original"
    """what is learned: the `original` text, with reasoning and fences, or the `code` that was run"""
    system: str | None = None
    """a system message before each conversation"""

    @property
    def limit(self) -> int | None:
        """How many candidates of a problem are kept at most."""
        return 1 if self.max_per_problem is None and self.keep != "all" else self.max_per_problem

    @property
    def makes_pairs(self) -> bool:
        """Rows are pairs of a better and a worse answer."""
        return self.form.startswith("preference")

    @property
    def has_messages(self) -> bool:
        """Rows are conversations."""
        return self.form in ("chat", "preference-chat")

    def passes(self, run: Mapping[str, Any]) -> bool:
        """A run with a score is good enough."""
        return bool(run["passed"]) if self.min_score is None else run["score"] >= self.min_score

    def as_json(self) -> dict[str, Any]:
        """What of the rule decides which candidates are in the file, for the lineage: None is left out."""
        named = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "system"}
        return {name: value for name, value in named.items() if value is not None}


def checked_rule(asked: Mapping[str, Any]) -> tuple[Rule, list[str]]:
    """The rule, and every mistake in it as a sentence; the rule is only good where there is none."""
    given = {name: value for name, value in asked.items() if value is not None}
    mistakes = [message for name, value in given.items() if (message := _CHECKS[name](name, value))]
    if mistakes:
        return Rule(), mistakes
    rule = Rule(**given)
    if rule.max_pairs is not None and not rule.makes_pairs:
        mistakes.append(f"max_pairs: is for pairs, and the form is {rule.form!r}")
    if rule.seed is not None and rule.keep != "random":
        mistakes.append(f"seed: is for keep 'random', and keep is {rule.keep!r}: nothing in it is left to chance")
    if rule.system is not None and not rule.has_messages:
        mistakes.append(f"system: is for conversations, and the form is {rule.form!r}; put it into a prompt template")
    return rule, mistakes


def refuse(mistakes: list[str]) -> None:
    """Raises ValidationError with all of them, if there are any."""
    if mistakes:
        raise ValidationError("\n  ".join(["this training data cannot be made; nothing was run:", *mistakes]))


def _one_of(names: tuple[str, ...]) -> Callable[[str, Any], str]:
    def check(name: str, value: Any) -> str:
        if value in names:
            return ""
        near = nearest_name(str(value), names)
        advice = f"did you mean {near!r}?" if near is not None else f"there are {', '.join(names)}"
        return f"{name}: {quote(value)} is not known; {advice}"

    return check


def _count(name: str, value: Any) -> str:
    if type(value) is int and 1 <= value <= MOST:
        return ""
    return f"{name}: must be a whole number from 1 to {MOST} (got {quote(value)})"


def _score(name: str, value: Any) -> str:
    if type(value) in (int, float) and 0 < value <= 1:
        return ""
    return f"{name}: must be a score above 0, at most 1 (got {quote(value)})"


def _seed(name: str, value: Any) -> str:
    return "" if type(value) is int else f"{name}: must be a whole number (got {quote(value)})"


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        return f"{name}: must be text that is not empty (got {quote(value)})"
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"{name}: cannot be written as UTF-8: half of a surrogate pair is in it"
    return ""


_CHECKS: dict[str, Callable[[str, Any], str]] = {
    "form": _one_of(FORMS),
    "keep": _one_of(KEEPS),
    "dedupe": _one_of(DEDUPES),
    "completion": _one_of(COMPLETIONS),
    "max_per_problem": _count,
    "max_pairs": _count,
    "min_score": _score,
    "seed": _seed,
    "system": _text,
}
