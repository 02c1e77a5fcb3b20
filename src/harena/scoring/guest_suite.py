"""What the runners of trusted suites (pytest's, unittest's) have in common. Standard library only, Python 3.8 and up.

A runner is started with the proof's word as the first line of standard input, and with: the trusted files and the
candidate's, each as a comma-separated list; where the candidate lives; and what is to be run. It lives

    beside the suite      in its process, for suites that need that: nothing then keeps it from the word
    in another process    of the same sandbox, whose program is given
    elsewhere             in a sandbox of its own: questions and answers go over standard output and input, and what
                          follows the word there is a frame of JSON, {path: text} of its files

In the last two the suite sees stand-ins (`guest_proxy`), and trusted modules from texts that were read before.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BESIDE, ELSEWHERE = "", "elsewhere"


def module_name(path: str) -> str:
    """`pkg/mod.py` -> pkg.mod"""
    name = path[:-3].replace("/", ".")
    return name[: -len(".__init__")] if name.endswith(".__init__") else name


class Run:
    """One run of a trusted suite."""

    def __init__(self) -> None:
        self.here = os.path.realpath(os.getcwd())
        sys.path[:] = [path for path in sys.path if path and os.path.realpath(path) != self.here]
        self._word = _line(0)
        self._out = os.dup(1)
        self._ours, theirs, self._home = sys.argv[1].split(","), sys.argv[2].split(","), sys.argv[3]
        self.words = sys.argv[4:]
        """what is to be run"""
        self.trusted = [os.path.join(self.here, path) for path in self._ours]
        self._before = _contents(self.trusted)
        self.candidate: Any = None
        if self._home == BESIDE:
            sys.path.insert(0, self.here)
        else:
            self._isolate(theirs)

    def collected(self) -> None:
        """Every test file has been read: from here on the candidate may run."""
        if self.candidate is not None:
            self.candidate.may_run = True
            return
        from harena.scoring.guest_loops import LOOPS

        for module in list(sys.modules.values()):
            if os.path.realpath(getattr(module, "__file__", None) or "/") in self.trusted:
                for name, loop in LOOPS.items():
                    vars(module).setdefault(name, loop)

    def end(self, all_passed: bool, code: int) -> None:
        """Give the proof, if all has passed and nothing was tampered with, and end the process."""
        from harena.scoring.guest_equals import equals_everything

        unchanged = _contents(self.trusted) == self._before
        if all_passed and unchanged and (self._home != BESIDE or not equals_everything(self.here, self.trusted)):
            proof = b"harena-proof " + self._word
            if self._home == ELSEWHERE:
                from harena.scoring.guest_proxy import write_frame

                write_frame(self._out, proof)
            else:
                os.write(self._out, b"\n" + proof + b"\n")
        if self.candidate is not None:
            self.candidate.end()
        os._exit(code)

    def _isolate(self, theirs: list[str]) -> None:
        """From here on, the candidate's modules are stand-ins, and trusted ones are what they are now."""
        from harena.scoring.guest_proxy import Candidate, Finder, read_frame

        if self._home == ELSEWHERE:
            questions, answers = self._out, os.dup(0)
            os.dup2(2, 1)  # what the suite prints is no question
            files = json.loads(read_frame(answers) or b"{}")
            sources = {module_name(path): text for path, text in files.items() if path.endswith(".py")}
            self.candidate = Candidate(channel=(questions, answers))
        else:
            sources = _sources(theirs)
            self.candidate = Candidate(program=self._home)
        sys.meta_path.insert(0, Finder(self.candidate, sources, _sources(self._ours)))


def _line(descriptor: int) -> bytes:
    """One line, and not a byte more: what follows is read by others."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(descriptor, 1)
        if not piece:
            break
        line += piece
    return line.strip()


def _sources(paths: list[str]) -> dict[str, str]:
    found = {}
    for path in paths:
        if path.endswith(".py") and os.path.isfile(path):
            with open(path, encoding="utf-8-sig") as file:
                found[module_name(path)] = file.read()
    return found


def _contents(paths: list[str]) -> list[bytes]:
    """Of the trusted files. A missing one has none."""
    found = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                found.append(file.read())
        except OSError:
            found.append(b"")
    return found
