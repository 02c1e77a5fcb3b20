"""A plan says what is done and in what order; its keys change with all that a step depends on, and nothing else."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harena.core.image_configs import HealthCheck, ImageConfig
from harena.core.network_policy import NO_NETWORK, OPEN_NETWORK, read_policy
from harena.image_build.faults import DockerfileError
from harena.image_build.keys import end_key, network_words, step_key
from harena.image_build.planning import (
    DEFAULT_PATH,
    BuildOptions,
    BuildPlan,
    CopyStep,
    FolderStep,
    RunStep,
    StagePlan,
    plan_build,
    plan_stage,
)
from harena.image_build.reading import read_dockerfile

BASE = ImageConfig(environment={"PATH": "/bin", "B": "base"}, command=["base"], workdir="/w")


def planned(text: str, asked: BuildOptions | None = None) -> BuildPlan:
    return plan_build(read_dockerfile(text), asked or BuildOptions())


def last(text: str, base: ImageConfig = BASE, **arguments: str) -> StagePlan:
    plan = planned(text, BuildOptions(arguments))
    return plan_stage(plan, plan.needed[-1], base)


def test_stages_that_nobody_needs_are_not_built() -> None:
    text = (
        "FROM a AS one\nFROM b AS two\nRUN x\nFROM c AS three\nCOPY --from=one x y\nFROM three\n"
        "RUN --mount=type=bind,from=0,target=/x y"
    )
    assert planned(text).needed == [0, 2, 3]
    assert planned(text, BuildOptions(target="two")).needed == [1]
    assert planned(text, BuildOptions(target="1")).needed == [1]
    with pytest.raises(DockerfileError, match="one, three, two"):
        planned(text, BuildOptions(target="four"))


def test_an_image_of_a_stage_is_the_stage() -> None:
    plan = planned("FROM debian:12 AS base\nFROM base\nFROM scratch")
    assert plan.bases[0].reference == "docker.io/library/debian:12"
    assert plan.bases[1].stage == 0
    assert plan.bases[2].is_scratch


def test_digests_and_snapshots_are_images_of_this_node() -> None:
    """No registry is asked for them."""
    digest = "sha256:" + "a" * 64
    plan = planned(
        f"FROM {digest}\nFROM snapshot://nightly AS two\nCOPY --from={digest} x y\nFROM two\nCOPY --from=0 x y"
    )
    assert (plan.bases[0].reference, plan.bases[1].reference) == (digest, "snapshot://nightly")
    with pytest.raises(DockerfileError, match="no name of a snapshot"):
        planned("FROM snapshot://a/b")


def test_a_key_says_what_a_command_could_reach() -> None:
    """In whatever order; without a network it says nothing, so that steps of before are still found."""
    assert network_words(NO_NETWORK) == []
    one, same, other = (read_policy({"allow": allow}) for allow in (["pypi", "apt"], ["apt", "pypi"], ["apt"]))
    assert network_words(one) == network_words(same) != network_words(other)
    assert len({*map(str, map(network_words, (NO_NETWORK, OPEN_NETWORK, one, other)))}) == 4


def test_arguments_hold_where_docker_has_them() -> None:
    """Before FROM for FROM alone, unless a stage asks for them; ENV before ARG; given values before defaults."""
    text = "ARG V=1\nARG W=w\nFROM a:$V\nARG V\nARG B=mine\nARG D=$V-d\nRUN x"
    plan = planned(text, BuildOptions({"V": "2"}))
    assert plan.bases[0].reference.endswith("a:2")
    step, _ = plan_stage(plan, 0, BASE).steps[0]
    assert isinstance(step, RunStep)
    assert step.environment == {"PATH": "/bin", "B": "base", "V": "2", "D": "2-d"}


def test_a_path_that_no_image_has_set_is_the_usual_one() -> None:
    """In variables, too: ENV PATH=/x:$PATH loses no program."""
    planned_stage = last("FROM a\nENV PATH=/x:$PATH\nRUN y", ImageConfig())
    step, config = planned_stage.steps[0]
    assert isinstance(step, RunStep)
    assert step.environment["PATH"] == config.environment["PATH"] == f"/x:{DEFAULT_PATH}"


def test_an_argument_that_the_file_does_not_know_is_refused() -> None:
    with pytest.raises(DockerfileError, match="'X'"):
        planned("FROM a", BuildOptions({"X": "1"}))
    assert planned("FROM a", BuildOptions({"HTTP_PROXY": "http://x"}))


def test_proxies_are_given_to_commands_and_do_not_count() -> None:
    def key(value: str) -> str:
        step, config = last("FROM a\nRUN x", HTTP_PROXY=value).steps[0]
        assert isinstance(step, RunStep)
        assert step.hidden == {"HTTP_PROXY": value}
        return step_key("p", step, config, ())

    assert key("one") == key("two")


def test_an_image_says_what_its_file_says() -> None:
    text = (
        "FROM a\nENV A=1\nENV A=2 C=$A\nLABEL x=y\nUSER u:g\nWORKDIR sub\nWORKDIR ../other\n"
        "EXPOSE 80 53/UDP\nVOLUME /v\n"
        'STOPSIGNAL SIGINT\nSHELL ["/bin/bash", "-c"]\nCMD run it\nHEALTHCHECK --interval=1m30s --retries=2 CMD check\n'
        "ONBUILD RUN later\nMAINTAINER me"
    )
    config = last(text).config
    assert config == ImageConfig(
        environment={"PATH": "/bin", "B": "base", "A": "2", "C": "1"},
        workdir="/w/other",
        user="u:g",
        command=["/bin/bash", "-c", "run it"],
        exposed=["80/tcp", "53/udp"],
        labels={"x": "y", "maintainer": "me"},
        volumes=["/v"],
        stop_signal="SIGINT",
        shell=["/bin/bash", "-c"],
        health=HealthCheck(test=["CMD-SHELL", "check"], interval=90_000_000_000, retries=2),
        on_build=["RUN later"],
    )


def test_an_entry_point_takes_the_command_of_the_base_away() -> None:
    assert last("FROM a\nENTRYPOINT x").config.command == []
    assert last('FROM a\nCMD ["c"]\nENTRYPOINT ["x"]').config.command == ["c"]


def test_instructions_that_a_base_has_left_come_first() -> None:
    base = replace(BASE, on_build=["ENV LEFT=1", "COPY a /a"])
    made = last("FROM a\nRUN x", base)
    assert [type(step) for step, _ in made.steps] == [CopyStep, RunStep]
    assert made.config.environment["LEFT"] == "1"
    assert made.config.on_build == []


def test_paths_are_relative_to_the_working_directory() -> None:
    made = last("FROM a\nWORKDIR deep\nCOPY a b\nCOPY a ./\nCOPY a /abs\nCOPY a .. \nWORKDIR /")
    paths = [step.destination if isinstance(step, CopyStep) else step.path for step, _ in made.steps]  # type: ignore[union-attr]
    assert paths == ["/w/deep", "/w/deep/b", "/w/deep/", "/abs", "/w", "/"]


TEXTS = st.text("abc=/ $", max_size=8)
STEPS = st.one_of(
    st.builds(
        RunStep,
        line=st.integers(1, 99),
        text=TEXTS,
        argv=st.tuples(TEXTS),
        script=st.none() | TEXTS,
        environment=st.dictionaries(TEXTS, TEXTS, max_size=2),
        hidden=st.dictionaries(TEXTS, TEXTS, max_size=2),
        workdir=TEXTS,
        user=TEXTS,
        mounts=st.just(()),
        has_network=st.booleans(),
    ),
    st.builds(FolderStep, line=st.integers(1, 99), text=TEXTS, path=TEXTS, owner=TEXTS),
    st.builds(
        CopyStep,
        line=st.integers(1, 99),
        text=TEXTS,
        sources=st.tuples(TEXTS),
        destination=TEXTS,
        files=st.just(()),
        from_=st.none(),
        owner=TEXTS,
        mode=st.none() | st.integers(0, 0o777),
        keeps_parents=st.booleans(),
        excludes=st.just(()),
        unpacks=st.booleans(),
    ),
)
NOT_COUNTED: dict[str, Any] = {"line": 0, "text": "", "hidden": {}}


def counted(step: Any) -> Any:
    changes = {name: value for name, value in NOT_COUNTED.items() if hasattr(step, name)}
    return replace(step, **changes)


@given(STEPS, STEPS, st.text("ab", max_size=2), st.text("ab", max_size=2))
def test_keys_are_the_same_exactly_where_all_that_counts_is(one: Any, other: Any, before: str, after: str) -> None:
    same = counted(one) == counted(other) and before == after
    assert (step_key(before, one, BASE, ()) == step_key(after, other, BASE, ())) == same


@given(st.lists(TEXTS, max_size=3), st.lists(TEXTS, max_size=3), st.dictionaries(TEXTS, TEXTS, max_size=2))
def test_contents_and_configurations_count(one: list[str], other: list[str], labels: dict[str, str]) -> None:
    step = FolderStep(line=1, text="", path="/x", owner="")
    assert (step_key("p", step, BASE, one) == step_key("p", step, BASE, other)) == (one == other)
    changed = replace(BASE, labels=labels)
    assert (end_key("p", BASE) == end_key("p", changed)) == (labels == {})


@given(st.text("FROMRUNCOPYENV ab\n\\\"'$<{}[]#=/.", max_size=80))
@example("FROM scratch\n\\\n")
@example("\\")
def test_whatever_is_written_is_read_or_told(text: str) -> None:
    with suppress(DockerfileError):
        plan = planned("FROM a\n" + text)
        for number in plan.needed:
            plan_stage(plan, number, BASE)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ARG " + "".join(f"{'a' * 3}{number}=1 " for number in range(1001)), "more than 1000"),
        ("ENV " + "".join(f"{'a' * 3}{number}=1 " for number in range(1001)), "more than 1000"),
        ("LABEL " + "".join(f"{'a' * 3}{number}=1 " for number in range(1001)), "more than 1000"),
        ("EXPOSE " + " ".join(f"{first}-{first + 999}" for first in range(1, 60_000, 1000)), "ports"),
        ("VOLUME " + " ".join(f"/a{number}" for number in range(1001)), "more than 1000"),
        ("".join(f"VOLUME /a{number}\n" for number in range(1001)), "more than 1000"),
        ("".join(f"ONBUILD RUN {number}\n" for number in range(1001)), "more than 1000"),
        ("RUN x\n" * 251, "250 layers"),
        ("ENV a=1\nCOPY " + "".join("${a\\\n//*b*a*a*a*c/x} " for _ in range(501)) + "/x/", "500 variables with pat"),
        ("ENV a=1\nCOPY " + f"${{{'a' * 300}//*b*c/x}} " * 501 + "/x/", "500 variables with pat"),
        (f"ENV a={'b' * 60_000}\nCOPY " + "$a " * 300 + "/x/", "expand to more than"),
    ],
)
def test_what_a_plan_holds_has_bounds(text: str, why: str) -> None:
    """They are looked at while it is made: what each step has is never there a thousand times."""
    with pytest.raises(DockerfileError, match=why):
        last(f"FROM base\n{text}")


@pytest.mark.parametrize("name", ["../../tmp/w", "/etc/passwd", "a/b", "..", "."])
def test_a_here_document_has_a_name_that_a_file_can_have(name: str) -> None:
    with pytest.raises(DockerfileError, match="no name of a file"):
        last(f"FROM base\nCOPY <<{name} /x/\nsaid\n{name}\n")
