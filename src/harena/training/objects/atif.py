"""Whether a row is what an agent did: an ATIF trajectory (`steps`), or its messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harena.training.data.conversations import conversation_of


def check_trajectory(values: Mapping[str, Any]) -> None:
    """Raises ValueError, which says where the first mistake is."""
    if values.get("steps") is None:
        if not isinstance(values.get("messages"), list):
            raise ValueError("it is no trajectory: it has neither `steps` (ATIF) nor `messages`")
        conversation_of(values)
        return
    version = values.get("schema_version")
    if not isinstance(version, str) or not version:
        raise ValueError("schema_version is missing, as 'ATIF-v1.6'")
    agent = values.get("agent")
    if not isinstance(agent, Mapping) or not isinstance(agent.get("name"), str):
        raise ValueError("agent is missing: an object with name, version and model_name")
    conversation_of(values)
    called: set[str] = set()
    for place, step in enumerate(values["steps"]):
        _check_step(f"steps[{place}]", step, called)
    outcome = values.get("success")
    if outcome is not None and not isinstance(outcome, bool):
        raise ValueError(f"success is true or false, not {outcome!r:.80}")


def _check_step(where: str, step: Mapping[str, Any], called: set[str]) -> None:
    """What `conversation_of` does not look at: which call a tool's answer belongs to."""
    calls = step.get("tool_calls") or []
    if calls and step.get("source") != "agent":
        raise ValueError(f"{where}.tool_calls: only an agent calls tools, and its source is {step.get('source')!r}")
    for call in calls:
        identity = call.get("tool_call_id", call.get("id"))
        if identity is not None:
            called.add(str(identity))
    observation = step.get("observation")
    if observation is None:
        return
    results = observation.get("results") if isinstance(observation, Mapping) else None
    if not isinstance(results, list) or not all(isinstance(result, Mapping) for result in results):
        raise ValueError(f"{where}.observation is an object with `results`, a list of objects")
    for number, result in enumerate(results):
        source = result.get("source_call_id", result.get("tool_call_id"))
        if source is not None and str(source) not in called:
            raise ValueError(f"{where}.observation.results[{number}] answers the call {source!r}, which nobody made")
