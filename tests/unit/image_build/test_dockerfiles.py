"""Dockerfiles are read as Docker reads them, and what is wrong is told with its line and its instruction."""

from __future__ import annotations

import tracemalloc

import pytest

from dockerfile_corpus import SAMPLES
from harena.core.errors import ValidationError
from harena.core.image_configs import ImageConfig
from harena.image_build.faults import DockerfileError
from harena.image_build.instructions import Copy, From, Run
from harena.image_build.lines import read_lines
from harena.image_build.planning import BuildOptions, CopyStep, RunStep, plan_build, plan_stage
from harena.image_build.reading import read_dockerfile
from harena.image_build.words import MOST_MATCHED, WordError, expanded

VARIABLES = {"a": "foo.tar.gz", "empty": "", "path": "/usr/local/bin"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$a", "foo.tar.gz"),
        ("${a}b", "foo.tar.gzb"),
        ("$ab", ""),
        ("${empty:-x}", "x"),
        ("${empty-x}", ""),
        ("${nothing-x}", "x"),
        ("${empty:+y}", ""),
        ("${empty+y}", "y"),
        ("${a:+y}", "y"),
        ("${nothing:-${a}}", "foo.tar.gz"),
        ("${a#*.}", "tar.gz"),
        ("${a##*.}", "gz"),
        ("${a%.*}", "foo.tar"),
        ("${a%%.*}", "foo"),
        ("${path#/???}", "/local/bin"),
        ("${a/o/0}", "f0o.tar.gz"),
        ("${a//o/0}", "f00.tar.gz"),
        ("${path##*/}", "bin"),
        ("'$a'", "$a"),
        ('"$a b"', "foo.tar.gz b"),
        ("\\$a", "$a"),
        ("a\\ b", "a b"),
        ("$", "$"),
        ("a$", "a$"),
        ("'it''s'", "its"),
    ],
)
def test_variables_have_all_their_forms(text: str, value: str) -> None:
    assert expanded(text, VARIABLES) == value


@pytest.mark.parametrize("text", ["${", "${a", "'a", '"a', "${a:x}", "${nothing:?is missing}", "${a^}"])
def test_words_that_cannot_be_read_are_told(text: str) -> None:
    with pytest.raises(WordError):
        expanded(text, VARIABLES)


@pytest.mark.parametrize("word", ['"{}"', 'a"{}"', '${{none:-"{}"}}', "{}"])
def test_a_word_is_counted_before_it_is_joined(word: str) -> None:
    """A variable may stand in it half a million times: 60 KB would be 30 GB."""
    value = "x" * 60_000
    tracemalloc.start()
    try:
        with pytest.raises(WordError, match="expands to more than"):
            expanded(word.format("$b" * 300), {"b": value})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * len(value)


