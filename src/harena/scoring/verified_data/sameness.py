"""When two programs count as one.

    exact       the same files, character by character
    normalized  the same after what a reader does not see is left out: of Python its comments and its layout (names,
                literals and docstrings count); of all else, Python that cannot be cut into tokens among it, runs of
                white space are one space

Programs are cut into tokens, and neither parsed nor run: they are what models wrote.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator

from harena.scoring.digests import digest_of
from harena.scoring.scenario import Candidate

MOST_TOKENISED = 1_000_000
"""characters; longer programs are compared without their white space only"""

_UNSEEN = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER})
_LAYOUT = {tokenize.INDENT: ">", tokenize.DEDENT: "<", tokenize.NEWLINE: ";"}
"""how deep a line is indented says nothing, that it is deeper does"""


def program_key(candidate: Candidate, how: str) -> str:
    """Equal exactly for programs that count as one; `how`: "exact" or "normalized"."""
    if how == "exact":
        return candidate.digest
    seen = {path: _normalized(path, text) for path, text in candidate.files.items()}
    return digest_of([candidate.entry, seen])


def _normalized(path: str, text: str) -> list[str]:
    if path.endswith(".py") and len(text) <= MOST_TOKENISED:
        try:
            return list(_tokens(text))
        except (tokenize.TokenError, SyntaxError):
            pass
    return [" ".join(text.split())]


def _tokens(text: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _UNSEEN:
            yield _LAYOUT.get(token.type, token.string)
