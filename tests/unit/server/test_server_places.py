"""Answers do not tell where the server's files lie, nor what a tool printed; the server's log does."""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from pathlib import Path

import pytest

from harena.core.errors import (
    HarenaError,
    NotFoundError,
    PlatformError,
    SandboxFileError,
    SandboxUnavailableError,
    ValidationError,
)
from harena.core.home import harena_home
from harena.core.server_places import HIDDEN, HIDDEN_DATABASE, without_server_places
from harena.server.answers import MOST_DETAIL, ProblemResponse

TRACEBACK = f"""Traceback (most recent call last):
  File "{sys.prefix}/lib/python3.11/site-packages/pip/x.py", line 3, in main
    raise OSError("secret_source_line")
OSError: nothing"""


def places() -> list[str]:
    """Of this process, each with something below it."""
    temporary = tempfile.gettempdir()
    return [
        f"{harena_home()}/layers/abc/site-packages", f"{harena_home()}", f"{Path.home()}/.cache/pip/http",
        f"{sys.prefix}/lib/python3.11/site-packages/torch", sys.executable, f"{temporary}/pip-unpack-x1/a.whl",
        f"{temporary}/harena-rows-1/x.jsonl", str(Path(__file__).parents[3] / "src" / "harena" / "core"),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", [PlatformError, ValidationError, NotFoundError, HarenaError, SandboxUnavailableError])
def test_no_kind_of_problem_tells_a_place_of_the_server(
    kind: type[HarenaError], caplog: pytest.LogCaptureFixture
) -> None:
    """The path is hidden, the rest is told, and the log has all of it with the request's id."""
    for place in places():
        for written in (f"cannot read {place}: denied", f"in '{place}', then", f"({place})"):
            caplog.clear()
            with caplog.at_level(logging.WARNING, logger="harena.server"):
                detail = json.loads(bytes(ProblemResponse(kind(written), "req_7").body))["detail"]
            assert place not in detail, detail
            assert detail.startswith(written.partition(place)[0] + HIDDEN + written.partition(place)[2])
            assert "req_7" in caplog.text
            assert place in caplog.text


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("the database postgresql://harena@db.internal:5432/h?host=%2Frun failed: x", "the database {} failed: x"),
        ("the database postgresql+psycopg://harena:***@10.0.0.5/h was closed", "the database {} was closed"),
        (
            'connection to server at "db.internal" (10.0.0.5), port 5432 failed: refused',
            "connection to server {} failed: refused",
        ),
        ('connection to server on socket "/run/pg/.s.PGSQL.5432" failed: gone', "connection to server {} failed: gone"),
        ('nobody is at "home" today, and https://example.com/x is no database', None),
    ],
)
def test_no_problem_tells_where_the_servers_database_is(said: str, told: str | None) -> None:
    """Neither its host nor its user; a URL of the caller's is told."""
    problem = json.loads(bytes(ProblemResponse(PlatformError(said), "req_7").body))["detail"]
    assert problem.partition("; the server's log")[0] == (said if told is None else told.format(HIDDEN_DATABASE))


def test_what_a_tool_printed_is_not_told() -> None:
    """Of a fault of the platform the first line; of a mistake no traceback."""
    fault = PlatformError(f"pip could not download numpy; it said:\n{TRACEBACK}")
    told = json.loads(bytes(ProblemResponse(fault, "req_7").body))["detail"]
    assert told == "pip could not download numpy; it said:; the server's log says more under request req_7"
    mistake = ValidationError(f"no wheel of numpy was found:\n{TRACEBACK}\n  and a line of the list")
    told = json.loads(bytes(ProblemResponse(mistake, "req_7").body))["detail"]
    assert told.split("\n") == ["no wheel of numpy was found:", "OSError: nothing", "  and a line of the list"]


def test_paths_of_sandboxes_are_told_as_they_are() -> None:
    """They are the caller's own, also where the server has a directory of that name."""
    path = f"{Path.home()}/notes.txt"
    problem = ProblemResponse(SandboxFileError(f"no file {path}", filepath=path), "req_7")
    assert path in json.loads(bytes(problem.body))["detail"]
    for text in (
        "blueprint file '/root/notes': a sandbox can be written to below /workspace",
        "there is no /usr/bin/gcc",
        "/workspace/a.py and /tmp/x and /usr/local/lib",
        "a/b ./c ../d 1/2",
    ):
        assert without_server_places(text) == text


def test_a_problem_says_no_more_than_it_may() -> None:
    """Whatever of a request an error repeats."""
    answer = ProblemResponse(ValidationError("x" * 10_000_000), "req_7")
    detail = json.loads(bytes(answer.body))["detail"]
    assert len(detail) < MOST_DETAIL + 100
    assert detail.endswith("characters more)")
