"""Scenarios and scoring contracts that are kept by name: created, versioned, found, listed and archived.

An entry is a whole batch: `scenarios` keep what a scenario file holds, a data set in any format that a job takes, or
problems that candidates are given to later; a single scenario is a batch of one. A version never changes: archiving
hides it from lists and from its bare name, and jobs that name it go on as before. Once it is deleted, its number is not
used again, and results keep its digest.

    create       {name, scenarios | contract | request, metadata = {}}; scenarios also {format = None, grader = None};
                 definitions: `request` is a part of a job's request (`harena.jobs.definitions`)
    an entry     {ref: "NAME@2", name, version, digest, metadata, created_at, archived_at, ...}
                 scenarios: {format, problems, candidates, trust, scorers, contracts} and, from `get`, {calibrations,
                 calibration}: what `harena.jobs.benchmark.calibrations` says of the version, newest first and without
                 their reports, and the newest report
                 scoring contracts: {type, trust, scorer_version} and, from `get`, {contract}
                 definitions: {fields, problems, blueprint_id, config, webhook: {url, signed} or None} and, with
                 content, {request} without the webhook's secret
    a page       {entries: [entry], cursor: int | None}
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harena.core.catalog import (
    METADATA_NAME_PATTERN,
    NAME_PATTERN,
    NOUNS,
    CatalogKind,
    CatalogStorePort,
    EntryVersion,
    NewEntry,
    StoredSources,
    parse_reference,
)
from harena.core.clock import Clock
from harena.core.errors import HarenaError, NotFoundError, ValidationError
from harena.core.job_lifecycle import OPEN_STATES
from harena.core.registry import IN_USE
from harena.core.results import Trust
from harena.core.rows import check_json
from harena.core.threads import SCENARIOS
from harena.core.workspace import CheckRoom
from harena.jobs.benchmark.kept_json import content_of, pack, unpack
from harena.jobs.definitions import with_secret, without_secret

if TYPE_CHECKING:
    from harena.core.records.catalog import ArchivedVersions, CatalogEntry, CatalogPage
    from harena.scoring.contracts.stored import StoredContract

MOST_METADATA = 100
MOST_METADATA_CHARACTERS = 1000
MAX_PAGE = 500
MOST_SCORERS = 20
MOST_USERS_TOLD = 5
_FIELDS: Mapping[CatalogKind, tuple[str, ...]] = {
    "scenarios": ("name", "scenarios", "format", "grader", "metadata"),
    "scoring_contracts": ("name", "contract", "metadata"),
    "benchmark_job_defs": ("name", "request", "metadata"),
}
_LISTED_BY: Mapping[CatalogKind, str] = {
    "scenarios": "scenario ls",
    "scoring_contracts": "contract ls",
    "benchmark_job_defs": "benchmark def ls",
}
_KEPT = "what is stored is kept as JSON"


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """A version of a definition, as a job is made of it."""

    name: str
    version: str
    """NAME@2"""
    digest: str
    request: Mapping[str, Any]
    """with the webhook's secret"""


