"""`--gateway`: words of a command line, or a file, as the gateways of a sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from harena.cli.gateways import gateways_in_words
from harena.core.errors import ValidationError
from harena.core.gateways import read_gateways


def test_words_and_files_say_gateways(tmp_path: Path) -> None:
    """Numbers are numbers, and rules come from a file."""
    file = tmp_path / "git.yaml"
    file.write_text("url: https://git.example.org\nsecret: GIT\nmechanism: git\nrules: [{path: /me/**}]\n")
    given = ["HUB=https://api.a.org/v1,secret=KEY,mechanism=header,field=X-Key,requests_per_minute=5", f"GIT=@{file}"]
    git, hub = read_gateways(gateways_in_words(given))
    assert (hub.name, hub.url, hub.secret, hub.field) == ("HUB", "https://api.a.org/v1", "KEY", "X-Key")
    assert hub.requests_per_minute == 5
    assert (git.name, git.mechanism, git.rules[0].path) == ("GIT", "git", "/me/**")
    assert gateways_in_words([]) is gateways_in_words(None) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["HUB"], "write it as NAME=URL"),
        (["A=https://a.org,secret=K", "A=https://b.org,secret=K"], "given twice"),
        (["A=https://a.org,KEY"], "FIELD=VALUE"),
        (["A=https://a.org,secret=K,timeout_seconds=soon"], "must be a number"),
        (["A=@/nowhere/at/all"], "cannot be read"),
        (["A=@{list}"], "must have url"),
        (["A=@{bad}"], "is no YAML"),
    ],
)
def test_what_says_no_gateway(tmp_path: Path, given: list[str], said: str) -> None:
    """One sentence with the option's name."""
    (tmp_path / "list.yaml").write_text("- a\n")
    (tmp_path / "bad.yaml").write_text("{")
    places = {name: str(tmp_path / f"{name}.yaml") for name in ("list", "bad")}
    with pytest.raises(ValidationError, match=f"--gateway.*{said}"):
        gateways_in_words([words.format(**places) for words in given])
