"""The metadata of a job's scenarios, stored once however many runs tell of it.

A scenario has up to 1,000 attempts, and each result carries its scenario's metadata, which has no bound of its own. A
result's metadata of more than INLINE_BYTES lies compressed in a row of `run_metadata`, found by job and digest; the
result keeps the digest and the size.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, select

from harena.core.json_steps import parse_kept
from harena.store.database import insert_new
from harena.store.rows import to_json
from harena.store.tables import run_metadata

INLINE_BYTES = 256
"""size of metadata, as JSON, that stays in the result"""
COLUMNS = ("metadata_digest", "metadata_bytes")

Row = Mapping[str, Any]


def put_aside(connection: Connection, job_id: str, results: Collection[Row]) -> list[Row]:
    """These rows of runs, those with long metadata without it, which is stored once."""
    written: list[Row] = []
    known: dict[int, tuple[str, bytes]] = {}
    texts: dict[str, bytes] = {}
    for row in results:
        metadata = (row.get("envelope") or {}).get("metadata")
        if metadata:
            if id(metadata) not in known:  # attempts share their scenario's, and putting it into words takes a while
                text = to_json(metadata).encode()
                known[id(metadata)] = (hashlib.sha256(text).hexdigest(), text)
            digest, text = known[id(metadata)]
            if len(text) > INLINE_BYTES:
                texts[digest] = text
                envelope = {name: value for name, value in row["envelope"].items() if name != "metadata"}
                row = {**row, "envelope": envelope, "metadata_digest": digest, "metadata_bytes": len(text)}
        written.append(row)
    there = _find_rows(connection, job_id, texts, run_metadata.c.digest)
    for digest in texts.keys() - {row.digest for row in there}:
        content = zlib.compress(texts[digest], level=1)
        connection.execute(insert_new(connection, run_metadata).values(job_id=job_id, digest=digest, content=content))
    return written


def put_back(connection: Connection, job_id: str, rows: Collection[dict[str, Any]]) -> None:
    """Give these rows of runs, {envelope, metadata_digest}, the metadata that was put aside; those with the same share
    one object. The digest leaves them."""
    digests = {digest for row in rows if (digest := row["metadata_digest"]) is not None}
    found = _find_rows(connection, job_id, digests, run_metadata.c.digest, run_metadata.c.content)
    held = {row.digest: parse_kept(zlib.decompress(row.content)) for row in found}
    for row in rows:
        if (digest := row.pop("metadata_digest")) is not None:
            row["envelope"]["metadata"] = held[digest]


LOOKED_AT_ONCE = 500


def _find_rows(connection: Connection, job_id: str, digests: Collection[str], *columns: Any) -> list[Any]:
    wanted: list[str] = sorted(digests)
    found: list[Any] = []
    for place in range(0, len(wanted), LOOKED_AT_ONCE):
        some = run_metadata.c.digest.in_(wanted[place : place + LOOKED_AT_ONCE])
        found += connection.execute(select(*columns).where(run_metadata.c.job_id == job_id, some)).all()
    return found