class Catalog:
    """The catalogue of one node's store. Every verb is about one workspace's entries. Used from one event loop."""

    def __init__(
        self,
        store: Callable[[], Awaitable[CatalogStorePort]],
        clock: Clock,
        *,
        check_room: CheckRoom | None = None,
    ) -> None:
        """`check_room` is asked before anything is kept; None = there is always room."""
        self._store = store
        self._clock = clock
        self._check_room = check_room

    async def create(self, workspace: str, kind: CatalogKind, request: Mapping[str, Any]) -> CatalogEntry:
        """Check everything, then keep it: as the next version of its name, or as the version that there is of the same
        content and metadata. Raises ValidationError, which lists every mistake, and LimitExceededError; nothing has
        been kept then."""
        name, metadata = _checked_request(kind, request)
        store = await self._store()  # open before threads wait for what is in it
        reader = self.reader(workspace)
        # a large file takes a while, and others shall not wait for it
        made = await SCENARIOS.run(_make_document, kind, request, reader, store.sealed)
        if self._check_room is not None:
            await self._check_room(workspace, len(made.content))
        new = NewEntry(
            workspace=workspace,
            kind=kind,
            name=name,
            digest=made.digest,
            metadata=metadata,
            described=made.described,
            created_at=self._clock.utcnow().isoformat(),
        )
        entry, _ = await store.add(new, made.content)
        return entry_answer(entry)

    async def get(self, workspace: str, kind: CatalogKind, ref: str, *, content: bool = False) -> CatalogEntry:
        """The version that NAME@2 names, or the newest that is not archived of NAME; of scenarios with `content` what
        was stored: {scenarios, format, grader}. Raises NotFoundError."""
        entry = await self.find(workspace, kind, ref)
        if not content and kind != "scoring_contracts":
            return entry_answer(entry)
        held = await SCENARIOS.run(unpack, await self._content(entry))
        return entry_answer(entry, without_secret(held) if kind == "benchmark_job_defs" else held)

    async def list(
        self,
        workspace: str,
        kind: CatalogKind,
        *,
        name: str | None = None,
        prefix: str = "",
        metadata: Mapping[str, str] | None = None,
        archived: bool = False,
        cursor: int | None = None,
        limit: int = 100,
    ) -> CatalogPage:
        """Newest first: the newest version of each name that begins with `prefix`, or with `name` every version of that
        one, or with `archived` every version there is; those that carry all of `metadata`. Raises ValidationError."""
        if not 1 <= limit <= MAX_PAGE:
            raise ValidationError(f"limit must be from 1 to {MAX_PAGE} (got {limit})")
        from harena.core.records.catalog import CatalogPage

        page = await (await self._store()).page(
            workspace,
            kind,
            name=name,
            prefix=prefix,
            metadata=_checked_filter(metadata or {}),
            archived=archived,
            before=cursor,
            limit=limit,
        )
        return CatalogPage(entries=[*map(entry_answer, page)], next_cursor=page[-1].sequence if page.more else None)

    async def archive(self, workspace: str, kind: CatalogKind, ref: str) -> ArchivedVersions:
        """Archive the version that NAME@2 names, or every version of NAME. Raises NotFoundError."""
        name, version = parse_reference(ref)
        store = await self._store()
        archived = await store.archive(workspace, kind, name, version, self._clock.utcnow().isoformat())
        if not archived:
            # it was archived before, or there is no such thing
            there = (
                await store.find(workspace, kind, name, version)
                if version is not None
                else await store.page(workspace, kind, name=name, metadata={}, archived=True, limit=1)
            )
            if not there:
                raise _not_found(kind, ref)
        from harena.core.records.catalog import ArchivedVersions

        return ArchivedVersions(name=name, archived=archived)

    async def delete(self, workspace: str, kind: CatalogKind, ref: str) -> None:
        """Delete the version that NAME@2 names. Raises NotFoundError, and ValidationError (no version is named; with
        the reason IN_USE, jobs that have not ended refer to it)."""
        name, version = parse_reference(ref)
        if version is None:
            raise ValidationError(f"{ref!r} names no version: write {name}@VERSION")
        users = await (await self._store()).remove(workspace, kind, name, version, while_in=OPEN_STATES)
        if users is None:
            raise _not_found(kind, ref)
        if users:
            told = ", ".join(users[:MOST_USERS_TOLD]) + (", ..." if len(users) > MOST_USERS_TOLD else "")
            raise ValidationError(
                f"{NOUNS[kind]} {ref} is used by {len(users)} benchmark jobs that have not ended ({told}): "
                "cancel them first",
                reason=IN_USE,
            )

    async def find(self, workspace: str, kind: CatalogKind, reference: str) -> EntryVersion:
        """The version that a reference names. Raises NotFoundError, ValidationError (it is no reference)."""
        entry = await (await self._store()).find(workspace, kind, *parse_reference(reference))
        if entry is None:
            raise _not_found(kind, reference)
        return entry

    async def kept(self, workspace: str, kind: CatalogKind, reference: str) -> tuple[EntryVersion, bytes]:
        """The version that a reference names, and its content, packed. Raises NotFoundError, ValidationError."""
        entry = await self.find(workspace, kind, reference)
        return entry, await self._content(entry)

    async def definition(self, workspace: str, reference: str) -> StoredDefinition:
        """A version, as a job is made of it. Raises NotFoundError, ValidationError."""
        entry, packed = await self.kept(workspace, "benchmark_job_defs", reference)
        content = await SCENARIOS.run(unpack, packed)
        store = await self._store()
        request = with_secret(content["request"], store.opened)
        return StoredDefinition(entry.name, entry.ref, entry.digest, request)

    def reader(self, workspace: str) -> CatalogReader:
        """The workspace's entries for a thread that reads scenarios, while this loop goes on."""
        return CatalogReader(self, workspace, asyncio.get_running_loop())

    async def _content(self, entry: EntryVersion) -> bytes:
        content = await (await self._store()).content(entry.workspace, entry.digest)
        if content is None:  # deleted since the version was found
            raise _not_found(entry.kind, entry.ref)
        return content


