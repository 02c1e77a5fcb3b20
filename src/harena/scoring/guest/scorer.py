"""Runs the custom code of a `python` contract, in a sandbox in which nothing of the candidate ever runs.

Standard input holds one JSON object: nonce, source (or pattern) and the candidate's run. The answer is on the real
standard output: a line of the nonce and `read` as soon as the scorer reads something of the candidate's, and a line of
the nonce and one JSON object, which is a score, or how the scorer failed. Whatever the scorer prints goes to standard
error.
"""

from __future__ import annotations

import json
import os
import re
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar


_MOST_FOUND = 100_000
"""characters of what matches a pattern: more is no number"""
_MOST_DETAIL = 2_000
_MOST_TOLD = 100
_ROUNDING = 1e-9
"""how far from 0 or 1 a sum of floats may end that is meant to be it, as 0.4 + 0.2 + 0.3 + 0.1"""
_FIELDS_OF_THE_CANDIDATE = frozenset({
    "stdout", "stderr", "exit_code", "outcome", "timed_out", "files", "candidate", "entry", "answer", "__dict__",
})  # fmt: skip


class NoScoreError(Exception):
    """What a scorer gave is no score."""


class Run:
    """What the candidate did: stdout, stderr, exit_code, outcome, timed_out, files (name -> text), candidate (name ->
    text), entry, answer (the entry's text after its reasoning), scenario_id, metadata."""

    on_read: ClassVar[Callable[[], None] | None] = None
    """told whenever something of the candidate's is read"""
    _output_files: ClassVar[tuple[str, ...]] = ()
    """the names that `files` may have, of the run that was made last"""

    def __init__(self, seen: dict[str, Any]) -> None:
        # plain dicts: scorers ask for the type of what they compare
        fields = {name: value for name, value in seen.items() if name != "output_files"}
        Run._output_files = tuple(seen["output_files"])
        object.__getattribute__(self, "__dict__").update(fields)

    def __getattribute__(self, name: str) -> Any:
        if name in _FIELDS_OF_THE_CANDIDATE and Run.on_read is not None:
            Run.on_read()
        return object.__getattribute__(self, name)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Score one run, or find one pattern."""
    if "mode" in request:
        pattern = re.compile(request["pattern"], re.MULTILINE if request["multiline"] else 0)
        found = (pattern.fullmatch if request["mode"] == "whole" else pattern.search)(request["text"])
        return {"found": found is not None}
    if "pattern" in request:
        found = None
        for found in re.finditer(request["pattern"], request["text"], re.MULTILINE):  # noqa: B007 (the last one)
            pass
        text = None if found is None else found[1] if found.re.groups else found[0]
        return {"found": None if text is None else text[:_MOST_FOUND]}
    if "shapes" in request:
        ours = _ours(request, "faults", "shapes")
        answered: dict[str, Any] = ours["answer_of_any_form"](request["source"], request["run"], Run, score_of)
        return answered
    if "orders" in request:
        ours = _ours(request, "faults", "orders")
        return dict(ours["lowest_of_orders"](request["source"], request["run"], Run))
    try:
        made = score_of(request["source"], Run(request["run"]))
    except BaseException as error:  # noqa: BLE001 - whatever a scorer raises, SystemExit too, is told
        failure_of = _ours(request, "faults")["failure_of"]
        return {"failure": failure_of(error, request["source"], is_idle=request["is_idle"])}
    if made["score"] > 0 and "if_paid" in request:
        ours = _ours({**request, "orders": request["if_paid"]}, "faults", "orders")
        made["may_rest_on_nan"] = ours["may_rest_on_nan"](request["source"], request["run"])
    return made


def _ours(request: dict[str, Any], *names: str) -> dict[str, Any]:
    """Names of programs of our own, which are sent with the request."""
    namespace: dict[str, Any] = {
        "__name__": "harena", "Run": Run, "NoScoreError": NoScoreError, "value_of": value_of,
    }  # fmt: skip
    for name in names:
        exec(compile(request[name], f"<{name}>", "exec"), namespace)  # noqa: S102 (our own, sent with the request)
    return namespace


def value_of(source: Any, run: Run, **more: Any) -> tuple[float, str]:
    """The number, whatever it is, and the detail that a scorer gives of a run. `source`: its text or its syntax tree.
    Raises what it raises, and NoScoreError."""
    module = types.ModuleType("scorer")  # dataclasses, pickle and typing look for the module of a class
    sys.modules["scorer"] = module
    namespace = vars(module)
    namespace.update(more)
    exec(compile(source, "<scorer>", "exec", dont_inherit=True), namespace)  # noqa: S102 (the purpose of this process)
    if "score" not in namespace:
        raise NoScoreError("its source defines no function `score`")
    value, detail = namespace["score"](run), ""
    if isinstance(value, dict):
        if "score" not in value:
            raise NoScoreError("it gave a dict without `score`")
        value, detail = value["score"], str(value.get("detail", ""))[:_MOST_DETAIL]
    try:
        return float(value), detail
    except OverflowError:
        raise NoScoreError("it gave a number that no float holds; a score is a number from 0 to 1") from None
    except (TypeError, ValueError):
        told = repr(value)[:_MOST_TOLD] if isinstance(value, str) else f"a value of the type {type(value).__name__}"
        raise NoScoreError(f"it gave {told}; a score is a number from 0 to 1") from None


def score_of(source: str, run: Run, **more: Any) -> dict[str, Any]:
    """The score and the detail that a scorer gives of a run. Raises what it raises, and NoScoreError."""
    score, detail = value_of(source, run, **more)
    if not -_ROUNDING <= score <= 1 + _ROUNDING:  # as NaN
        raise NoScoreError(f"it gave {score!r}; a score is a number from 0 to 1")
    return {"score": min(1.0, max(0.0, score)), "detail": detail}


def main() -> None:
    """One request, one answer."""
    replies = os.dup(1)
    os.dup2(2, 1)
    request = json.loads(sys.stdin.buffer.read())

    def tell_read() -> None:
        Run.on_read = None
        os.write(replies, f"{request['nonce']} read\n".encode("ascii"))

    Run.on_read = tell_read
    made = answer(request)
    Run.on_read = None
    with open(replies, "w", encoding="ascii") as out:
        out.write(f"{request['nonce']} {json.dumps(made)}\n")
