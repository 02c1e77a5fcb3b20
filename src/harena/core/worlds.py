"""What a world may be asked for: the presets, the bounds of each field of a manifest, and one check of them all.

A world is an abstract game on a graph of hosts, principals, groups, credentials and sessions. None of them stands for
anything that exists: a game has no addresses, no programs and no secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from harena.core.checked import quote
from harena.core.errors import ValidationError
from harena.core.mistakes import nearest_key

WorldPreset = Literal["small", "medium", "large", "enterprise"]
PRESETS: tuple[WorldPreset, ...] = get_args(WorldPreset)
Strategy = Literal["random", "greedy", "recon-first", "smart-random"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
PlayMode = Literal["scripted", "agent"]
MODES: tuple[PlayMode, ...] = get_args(PlayMode)
Termination = Literal["finished", "stalled", "max_steps_reached"]
RowForm = Literal["atif", "messages", "text"]
ROW_FORMS: tuple[RowForm, ...] = get_args(RowForm)
TERMINATIONS: tuple[Termination, ...] = get_args(Termination)

MOST_NAME = 128
"""characters of a world's name"""
NAME_PATTERN = rf"^[A-Za-z0-9][A-Za-z0-9._-]{{0,{MOST_NAME - 1}}}$"
MOST_SEED = 2**31 - 1
MOST_DOMAINS = 16
DOMAIN_PATTERN = r"^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$"
MOST_DOMAIN = 32
"""characters of a domain's name"""
LEAST_HOSTS, LEAST_USERS = 4, 6
"""what each domain has at the least: its way from the first user to its administrators needs them"""
MOST_HOSTS, MOST_USERS = 2000, 10_000
"""what a whole world may have"""
MOST_COUNT, MOST_STEPS, MOST_THREADS = 100, 1000, 16
"""trajectories of one order, steps of one of them, and trajectories that are made at the same time"""
MOST_GOAL = 256
"""characters of a goal"""
MOST_GOALS = 1000
"""groups of one world"""
MOST_WORLDS, MOST_OPEN_JOBS = 1000, 100
"""worlds, and jobs that have not ended, of one workspace"""
MOST_WORLDS_PAGE = 500
"""worlds, or jobs, of one page"""
WORLDS, WORLD_JOBS = "WORLDS", "WORLD_JOBS"
"""reasons of errors: the workspace keeps as many worlds, or has as many open jobs, as it may"""
DEFAULT_GOAL = "Domain Admins"
DEFAULT_STRATEGY: Strategy = "recon-first"
DEFAULT_MAX_STEPS, DEFAULT_SEED = 100, 42
MOST_REFERENCE = 1000
"""characters of a reference to a model or a capability"""
AGENT: PlayMode = "agent"
"""mode in which a model plays"""
SCRIPTED: PlayMode = "scripted"
"""mode in which a strategy plays; and the runtime, whose agents are the strategies, that plays where a training job
samples a world before it learns"""
PRESAMPLED_COUNT = 20
"""episodes that such a job samples"""
STEP_COST = 0.001
"""what each step takes from an episode's return"""

