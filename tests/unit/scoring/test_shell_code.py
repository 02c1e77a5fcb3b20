"""What of a script is a command, and what is data of its author's."""

from __future__ import annotations

import pytest

from harena.scoring.scorers.start_up_files import guarded_scripts, guarded_shell

GUARDED = [
    "@PYTHONPATH=/app python x.py",
    "set -e; @PYTHONPATH=/app python x.py",
    "export @PYTHONPATH=/app",
    '[ "$(@PYTHONPATH=lib python x.py)" = 42 ] && A=1 @PYTHONPATH=b python y.py',
    "x=`@PYTHONPATH=lib python x.py`",
    "bash -c 'cd /app; @PYTHONPATH=/app python x.py'",
    'bash -lc "cd /app && @PYTHONPATH=/app python x.py"\nexport @PYTHONPATH=b',
    "bash <<'E'\n@PYTHONPATH=/app python x.py\nE\n",
    "cat > run.sh <<E\n@PYTHONPATH=/app python x.py\nE\nbash run.sh",
    "(cd /app; @PYTHONPATH=/app python x.py)",
    "if true; then @PYTHONPATH=/app python x.py; fi",
    'echo "it\'s"\n@PYTHONPATH=/app python x.py',
    "echo \\'\n@PYTHONPATH=/app python x.py",
    "echo $'it\\'s'\n@PYTHONPATH=/app python x.py",
    "case $x in\na) echo;;\nesac\n@PYTHONPATH=/app python x.py",
    "cat <<E\nPYTHONPATH=/app\nE\n@PYTHONPATH=/app python x.py",
    "cat <<< x\n@PYTHONPATH=/app python x.py",
    "# it's\n@PYTHONPATH=/app python x.py",
    "echo ${#x}\n@PYTHONPATH=/app python x.py",
    "f() {\n  @PYTHONPATH=/app python x.py\n}",
]
DATA = [
    "cat > /tmp/expected.env <<'E'\nPYTHONPATH=/app/src\nE\ncmp .env /tmp/expected.env",
    "cat > /tmp/expected.sh <<'E'\nexport PYTHONPATH=/app/src\nE\ncmp env.sh /tmp/expected.sh",
    'want=\'A=1\nPYTHONPATH=/app/src\'\n[ "$(cat .env)" = "$want" ]',
    'want="A=1\nPYTHONPATH=/app/src"',
    "cat <<-E\n\tPYTHONPATH=/app\n\tE\n",
    "# note\n#; PYTHONPATH=/app python x.py",
    "grep -q 'export PYTHONPATH=/app' env.sh",
    "python3 - <<'E'\nx = (\nPYTHONPATH=/app)\nE",
]


@pytest.mark.parametrize("text", GUARDED + DATA)
def test_only_commands_are_changed(text: str) -> None:
    """Each `@` is where the guard belongs."""
    plain = text.replace("@", "")
    assert guarded_shell(plain, "/guard") == text.replace("@PYTHONPATH=", "PYTHONPATH=/guard:")


def test_a_script_that_is_only_compared_stays() -> None:
    """One that is run does not, and a text with many quotes takes little time."""
    line = "export PYTHONPATH=/app\n"
    files = {
        "test.sh": "cmp env.sh /tests/expected.sh\nfor t in /tests/*.sh; do bash $t; done\nbash /tests/run.sh | wc",
        "expected.sh": line,
        "run.sh": line,
        "more.sh": line,
    }
    made = guarded_scripts(files, "/guard")
    assert [name for name in files if made[name] != files[name]] == ["run.sh", "more.sh"]
    assert guarded_shell("PYTHONPATH=x " + "('\"$(`" * 20_000, "/guard").startswith("PYTHONPATH=/guard:x")
