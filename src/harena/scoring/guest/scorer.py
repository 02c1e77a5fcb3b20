"""Runs the custom code of a `python` contract, in a sandbox in which nothing of the candidate ever runs.

Standard input holds one JSON object: nonce, source (or pattern) and the candidate's run. The answer is one line on the
real standard output, the nonce and one JSON object; whatever the scorer prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_MOST_FOUND = 100_000
"""characters of what matches a pattern: more is no number"""


class Run:
    """What the candidate did: stdout, stderr, exit_code, outcome, timed_out, files (name -> text), candidate (name ->
    text), entry, answer (the entry's text after its reasoning), scenario_id, metadata."""

    def __init__(self, seen: dict[str, Any]) -> None:
        self.__dict__.update(seen)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Score one run, or find one pattern."""
    if "mode" in request:
        pattern = re.compile(request["pattern"], re.MULTILINE if request["multiline"] else 0)
        found = (pattern.fullmatch if request["mode"] == "whole" else pattern.search)(request["text"])
        return {"found": found is not None}
    if "shapes" in request:
        tools: dict[str, Any] = {"__name__": "scorer_shapes"}
        exec(compile(request["shapes"], "<shapes>", "exec"), tools)  # noqa: S102 (our own, sent with the request)
        found_answer: dict[str, Any] = tools["answer_of_any_form"](request["source"], request["run"], Run)
        return found_answer
    if "pattern" in request:
        found = None
        for found in re.finditer(request["pattern"], request["text"], re.MULTILINE):  # noqa: B007 (the last one)
            pass
        text = None if found is None else found[1] if found.re.groups else found[0]
        return {"found": None if text is None else text[:_MOST_FOUND]}
    namespace: dict[str, Any] = {"__name__": "scorer"}
    exec(compile(request["source"], "<scorer>", "exec", dont_inherit=True), namespace)  # noqa: S102 (the purpose of this process)
    value = namespace["score"](Run(request["run"]))
    if isinstance(value, dict):
        return {"score": value["score"], "detail": str(value.get("detail", ""))}
    return {"score": value, "detail": ""}


def main() -> None:
    """One request, one answer."""
    replies = os.dup(1)
    os.dup2(2, 1)
    request = json.loads(sys.stdin.buffer.read())
    made = answer(request)
    if "score" in made:
        made["score"] = float(made["score"])
    line = request["nonce"] + " " + json.dumps(made) + "\n"
    with open(replies, "w", encoding="ascii") as out:
        out.write(line)
