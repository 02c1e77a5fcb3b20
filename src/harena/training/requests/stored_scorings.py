"""Stored scenarios and scoring contracts that a training job's prompts are judged by, looked up when it is submitted.

What is found is written into the job's prompts: a job is trained on what was stored then, and its worker needs neither
the store nor the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from harena.core.catalog import StoredSources, parse_reference
from harena.core.errors import ValidationError
from harena.training.data.stored_problems import is_reference, prompts_of, reference_key, scored_as

if TYPE_CHECKING:
    from harena.scoring.contracts.stored import StoredContract


class StoredVersions(Protocol):
    """Looks up what is stored in one workspace's catalogue. Not for the event loop. Each verb raises NotFoundError and
    ValidationError."""

    def scenarios(self, reference: str) -> StoredSources:
        """A version of stored scenarios."""

    def contract(self, reference: str) -> StoredContract:
        """A version of a stored scoring contract."""


class StoredScorings:
    """Lookups of one job. Not for the event loop. Each verb raises ValidationError, NotFoundError."""

    def __init__(self, reader: StoredVersions) -> None:
        self._reader = reader
        self._scenarios: dict[str, StoredSources] = {}
        self._found: dict[str, dict[str, Any]] = {}

    def of(self, scoring: Mapping[str, Any]) -> dict[str, Any]:
        """{scoring, program} that a row's reference stands for."""
        key = reference_key(scoring)
        if key not in self._found:
            self._found[key] = self._looked_up(scoring)
        return self._found[key]

    def prompts(self, ref: str) -> tuple[str, list[Mapping[str, Any]]]:
        """(name of the stored scenarios, a prompt row for each of their problems)."""
        stored = self._stored(ref)
        sources = stored.sources
        try:
            rows = [*prompts_of(sources["scenarios"], form=sources["format"], grader=sources["grader"])]
        except ValueError as error:
            raise ValidationError(f"{stored.version} cannot be used as prompts: {error}") from None
        name = parse_reference(stored.version)[0]
        return name, [self._whole(row) for row in rows]

    def _whole(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**row, "scoring": self._contract(row["scoring"])} if is_reference(row.get("scoring")) else row

    def _looked_up(self, scoring: Mapping[str, Any]) -> dict[str, Any]:
        known = {"contract"} if "contract" in scoring else {"scenario", "id"}
        if unknown := sorted(set(map(str, scoring)) - known):
            raise ValidationError(f"its scoring names what is stored, without {', '.join(unknown)}")
        if "contract" in scoring:
            return {"scoring": self._contract(scoring)}
        stored = self._stored(scoring["scenario"])
        sources = stored.sources
        found = scored_as(
            sources["scenarios"],
            str(scoring.get("id", "")),
            stored.version,
            form=sources["format"],
            grader=sources["grader"],
        )
        return {**found, "scoring": self._contract(found["scoring"])} if is_reference(found["scoring"]) else found

    def _stored(self, ref: Any) -> StoredSources:
        if not isinstance(ref, str):
            raise ValidationError(f"its scoring names stored scenarios by a text, NAME or NAME@2, not {ref!r:.100}")
        if ref not in self._scenarios:
            self._scenarios[ref] = self._reader.scenarios(ref)
        return self._scenarios[ref]

    def _contract(self, scoring: Mapping[str, Any]) -> dict[str, Any]:
        from harena.scoring.contracts.written import written_contract

        return written_contract(self._reader.contract(scoring["contract"]).contract)
