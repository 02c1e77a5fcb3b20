"""What is made is found, listed and gone after its end, in any order of requests; every answer as documented."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule, run_state_machine_as_test
from served import EXAMPLES, Served

from harena.testing.conformance_operations import GOOD

BODIES: dict[str, Callable[[str], Any]] = {
    "sandboxes": lambda name: {"tags": [name]},
    "benchmark_jobs": lambda name: {"name": name, "scenarios": [GOOD]},
    "keys": lambda name: {"name": name, "scopes": ["read"]},
    "blueprints": lambda name: {"name": name},
}
STEPS = {"sandboxes": "sandbox_id", "benchmark_jobs": "job", "keys": "key_id", "blueprints": "name_or_id"}
"""noun -> the parameter of its paths"""
IDEMPOTENT = ("sandboxes", "benchmark_jobs", "blueprints")


class Lives(RuleBasedStateMachine):
    """Makes, looks, lists and ends."""

    served: Served
    numbers = count()
    living = Bundle("living")
    ended = Bundle("ended")

    def __init__(self) -> None:
        super().__init__()
        self.there: dict[str, set[str]] = {noun: set() for noun in BODIES}
        self.gone: dict[str, set[str]] = {noun: set() for noun in BODIES}

    def ask(self, method: str, noun: str, thing: str, verb: str = "", **parts: Any) -> Any:
        path = f"/v1/{noun}/{{{STEPS[noun]}}}{verb}"
        return self.served.ask(method, path, path_parameters={STEPS[noun]: thing}, **parts)

    @rule(target=living, noun=st.sampled_from(sorted(BODIES)), twice=st.booleans())
    def make(self, noun: str, twice: bool) -> tuple[str, str]:
        name = f"made-{next(self.numbers)}"
        headers = {"idempotency-key": name} if noun in IDEMPOTENT else {}
        answers = [
            self.served.ask("POST", f"/v1/{noun}", body=BODIES[noun](name), headers=headers)
            for _ in range(2 if twice and headers else 1)
        ]
        assert [answer.status_code for answer in answers] == [201] * len(answers)
        (thing,) = {answer.json()["id"] for answer in answers}
        self.there[noun].add(thing)
        return noun, thing

    @rule(one=living)
    def look(self, one: tuple[str, str]) -> None:
        noun, thing = one
        if noun != "keys":  # which are only listed
            answer = self.ask("GET", noun, thing)
            assert (answer.status_code, answer.json()["id"]) == (200, thing)

    @rule(target=ended, one=consumes(living))
    def end(self, one: tuple[str, str]) -> tuple[str, str]:
        noun, thing = one
        if noun == "sandboxes":
            assert self.ask("POST", noun, thing, "/stop", body={}).json()["status"] == "completed"
        else:
            if noun == "benchmark_jobs":
                self.ask("GET", noun, thing, query={"wait_seconds": 60})
            assert self.ask("DELETE", noun, thing).status_code == 204
        self.there[noun].remove(thing)
        self.gone[noun].add(thing)
        return one

    @rule(one=ended)
    def end_again(self, one: tuple[str, str]) -> None:
        noun, thing = one
        if noun == "sandboxes":
            assert self.ask("POST", noun, thing, "/stop", body={}).json()["status"] == "completed"
            assert self.ask("GET", noun, thing).json()["status"] == "completed"
        elif noun == "keys":
            assert self.ask("DELETE", noun, thing).status_code == 204
        else:
            assert self.ask("DELETE", noun, thing).status_code == 404
            assert self.ask("GET", noun, thing).status_code == 404

    @invariant()
    def lists_hold_what_is_there(self) -> None:
        for noun, there in self.there.items():
            listed = self.served.ask("GET", f"/v1/{noun}").json()[noun]
            ids = {entry["id"] for entry in listed if not entry.get("revoked_at")}
            assert there <= ids
            assert ids.isdisjoint(self.gone[noun])

    def teardown(self) -> None:
        """Lists are short again."""
        for noun, there in self.there.items():
            for thing in list(there):
                self.end((noun, thing))


def test_lives(served: Served) -> None:
    """Of sandboxes, jobs, keys and blueprints."""
    Lives.served = served
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Lives,
        settings=settings(
            max_examples=max(5, EXAMPLES // 3),
            stateful_step_count=12,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