def test_no_pattern_and_no_nesting_takes_long() -> None:
    """Each has a bound, and is matched without backtracking."""
    assert expanded("${q//*a*b*c*d*e*f/x}", {"q": "abcde" * (MOST_MATCHED // 5)})
    for text in ("${q#*a}", "${a#" + "*" * 500 + "}", "${a:-" * 50 + "}" * 50):
        with pytest.raises(WordError):
            expanded(
                text, {"q": "z" * (MOST_MATCHED + 1), "a": ""} if "q" in text else {"a": "x" if "#" in text else ""}
            )
    with pytest.raises(WordError, match="characters"):
        expanded("$q" * 100, {"q": "z" * 1000})


def plan_all(text: str) -> None:
    plan = plan_build(read_dockerfile(text), BuildOptions())
    for number in plan.needed:
        plan_stage(plan, number, ImageConfig())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no FROM"),
        ("RUN x", "line 1: RUN: only ARG"),
        ("FROM a\nRUNX y", "line 2: 'RUNX': there is no such instruction"),
        ("FROM a\n\nCOPY x", "line 3: COPY: it needs a source"),
        ("FROM a\nCOPY ../x /", "line 2: COPY: '../x' lies outside"),
        ("FROM a\nCOPY a/../../x /", "line 2: COPY: 'a/../../x' lies outside"),
        ("FROM a\nCOPY a b c", "line 2: COPY: several sources"),
        ("FROM a\nCOPY --owner=x a b", "line 2: COPY: it has no option --'owner'"),
        ("FROM a\nCOPY --from=nowhere:$ a b", "line 2: COPY"),
        ("FROM a\nCOPY --from=1 a b", "line 2: COPY: there is no stage 1"),
        ("FROM a AS x\nCOPY --from=x a b", "line 2: COPY: 'x' is this stage itself"),
        ("FROM a\nADD https://example.org/x /", "line 2: ADD: 'https://example.org/x' would be downloaded"),
        ("FROM a\nRUN <<EOF\nx", "line 2: RUN: its here-document 'EOF' has no end"),
        ("FROM a\nRUN --mount=type=ssh x", "line 2: RUN: --mount=type=ssh"),
        ("FROM a\nRUN --mount=type=cache x", "line 2: RUN: --mount=type=cache has no target"),
        ("FROM a\nRUN --security=insecure x", "line 2: RUN: --security=insecure"),
        ("FROM a\nRUN --network=host x", "line 2: RUN: --network='host'"),
        ('FROM a\nENV A="x', 'line 2: ENV: a " is never closed'),
        ("FROM a\nENV A=${x", "line 2: ENV: '${x' cannot be read"),
        ("FROM a\nENV A", "line 2: ENV: 'A' has no value"),
        ("FROM a\nARG 1x", "line 2: ARG: '1x' is no name"),
        ("FROM a\nEXPOSE 70000", "line 2: EXPOSE: '70000' is no port"),
        ("FROM a\nSHELL bash -c", "line 2: SHELL: it takes a JSON list"),
        ("FROM a\nUSER a b", "line 2: USER"),
        ("FROM a\nHEALTHCHECK x", "line 2: HEALTHCHECK"),
        ("FROM a\nHEALTHCHECK --interval=x CMD y", "line 2: HEALTHCHECK: --interval='x' is no time"),
        (f"FROM a\nHEALTHCHECK --interval={'9' * 400}h CMD y", "is no time"),
        ("FROM a\nONBUILD FROM b", "line 2: ONBUILD: it cannot have 'FROM'"),
        ("FROM a AS b c", "line 1: FROM"),
        ("FROM A*B", "line 1: FROM: 'A*B' names no image"),
        ("FROM ${X}", "line 1: FROM: '${X}' is empty"),
        ("FROM --platform=linux/s390x a", "line 1: FROM: it asks for 'linux/s390x'"),
        ("FROM a AS x\nFROM b AS X", "line 2: FROM: there are two stages 'x'"),
        ("# escape=x\nFROM a", "line 1: # escape"),
        ("FROM a\nRUN \\\n# nothing\n", "line 2: RUN: nothing follows it"),
        ("FROM a\nWORKDIR", "line 2: WORKDIR: nothing follows it"),
        ("FROM a\n" + "RUN x\n" * 2001, "a Dockerfile has 2000"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, told: str) -> None:
    with pytest.raises(DockerfileError) as refused:
        plan_all(text)
    assert told in str(refused.value)
    assert refused.value.reason == "DOCKERFILE"
    assert isinstance(refused.value, ValidationError)


def test_lines_are_continued_and_comments_left_out() -> None:
    read = read_lines("FROM a\nRUN one \\\n  # comment\n\n  two \\  \n  three\nRUN four \\\\\nRUN five")
    assert [(one.line, one.name, one.rest.split()) for one in read.instructions] == [
        (1, "FROM", ["a"]),
        (2, "RUN", ["one", "two", "three"]),
        (7, "RUN", ["four", "\\\\"]),
        (8, "RUN", ["five"]),
    ]


def test_a_here_document_is_no_here_string_and_no_shift() -> None:
    read = read_lines("FROM a\nRUN cat <<< word && x=$((1 << 3)) && echo '<<EOF' \"<<EOF\"\nRUN x")
    assert [one.here_documents for one in read.instructions[1:]] == [[], ()]


def test_the_exec_form_is_json_and_anything_else_is_for_the_shell() -> None:
    stage = read_dockerfile('FROM a\nRUN ["x", "y"]\nRUN [\'x\']\nRUN [ -e x ]').stages[0]
    forms = [(one.command.is_shell, one.command.words) for one in stage.instructions if isinstance(one, Run)]
    assert forms == [(False, ("x", "y")), (True, ("['x']",)), (True, ("[ -e x ]",))]


def test_names_of_stages_are_in_lower_case() -> None:
    stages = read_dockerfile("FROM a AS Build\nFROM build\nCOPY --from=BUILD x y").stages
    assert stages[0].base == From(line=1, text="FROM a AS Build", image="a", name="build", platform="")
    assert isinstance(stages[1].instructions[0], Copy)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_read_and_planned(name: str) -> None:
    plan = plan_build(read_dockerfile(SAMPLES[name].text), BuildOptions())
    steps = [step for number in plan.needed for step, _ in plan_stage(plan, number, ImageConfig()).steps]
    assert len(steps) == SAMPLES[name].steps - SAMPLES[name].triggers
    assert all(isinstance(step, RunStep | CopyStep) or step.path.startswith("/") for step in steps)