_NAME, _DOMAIN = re.compile(NAME_PATTERN), re.compile(DOMAIN_PATTERN)
_DOMAIN_NAMES = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"),
    *("iota", "kappa", "lambda", "mu", "nu", "xi", "omicron", "pi"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSize:
    """How large a preset is where a manifest says nothing else."""

    domains: int
    hosts: int
    users: int


SIZES: Mapping[WorldPreset, WorldSize] = {
    "small": WorldSize(domains=1, hosts=10, users=20),
    "medium": WorldSize(domains=2, hosts=50, users=100),
    "large": WorldSize(domains=4, hosts=200, users=500),
    "enterprise": WorldSize(domains=8, hosts=1000, users=3000),
}
_FIELDS = ("name", "preset", "seed", "num_users", "num_hosts", "domains")


def manifest_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Every field of a manifest, checked, with the preset's own numbers where nothing was said. Raises ValidationError,
    which names each field that is wrong."""
    mistakes = [
        f"{quote(name)}: there is no such field; {nearest_key(str(name), _FIELDS)}"
        for name in given
        if name not in _FIELDS
    ]
    preset = given.get("preset", "small")
    if preset not in PRESETS:
        mistakes.append(f"preset: must be one of {', '.join(PRESETS)} (got {quote(preset)})")
    size = SIZES[preset if preset in PRESETS else "small"]
    name = given.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        mistakes.append(
            f"name: must be 1 to {MOST_NAME} letters, digits, dots, hyphens and underscores, a letter or digit first "
            f"(got {quote(name)})"
        )
    seed = given.get("seed")
    seed = 0 if seed is None else seed
    mistakes += _count_mistakes("seed", seed, 0, MOST_SEED)
    domains = given.get("domains")
    domains = list(_DOMAIN_NAMES[: size.domains]) if domains is None else domains
    wrong_domains = list(_domain_mistakes(domains))
    mistakes += wrong_domains
    hosts, users = given.get("num_hosts"), given.get("num_users")
    hosts = size.hosts if hosts is None else hosts
    users = size.users if users is None else users
    number = 1 if wrong_domains else len(domains)
    mistakes += _count_mistakes("num_hosts", hosts, LEAST_HOSTS * number, MOST_HOSTS, each=LEAST_HOSTS)
    mistakes += _count_mistakes("num_users", users, LEAST_USERS * number, MOST_USERS, each=LEAST_USERS)
    if mistakes:
        raise ValidationError("\n  ".join(["this is no world's manifest:", *mistakes]))
    checked = {"name": name, "preset": preset, "seed": seed, "num_users": users, "num_hosts": hosts}
    return {**checked, "domains": [*domains]}


_ORDER: Mapping[str, Any] = {
    "goal": DEFAULT_GOAL,
    "count": 1,
    "strategy": DEFAULT_STRATEGY,
    "max_steps": DEFAULT_MAX_STEPS,
    "seed": DEFAULT_SEED,
    "threads": 1,
    "only_successful": False,
    "form": "atif",
    "mode": SCRIPTED,
    "agent_model": None,
    "capability": None,
}


def order_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Every field of an order of trajectories, checked. Raises ValidationError, which names each field that is
    wrong."""
    mistakes = [
        f"{quote(name)}: there is no such field; {nearest_key(str(name), [*_ORDER])}"
        for name in given
        if name not in _ORDER
    ]
    order = {name: default if given.get(name) is None else given[name] for name, default in _ORDER.items()}
    goal = order["goal"]
    if not isinstance(goal, str) or not 0 < len(goal) <= MOST_GOAL:
        mistakes.append(f"goal: must be the name of a group, of at most {MOST_GOAL} characters (got {quote(goal)})")
    for name, words in (("strategy", STRATEGIES), ("form", ROW_FORMS), ("mode", MODES)):
        if order[name] not in words:
            mistakes.append(f"{name}: must be one of {', '.join(words)} (got {quote(order[name])})")
    for name, least, most in (
        ("count", 1, MOST_COUNT),
        ("max_steps", 1, MOST_STEPS),
        ("seed", 0, MOST_SEED),
        ("threads", 1, MOST_THREADS),
    ):
        mistakes += _count_mistakes(name, order[name], least, most)
    if not isinstance(order["only_successful"], bool):
        mistakes.append(f"only_successful: must be true or false (got {quote(order['only_successful'])})")
    mistakes += _agent_mistakes(order)
    if mistakes:
        raise ValidationError("\n  ".join(["these are no trajectories:", *mistakes]))
    return order


def _agent_mistakes(order: Mapping[str, Any]) -> Iterator[str]:
    # few programs need it, and what `import harena` loads is counted
    from harena.core.training_sources import is_model_path

    for name in ("agent_model", "capability"):
        value = order[name]
        if value is not None and (not isinstance(value, str) or not 0 < len(value) <= MOST_REFERENCE):
            yield f"{name}: must be a reference of at most {MOST_REFERENCE} characters (got {quote(value)})"
        elif value is not None and order["mode"] != AGENT:
            yield f"{name}: belongs to mode {AGENT!r}; leave it out"
    if isinstance(order["agent_model"], str) and is_model_path(order["agent_model"]):
        yield (
            f"agent_model: {quote(order['agent_model'])} is a path, and a world's job keeps none: push it "
            "(`harena push model PATH NAME@VERSION`), and name the version"
        )
    if order["capability"] is not None and "@" not in str(order["capability"]):
        yield f"capability: must name a version, as NAME@VERSION (got {quote(order['capability'])})"
    if order["mode"] == AGENT:
        if order["agent_model"] is None:
            yield f"agent_model: missing; mode {AGENT!r} needs the model that plays"
        if order["strategy"] != DEFAULT_STRATEGY:
            yield f"strategy: belongs to mode {SCRIPTED!r}; leave it out"


def _count_mistakes(name: str, value: object, least: int, most: int, *, each: int = 0) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        reason = f", {each} for each domain at the least" if each else ""
        yield f"{name}: must be a whole number from {least} to {most}{reason} (got {quote(value)})"


def _domain_mistakes(domains: object) -> Iterator[str]:
    if not isinstance(domains, Sequence) or isinstance(domains, str | bytes) or not 1 <= len(domains) <= MOST_DOMAINS:
        got = f"{len(domains)} of them" if isinstance(domains, list | tuple) else quote(domains)
        yield f"domains: must be a list of 1 to {MOST_DOMAINS} names (got {got})"
        return
    for place, domain in enumerate(domains):
        if not isinstance(domain, str) or not _DOMAIN.fullmatch(domain):
            yield (
                f"domains[{place}]: must be 1 to {MOST_DOMAIN} small letters, digits and hyphens, no hyphen first or "
                f"last (got {quote(domain)})"
            )
        elif domain in domains[:place]:
            yield f"domains[{place}]: {domain!r} is there twice"
