"""How much the parts of a request may hold; see `harena.scoring.bounds` for how that is checked and documented."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header, Query
from fastapi import Path as InPath
from pydantic import AfterValidator, Field

from harena.core.checked import encodable
from harena.core.idempotency import MOST_CHARACTERS
from harena.core.models import MIB
from harena.core.parameters import MOST_WORD
from harena.scoring.bounds import AtMost, Characters

MOST_JSON_BYTES = 64 * MIB
"""size limit of one request's body, and of one line of scenarios that are streamed; files and archives have no such
bound"""
MOST_LINES_BYTES = 1 << 40
"""size limit of streamed lines of scenarios; a workspace may allow less (`request_bytes`)"""
MOST_TEXT = 64 * 1024
"""characters of a value of metadata"""
MOST_ARGUMENT = 2 * MIB
"""characters of a word of a command, or of a variable's value: more than the kernel takes"""
MOST_SHORT = 1000
"""items of a list, or names of a mapping, that people write"""
MOST_LONG = 100_000
"""items of a list, or names of a mapping, that programs write"""
MOST_PAGE = 1000
"""entries of a page of answers"""
MOST_ENTRIES = 1_500_000
"""entries of a directory, processes and words of commands that one answer holds; the runtime allows no more"""
MOST_ROWS = 1_000_000
"""scenarios, or answers, of one body"""


def _encodable(text: str) -> str:
    return encodable(text, "the request")


Text = Annotated[str, Characters(MOST_JSON_BYTES)]
"""JSON can hold halves of surrogate pairs, which nothing behind this can write"""
Word = Annotated[str, Characters(MOST_WORD)]
Note = Annotated[str, Characters(MOST_TEXT)]
Argument = Annotated[str, Characters(MOST_ARGUMENT)]
Base64 = Annotated[str, Field(max_length=MOST_JSON_BYTES, json_schema_extra={"contentEncoding": "base64"})]
Path = Annotated[str, Characters(4096)]
"""the kernel takes no longer ones"""
Words = Annotated[list[Word], AtMost(MOST_SHORT, MOST_WORD)]
Notes = Annotated[dict[Word, Note], AtMost(MOST_SHORT, MOST_TEXT)]
Variables = Annotated[dict[Word, Argument], AtMost(10_000, MOST_ARGUMENT)]
Arguments = Annotated[list[Argument], AtMost(MOST_LONG, MOST_ARGUMENT)]
Files = Annotated[dict[Path, Base64], AtMost(10_000, MOST_JSON_BYTES)]
"""path -> content"""
Id = Annotated[str, InPath(max_length=MOST_WORD)]
"""a part of an address"""
OptionalWord = Annotated[str | None, Query(max_length=MOST_WORD)]
"""a word in an address's query"""
Pairs = Annotated[
    list[Annotated[str, Field(max_length=MOST_TEXT)]],
    Query(max_length=MOST_SHORT, description="NAME=VALUE: those whose metadata say so; may be given repeatedly"),
]
OnceHeader = Annotated[str | None, Header(max_length=MOST_CHARACTERS)]


def _names_encodable(given: dict[str, Any]) -> dict[str, Any]:
    for name in given:
        _encodable(name)
    return given


Rows = Annotated[list[Any], AtMost(MOST_ROWS)]
Mapping = Annotated[dict[str, Any], AtMost(MOST_ROWS), AfterValidator(_names_encodable)]
"""anything as JSON, whose names can be written; what is in it is another room's"""
