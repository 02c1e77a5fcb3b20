"""Whose it is that a trusted command finds a program nowhere."""

from __future__ import annotations

import pytest

from harena.scoring.scorers.missing_programs import missing_of_image, not_found

BASH = "c.sh: line 3: jq: command not found\n"


@pytest.mark.parametrize(
    ("said", "text", "missing"),
    [
        (BASH, "python solution.py | jq .a", "jq"),
        ("sh: 2: jq: not found\n", "jq .a", "jq"),
        ("harena: jq: command not found\n", "jq", "jq"),
        ("timeout: failed to run command \u2018jq\u2019: No such file or directory\n", "timeout 2 jq .a", "jq"),
        ("bash: line 1: /usr/bin/jq: No such file or directory\n", "/usr/bin/jq", "/usr/bin/jq"),
        ("bash: line 1: ./own.sh: Permission denied\n", "./own.sh", "./own.sh"),
        (BASH, "export PATH=$PATH:/usr/local/go/bin\njq .a; x=$(( $1 + 2 )); [ $x = 1 ]", "jq"),
        (BASH, ". ./own.sh\njq .a", "jq"),
        (BASH, ". ./lib.sh; jq .a", None),
        (BASH, "set -e; source lib.sh\njq .a", None),
        (BASH, "PATH=$PWD/bin:$PATH jq .a", None),
        (BASH, 'eval "$(cat solution.sh)"; jq .a', None),
        (BASH, "$(python solution.py) jq", None),
        (BASH, "echo jqq", None),
        ("", "jq", None),
        ("error: out.txt: not found\n", "echo error: out.txt: not found >&2; exit 127", None),
        (BASH + "c.sh: line 4: ./prog: No such file or directory\n", "jq .a; ./prog", None),
        ("bash: run.sh: No such file or directory\n", "bash run.sh", None),
        ("timeout: failed to run command './run': No such file or directory\n", "timeout 2 ./run", None),
        ("bash: line 1: /root/bin/x: No such file or directory\n", "~/bin/x", None),
    ],
)
def test_only_what_no_candidate_can_bring_is_the_images(said: str, text: str, missing: str | None) -> None:
    """Anything else scores 0, where it would have had no score."""
    assert missing_of_image(said.encode(), text, ["own.sh"]) == missing


def test_scripts_and_paths_are_found_as_shells_name_them() -> None:
    said = (
        "bash: run.sh: No such file or directory\nsh: 0: cannot open go.sh: No such file\n"
        "/tests/test.sh: line 3: ./main: Permission denied\n/tests/test.sh: line 4: uvx: command not found\n"
        "bash: /app/x/run.sh: No such file or directory\ncat: out.txt: No such file or directory\n"
    )
    assert not_found(said) == ["./run.sh", "./go.sh", "./main", "uvx", "/app/x/run.sh"]
