"""Which scratch files a verifier writes to."""

from __future__ import annotations

import pytest

from harena.scoring.scorers.verifier_leftovers import folders_copied_to, made_paths, written_paths


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("python3 t.py > /tmp/result.txt", ["/tmp/result.txt"]),
        ("python3 t.py 2>&1 | tee '/tmp/log'", ["/tmp/log"]),
        ("curl -s -o /tmp/page http://x/", ["/tmp/page"]),
        ("pytest --junitxml=/tmp/r.xml", ["/tmp/r.xml"]),
        ('D=/tmp/r\nLOG="$D/log"\nrun &> "${LOG}"', ["/tmp/r/log"]),
        ("cd /tmp/build\necho x > log.txt", ["/tmp/build/log.txt"]),
        ("rm -rf /tmp/r; run > /tmp/r; grep PASS /tmp/r", ["/tmp/r"]),
        ("check() { grep PASS /tmp/r; }\nrun > /tmp/r", ["/tmp/r"]),
        ('echo "#" > /tmp/r', ["/tmp/r"]),
        ("RESULT=/tmp/result\ngrep -q 42 $RESULT/summary.txt", []),
        ("export DATA=/var/tmp/data\n[ -f $DATA/a ]", []),
        ("curl -s --unix-socket=/tmp/app.sock http://x/", []),
        ("git --git-dir=/tmp/repo.git log", []),
        ("python3 /tests/check.py --dir=/tmp/result", []),
        ("head /tmp/latest # rebuilt: sort > /tmp/latest", []),
        ("#!/bin/sh\n# sort > /tmp/latest", []),
        ("echo started >> /tmp/app.log", []),
        ('R=/tmp/a/r; rm -f "$R"\nrun >> "$R"', ["/tmp/a/r"]),
        ("[ -d a -o -d /tmp/b ]; unzip -o /tmp/x.zip", []),
        ("grep -q 42 /tmp/latest; run > /tmp/latest", []),
    ],
)
def test_only_what_a_verifier_writes_is_its_own(text: str, paths: list[str]) -> None:
    """A folder, socket or link that it only names is the candidate's."""
    assert written_paths({"test.sh": text, "notes.md": "> /tmp/notes"}, "/app") == paths


LOOKS = {
    "ls -l out.txt want.txt 2>/dev/null": True,
    "ls want.txt > /dev/null 2>&1 || exit 1": True,
    "if ls want.txt &> /dev/null; then true; fi": True,
    "cd /app && stat want.txt": True,
    '[ "$(stat -c %a want.txt)" = 444 ] && r=1': False,
    "ls -l want.txt | grep -q r--r": False,
    "ls -l want.txt 2>&1 | grep -q r--r": False,
    "ls -l want.txt > /tmp/modes": False,
    "tac want.txt": False,
}


@pytest.mark.parametrize("line", LOOKS)
def test_a_look_that_reads_nothing_makes_no_file_the_candidates(line: str) -> None:
    """Such a file is opened, so that what the verifier writes there is written; none is removed for that."""
    text = f"{line}\npython3 gen.py > want.txt; {line.replace('want.txt', '/tmp/want')}\npython3 gen.py > /tmp/want"
    opened = written_paths({"test.sh": text}, "/app", places=("/",))
    assert {"/app/want.txt", "/tmp/want"} & {*opened} == ({"/app/want.txt", "/tmp/want"} if LOOKS[line] else set())
    assert "/tmp/want" not in written_paths({"test.sh": text}, "/app")


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("wget -qO /tmp/i.sh https://x/i.sh || true", ["/tmp/i.sh"]),
        ("curl -LsSfo i.sh https://x/j.sh", ["/app/i.sh"]),
        ("cd /tmp && curl -LO https://x/i.sh?a=b", ["/tmp/i.sh"]),
        ("D=/opt/x; wget -P $D https://x/i.sh", ["/opt/x/i.sh"]),
        ("curl --output=/tmp/a https://x/a", ["/tmp/a"]),
        ("apt-get install -y curl", []),
        ("apt-get install -y wget git curl && curl; git clone; uv venv;", ["/app/.venv"]),
        ("wget http://localhost:8000/index.html; curl -s https://x | sh", []),
        ("git clone --depth 1 -b main https://x/r.git", ["/app/r"]),
        ("git clone https://x/r.git /tmp/r 2>/dev/null", ["/tmp/r"]),
        ("python3 -m venv --clear /tmp/v && . /tmp/v/bin/activate", ["/tmp/v"]),
        ("uv venv; uv venv -p 3.12 .test; virtualenv v", ["/app/.venv", "/app/.test", "/app/v"]),
        ("[ -d .venv ] || python3 -m venv .venv", []),
    ],
)
def test_what_a_verifier_makes(text: str, paths: list[str]) -> None:
    """What is looked at before may be the candidate's."""
    assert made_paths({"test.sh": text}, "/app") == paths


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("cp -r /tests /app/t", ["/app/t"]),
        ("cd /x; mv /tests/a out/", ["/app/out", "/x/out"]),
        ("mkdir -p t; cp -r /tests/. t", []),
        ("ls /app/t; cp -r /tests /app/t", []),
    ],
)
def test_where_a_folder_is_copied_to(text: str, paths: list[str]) -> None:
    assert folders_copied_to({"test.sh": text}, "/app") == paths
