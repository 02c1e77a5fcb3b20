"""Folders below `/tmp` into which the lines of shell of a verifier install or build something.

A program that installs something leaves a folder as it is where it fails, or refuses one that is there: what a
candidate has prepared under that name would judge.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from harena.scoring.scorers.verifier_leftovers import paths_made

_SCRATCH = ("/tmp/", "/var/tmp/")
_MAKES_A_PLACE = re.compile(
    r"[ \t](?:install|create|add|setup|publish|i|ci)(?=[ \t])"
    r"|(?<![\w.-])(?:cmake|javac|rustc|kotlinc|scalac|tsc|ghc)(?![\w.-])"
    r"|(?i:conda|mamba|miniforge)[\w.-]{0,40}\.sh\b"
)
"""by its verb, or since it compiles, or an installer of its own"""
_PLACE = re.compile(
    r"[ \t](?:-[BpdtOi]|--(?:target|prefix|root|out-?dir|install-dir|output(?:-?dir)?|dest|path))(?:[ \t]+|=)"
    r"([\"']?[\w./+${}][\w./+${}-]*[\"']?)"
)
_OF_PROJECT = re.compile(r"(?<![\w.-])(?:npm|pnpm|yarn|composer|bundle|poetry)(?![\w.-])")
_WORDS = re.compile(r"(?<![\w-])-\S+(?:[ \t]+[^-\s]\S*)?|\d*[<>]\S*|\S+")
_LONGEST = 4096


def installed_places(texts: Mapping[str, str], workdir: str) -> list[str]:
    """The folders, but for those that the lines have looked at before. Not for an event loop where the texts are long.

    >>> installed_places({"test.sh": "pip install --target /tmp/p pytest; PYTHONPATH=/tmp/p pytest"}, "/app")
    ['/tmp/p']
    """
    return [path for path in paths_made(texts, workdir, _places) if path.startswith(_SCRATCH)]


def _places(piece: str) -> list[str]:
    """The folders of one command."""
    if len(piece) > _LONGEST or (makes := _MAKES_A_PLACE.search(piece)) is None:
        return []
    if _OF_PROJECT.search(piece):  # of a project that is there, unless it is told what to install
        plain = [
            word for word in _WORDS.findall(piece[makes.end() :]) if word[0] not in "-<>" and not word[0].isdigit()
        ]
        if not plain:
            return []
    return [place.strip("\"'") for place in _PLACE.findall(piece)]
