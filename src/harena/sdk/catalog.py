"""What scenarios and scoring contracts have in common: they are kept by name and version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from harena.core.catalog import CatalogKind
from harena.core.checked import checked_text, checked_texts
from harena.core.records.catalog import CatalogEntry
from harena.sdk.pages import collect_pages
from harena.sdk.portal import current_portal

if TYPE_CHECKING:
    from harena.core.requests import EntryFields

PAGE = 200


E = TypeVar("E", bound=CatalogEntry)


def _as(record: type[E], entry: CatalogEntry) -> E:
    assert isinstance(entry, record), f"a {type(entry).__name__} was answered for a {record.__name__}"
    return entry


async def create_entry(kind: CatalogKind, request: EntryFields, record: type[E]) -> E:
    """The version that was made, or that there is already."""
    operations = await current_portal().operations()
    return _as(record, await operations.create_catalog_entry(kind, request))


async def get_entry(kind: CatalogKind, ref: str, record: type[E], *, content: bool = False) -> E:
    """Raises NotFoundError."""
    checked_text(ref, "ref")
    operations = await current_portal().operations()
    return _as(record, await operations.get_catalog_entry(kind, ref, content=content))


async def list_entries(
    kind: CatalogKind,
    record: type[E],
    *,
    name: str | None,
    prefix: str,
    metadata: Mapping[str, str] | None,
    archived: bool,
    limit: int | None,
) -> list[E]:
    """Page after page, up to `limit`."""

    async def page(cursor: int | None, size: int) -> tuple[list[E], int | None]:
        operations = await current_portal().operations()
        found = await operations.list_catalog_entries(
            kind,
            name=name,
            prefix=prefix,
            metadata=checked_texts(metadata, "metadata"),
            archived=archived,
            cursor=cursor,
            limit=size,
        )
        return [_as(record, entry) for entry in found.entries], found.next_cursor

    return await collect_pages(page, limit, most=PAGE)


async def archive_entry(kind: CatalogKind, ref: object) -> int:
    """How many versions were archived. Raises NotFoundError."""
    name = _ref_of(ref)
    operations = await current_portal().operations()
    return (await operations.archive_catalog_entry(kind, name)).archived


async def delete_entry(kind: CatalogKind, ref: object) -> None:
    """Raises NotFoundError, ValidationError."""
    name = _ref_of(ref)
    operations = await current_portal().operations()
    await operations.delete_catalog_entry(kind, name)


def _ref_of(entry: object) -> str:
    return entry.ref if isinstance(entry, CatalogEntry) else checked_text(entry, "ref")
