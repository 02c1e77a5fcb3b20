"""Join the topic files of this directory into ../candidate-solutions.yaml, the input of `make demo`.

    python examples/problems/build.py            write the file
    python examples/problems/build.py --check    exit with 1 if the file is not what would be written

The text is joined, not parsed and written anew: comments and literal blocks stay as they were written. What comes out
is parsed once more and compared with the parts, so that a topic file of another shape cannot slip through.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "candidate-solutions.yaml"

TITLE = """\
# Programming problems with several candidate solutions each: right, wrong, slow, crashing, memory-hungry and cheating
# ones. `expected` is the verdict that each must get.
#
# Made by examples/problems/build.py from the topic files beside it: change those, then run it again.
"""

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C, where PyYAML was built with it


class ShapeError(Exception):
    """A topic file is not made of a comment, `version: 1`, `problems:` and `scenarios:`, in this order."""


def topic_files() -> list[Path]:
    """The files that are joined, in alphabetical order."""
    return sorted(HERE.glob("*.yaml"))


def split(path: Path) -> tuple[str, str, str]:
    """(opening comment, text of the problems, text of the scenarios) of one topic file. Raises ShapeError."""
    found = re.fullmatch(
        r"(?P<comment>(?:#[^\n]*\n)*)version: 1\nproblems:\n(?P<problems>.*?)\n*^scenarios:\n(?P<scenarios>.*)",
        path.read_text(encoding="utf-8"),
        flags=re.DOTALL | re.MULTILINE,
    )
    if found is None:
        raise ShapeError(f"{path}: expected a comment, `version: 1`, `problems:` and `scenarios:`, in this order")
    return found["comment"], found["problems"].strip("\n"), found["scenarios"].strip("\n")


def indented(comment: str) -> str:
    """The opening comment of a topic, as it stands between two topics."""
    return "".join(f"  {line}\n" for line in comment.splitlines())


def build() -> str:
    """The text of the joined file."""
    problems, scenarios = [], []
    for path in topic_files():
        comment, its_problems, its_scenarios = split(path)
        problems.append(indented(comment) + its_problems)
        scenarios.append(indented(comment) + its_scenarios)
    text = "\n".join(
        (TITLE + "version: 1", "problems:\n" + "\n\n".join(problems), "", "scenarios:\n" + "\n\n".join(scenarios), "")
    )
    joined: dict[str, Any] = yaml.load(text, Loader)
    parts = [yaml.load(path.read_text(encoding="utf-8"), Loader) for path in topic_files()]
    for section in ("problems", "scenarios"):
        if joined[section] != [row for part in parts for row in part[section]]:
            raise ShapeError(f"joining the topic files changed their {section}; look for an unusual indentation")
    return text


def main() -> int:
    """0 = written, or up to date; 1 = not up to date."""
    text = build()
    if "--check" in sys.argv[1:]:
        current = TARGET.read_text(encoding="utf-8") if TARGET.exists() else ""
        if current != text:
            print(f"{TARGET} is not up to date: run python {Path(__file__).name} in {HERE}", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET}: {text.count(chr(10))} lines from {len(topic_files())} topics")
    return 0


if __name__ == "__main__":
    sys.exit(main())