class CatalogReader:
    """Looks things up for one submission, in its thread: the event loop only asks the store. A contract that many rows
    name is read once, and is the same version for all of them."""

    def __init__(self, catalog: Catalog, workspace: str, loop: asyncio.AbstractEventLoop) -> None:
        self._catalog = catalog
        self._workspace = workspace
        self._loop = loop
        self._contracts: dict[str, StoredContract | HarenaError] = {}
        """reference -> what it names, or why it names nothing"""

    def version(self, reference: str) -> str:
        """Exact reference to the stored scenarios that are named, as NAME@2. Raises NotFoundError, ValidationError."""
        asked = self._catalog.find(self._workspace, "scenarios", reference)
        return asyncio.run_coroutine_threadsafe(asked, self._loop).result().ref

    def scenarios(self, reference: str) -> StoredSources:
        """A version, as a job runs it. Raises NotFoundError, ValidationError."""
        entry, packed = self._read_version("scenarios", reference)
        return StoredSources(entry.ref, entry.digest, unpack(packed))

    def contract(self, reference: str) -> StoredContract:
        """A version, as a scenario is scored by it: a `ContractLookup`. Raises NotFoundError, ValidationError."""
        found = self._contracts.get(reference)
        if found is None:
            try:
                found = self._read_contract(reference)
            except HarenaError as error:
                found = error
            self._contracts[reference] = found
            if not isinstance(found, HarenaError):
                self._contracts[found.version] = found
        if isinstance(found, HarenaError):
            raise found.with_traceback(None)
        return found

    def _read_contract(self, reference: str) -> StoredContract:
        from harena.scoring.contracts.stored import StoredContract, load_contract
        from harena.scoring.reading import Document

        entry, packed = self._read_version("scoring_contracts", reference)
        return StoredContract(entry.ref, load_contract(Document(entry.ref, unpack(packed)["contract"])))

    def _read_version(self, kind: CatalogKind, reference: str) -> tuple[EntryVersion, bytes]:
        asked = self._catalog.kept(self._workspace, kind, reference)
        return asyncio.run_coroutine_threadsafe(asked, self._loop).result()


_SHOWN = ("ref", "name", "version", "digest", "metadata", "created_at", "archived_at")


def entry_answer(entry: EntryVersion, content: Mapping[str, Any] | None = None) -> CatalogEntry:
    """An entry as it is answered; with `content` also what was stored."""
    from harena.core.records.catalog import ENTRIES  # a job without stored scenarios answers no entry

    shown = {name: getattr(entry, name) for name in _SHOWN}
    return ENTRIES[entry.kind].from_dict({**entry.described, **(content or {}), **shown})


@dataclass(frozen=True, slots=True)
class _Document:
    digest: str
    content: bytes
    described: dict[str, Any]


def _document(content: dict[str, Any], described: dict[str, Any]) -> _Document:
    digest = hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()
    return _Document(digest, pack(content), described)


def _made_scenarios(request: Mapping[str, Any], reader: CatalogReader) -> _Document:
    from harena.scoring.contracts.stored import pinned, references
    from harena.scoring.formats.importing import import_problems

    given, form, grader = request["scenarios"], request.get("format"), request.get("grader")
    checked = import_problems(given, form=form, grader=grader, contracts=reader.contract)
    held = content_of(given, _KEPT)
    check_json(held, "scenarios", finite=True)  # it is answered as JSON
    content = {
        "scenarios": pinned(held, reader.contract),
        "format": checked.form,
        "grader": content_of(grader, _KEPT),
    }
    contracts = checked.contracts
    shared = any(contract.trust is Trust.SHARED for contract in contracts)
    return _document(
        content,
        {
            "format": checked.form,
            "problems": checked.problems,
            "candidates": checked.candidates,
            "trust": str(Trust.SHARED if shared else Trust.SEPARATE),
            "scorers": sorted({contract.version for contract in contracts})[:MOST_SCORERS],
            "contracts": references(content["scenarios"]),
        },
    )


