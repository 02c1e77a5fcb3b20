"""Operations on what is kept by name and version, and on calibrations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harena.core.catalog import CatalogKind
from harena.core.operations.operation import READ, WRITE, Operation
from harena.core.ports import CatalogOperations as Port
from harena.core.records.benchmark_jobs import BenchmarkJob
from harena.core.records.catalog import (
    ENTRIES,
    ArchivedVersions,
    CalibrationJob,
    ContractsPage,
    DefinitionsPage,
    ScenariosPage,
)

NOUN, DEFINITIONS = "catalog", "benchmark job defs"
_IN_USE = frozenset({409})
_GONE = frozenset({404})
"""what was created with the same key has been deleted"""
_CALIBRATIONS = "/v1/calibrations"


class EntryOperations:
    """The operations on catalogue entries of one kind. Their path says the kind."""

    def __init__(
        self, kind: CatalogKind, noun: str, names: Sequence[str], page: type, body: str, told: Sequence[str]
    ) -> None:
        """`names` and `told` are those of create, list, get, archive and delete."""
        entry, all_of_it, of = ENTRIES[kind], f"/v1/{kind}", {"kind": kind}
        one = f"{all_of_it}/{{ref}}"
        create, listed, get, archive, delete = names
        self.create = Operation(
            noun,
            create,
            "POST",
            all_of_it,
            WRITE,
            Port.create_catalog_entry,
            entry,
            body=body,
            fixed=of,
            creates=True,
            told=told[0],
            errors=_GONE,
        )
        self.list = Operation(
            noun, listed, "GET", all_of_it, READ, Port.list_catalog_entries, page, fixed=of, told=told[1]
        )
        whole = {**of, "content": False} if kind == "scoring_contracts" else of  # a contract always comes whole
        self.get = Operation(noun, get, "GET", one, READ, Port.get_catalog_entry, entry, fixed=whole, told=told[2])
        self.archive = Operation(
            noun,
            archive,
            "POST",
            f"{one}/archive",
            WRITE,
            Port.archive_catalog_entry,
            ArchivedVersions,
            fixed=of,
            told=told[3],
        )
        self.delete = Operation(
            noun,
            delete,
            "DELETE",
            one,
            WRITE,
            Port.delete_catalog_entry,
            fixed=of,
            told=told[4],
            errors=_IN_USE,
            frees=True,
        )
        self.operations = (self.create, self.list, self.get, self.archive, self.delete)


ENTRIES_OF: Mapping[CatalogKind, EntryOperations] = {
    "scenarios": EntryOperations(
        "scenarios",
        NOUN,
        [f"{verb}_scenarios" for verb in ("create", "list", "get", "archive", "delete")],
        ScenariosPage,
        "ScenariosBody",
        [
            "Keep scenarios as the next version of their name; the same content and metadata give the version that "
            "there\nis.",
            "Newest first: of each name the newest version that is not archived; with `name` every version of that "
            "one, with\n`archived` every version there is.",
            "A version, with its calibrations; with `content` what was stored.",
            "Hide a version, or with a bare name every version. Jobs that name one go on as before.",
            "Delete the version NAME@2; 409 while a benchmark job that has not ended refers to it. Its number is not "
            "used\nagain, and results keep its digest.",
        ],
    ),
    "scoring_contracts": EntryOperations(
        "scoring_contracts",
        NOUN,
        ["create_contract", "list_contracts", "get_contract", "archive_contract", "delete_contract"],
        ContractsPage,
        "ContractBody",
        [
            "Keep a scoring contract as the next version of its name; the same content and metadata give the version "
            "that\nthere is.",
            "Scoring contracts of your workspace that match, by name; the parameters are those of scenarios.",
            "A version, with the contract.",
            "Hide a version, or with a bare name every version. What refers to one goes on as before.",
            "Delete a version of a scoring contract, on the terms of scenarios. What was stored with a reference to it "
            "cannot\nbe run any more.",
        ],
    ),
    "benchmark_job_defs": EntryOperations(
        "benchmark_job_defs",
        DEFINITIONS,
        ["create", "list_definitions", "get", "archive", "delete"],
        DefinitionsPage,
        "DefinitionBody",
        [
            "Keep a definition as the next version of its name; the same content and metadata give the version that "
            "there\nis.",
            "Definitions of your workspace that match, by name; the parameters are those of scenarios.",
            "A version; with `content` its `request`, without the webhook's secret.",
            "Hide a version, or with a bare name every version. It can still be run by NAME@2.",
            "Delete the version NAME@2. Jobs that were made of it have all that they need.",
        ],
    ),
}
RUN: Operation[..., Any] = Operation(
    DEFINITIONS,
    "run",
    "POST",
    "/v1/benchmark_job_defs/{ref}/run",
    WRITE,
    None,
    BenchmarkJob,
    body="JobFieldsBody",
    creates=True,
    starts_work=True,
)
CALIBRATE = Operation(
    NOUN,
    "calibrate",
    "POST",
    _CALIBRATIONS,
    WRITE,
    Port.create_calibration,
    CalibrationJob,
    body="CalibrationBody",
    creates=True,
    starts_work=True,
    errors=frozenset({404, 501}),
)
GET_CALIBRATION = Operation(
    NOUN,
    "get_calibration",
    "GET",
    f"{_CALIBRATIONS}/{{calibration}}",
    READ,
    Port.get_calibration,
    CalibrationJob,
    waits=lambda port, calibration: port.wait_calibration(calibration),
)
OPERATIONS = (
    *ENTRIES_OF["scenarios"].operations,
    *ENTRIES_OF["scoring_contracts"].operations,
    CALIBRATE,
    GET_CALIBRATION,
    *ENTRIES_OF["benchmark_job_defs"].operations,
    RUN,
)
