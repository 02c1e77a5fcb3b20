"""Names of what the texts of a verifier run."""

from __future__ import annotations

import pytest

from harena.scoring.scorers.image_programs import run_names


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("bash /var/lib/x/check", "check"),
        ("bash -e -x '/var/lib/x/check' 1 2", "check"),
        (". /etc/x/settings", "settings"),
        ("source ~/x/settings", "settings"),
        ("cd /var/lib/x && sh check", "check"),
        ("bash < /var/lib/x/check", "check"),
        ("cat /var/lib/x/check | sudo bash", "check"),
        ("awk -v a=1 -f /var/lib/x/rules data", "rules"),
        ("make --file=/var/lib/x/rules check", "rules"),
        ("java -jar /var/lib/x/program", "program"),
        ("subprocess.run(['python3', '/var/lib/x/check', '1'])", "check"),
        ("sudo LANG=C /var/lib/x/check", "check"),
        ("node --test /var/lib/x/check", "check"),
    ],
)
def test_a_file_that_a_line_runs_is_found(line: str, name: str) -> None:
    assert name in run_names([f"true\n{line}\n"])


@pytest.mark.parametrize(
    "line", ["cat /var/lib/x/data", "grep -q '^a' /etc/data", "[ -e /etc/data ]", "cmp -s /app/a /etc/data"]
)
def test_a_file_that_a_line_reads_is_not(line: str) -> None:
    assert "data" not in run_names([f"{line}\n"])


def test_the_names_are_bounded() -> None:
    assert len(run_names([f"sh a{number}\n" for number in range(1000)])) == 200