def _made_contract(request: Mapping[str, Any], reader: CatalogReader) -> _Document:
    from harena.scoring.contracts.stored import load_contract
    from harena.scoring.reading import Document, read_document

    given = request["contract"]
    document = Document("contract", dict(given)) if isinstance(given, Mapping) else read_document(given)
    contract = load_contract(document)
    check_json(document.content, "contract", finite=True)
    described = {
        "type": document.content["type"],
        "trust": str(contract.trust),
        "scorer_version": contract.version,
    }
    return _document({"contract": document.content}, described)


def _made_definition(request: Mapping[str, Any], reader: CatalogReader, seal: Callable[[str], str]) -> _Document:
    from harena.jobs.benchmark.job_definitions import definition_to_store, outline

    kept, problems = definition_to_store(request["request"], reader)
    made = _document({"request": kept}, outline(kept, problems))
    # the digest is of what was given: what is sealed looks different each time
    return replace(made, content=pack({"request": with_secret(kept, seal)}))


def _make_document(
    kind: CatalogKind, request: Mapping[str, Any], reader: CatalogReader, seal: Callable[[str], str]
) -> _Document:
    """What is kept of a request; `seal` gives a secret the form in which it is stored."""
    if kind == "scenarios":
        return _made_scenarios(request, reader)
    if kind == "scoring_contracts":
        return _made_contract(request, reader)
    return _made_definition(request, reader, seal)


def _checked_request(kind: CatalogKind, request: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """(name, metadata). Raises ValidationError that lists every mistake but those of the content."""
    fields = _FIELDS[kind]
    content = fields[1]
    mistakes = [f"{name}: unknown key; valid keys are {', '.join(fields)}" for name in request if name not in fields]
    name = request.get("name")
    if not isinstance(name, str) or not re.fullmatch(NAME_PATTERN, name):
        shown = repr(name)[:200] if name is None or isinstance(name, str) else type(name).__name__
        mistakes.append(
            "name: 1 to 128 letters, digits, '.', '_' and '-', the first a letter or a digit, without a version "
            f"(got {shown})"
        )
    if request.get(content) is None:
        mistakes.append(f"{content}: missing")
    metadata = _checked_metadata(request.get("metadata") or {}, mistakes)
    if mistakes:
        raise ValidationError("\n  ".join([f"this {NOUNS[kind]} cannot be stored:", *mistakes]))
    return str(name), metadata


def _checked_metadata(given: Any, mistakes: list[str]) -> dict[str, str]:
    """Text by name; what is wrong is noted."""
    told = len(mistakes)
    if not isinstance(given, Mapping) or len(given) > MOST_METADATA:
        mistakes.append(f"metadata: must be a mapping of at most {MOST_METADATA} names to texts")
        return {}
    for name, value in given.items():
        if not isinstance(name, str) or not re.fullmatch(METADATA_NAME_PATTERN, name):
            mistakes.append(f"metadata: {name!r:.80} is no name; names are 1 to 64 letters, digits, '_', '.' and '-'")
        elif not isinstance(value, str) or len(value) > MOST_METADATA_CHARACTERS or not value.isprintable():
            mistakes.append(f"metadata.{name}: must be printable text of at most {MOST_METADATA_CHARACTERS} characters")
    return dict(given) if len(mistakes) == told else {}


def _checked_filter(given: Mapping[str, str]) -> dict[str, str]:
    mistakes: list[str] = []
    metadata = _checked_metadata(given, mistakes)
    if mistakes:
        raise ValidationError("\n  ".join(["this cannot be looked for:", *mistakes]))
    return metadata


def _not_found(kind: CatalogKind, reference: str) -> NotFoundError:
    command = f"harena {_LISTED_BY[kind]}"
    archived = "" if "@" in reference else " that is not archived"
    return NotFoundError(f"no {NOUNS[kind]} {reference!r}{archived}; `{command}` shows what there is")
