"""What every transport must do with definitions of benchmark jobs, and with webhooks: tests."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from harena.core.catalog import CatalogKind
from harena.core.errors import NotFoundError, ValidationError
from harena.core.ports import Operations
from harena.core.requests import BenchmarkJobFields, EntryFields
from harena.core.webhook_signature import check_signature
from harena.testing.conformance_catalog import SUM, answers

KIND: CatalogKind = "benchmark_job_defs"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 - of the specification's own example
PROBLEMS = {"problems": [{"id": "p", "statement": "add", "scoring": SUM}]}


@asynccontextmanager
async def receiver(came: asyncio.Queue[tuple[dict[str, str], bytes]]) -> AsyncIterator[str]:
    """The URL of whoever takes every request and says 204."""

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:-2]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head)}
        came.put_nowait((headers, await reader.readexactly(int(headers["content-length"]))))
        writer.write(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hooks"


async def define(operations: Operations, name: str, request: Any, **more: Any) -> dict[str, Any]:
    """A version of a definition."""
    return (
        await operations.create_catalog_entry(KIND, cast("EntryFields", {"name": name, "request": request, **more}))
    ).to_dict()


class DefinitionsConformance:
    """All of it."""

    async def test_definitions_have_versions(self, operations: Operations) -> None:
        """Any change is the next version, whatever the order of keys; the same is the same; the archived one stays."""
        first = await define(operations, "nightly", {"scenarios": PROBLEMS, "config": {"attempts": 2, "priority": 1}})
        again = await define(operations, "nightly", {"config": {"priority": 1, "attempts": 2}, "scenarios": PROBLEMS})
        second = await define(operations, "nightly", {"scenarios": PROBLEMS, "config": {"attempts": 3}})
        assert (first["ref"], again, second["ref"]) == ("nightly@1", first, "nightly@2")
        assert (first["fields"], first["problems"], first["blueprint_id"]) == (["config", "scenarios"], 1, None)
        assert (first["config"], first["webhook"]) == ({"attempts": 2, "priority": 1}, None)
        assert (await operations.get_catalog_entry(KIND, "nightly")).to_dict() == second
        found = await operations.get_catalog_entry(KIND, "nightly@1", content=True)
        assert found.to_dict() == {
            **first,
            "request": {"scenarios": PROBLEMS, "config": {"attempts": 2, "priority": 1}},
        }
        listed = await operations.list_catalog_entries(KIND, prefix="night")
        assert ([entry.to_dict() for entry in listed.entries], listed.next_cursor) == ([second], None)
        assert (await operations.archive_catalog_entry(KIND, "nightly"))["archived"] == 2
        assert (await operations.list_catalog_entries(KIND, prefix="night"))["entries"] == []
        with pytest.raises(NotFoundError, match="nightly"):
            await operations.create_benchmark_job({"definition": "nightly", "candidates": answers("p")})

    async def test_a_definition_is_run_with_what_it_leaves_open(self, operations: Operations, tmp_path: Path) -> None:
        """Files are kept as what they hold; the job says which version it ran; what is given replaces what is kept."""
        file = tmp_path / "problems.json"
        file.write_text(json.dumps(PROBLEMS))
        kept = await define(
            operations, "adding-up", {"scenarios": str(file), "config": {"attempts": 2, "timeout_seconds": 9}}
        )
        file.unlink()
        job = await operations.create_benchmark_job({"definition": "adding-up", "candidates": answers("p")})
        results = await operations.wait_benchmark_job(job["id"])
        made_of = {"ref": kept["ref"], "digest": kept["digest"]}
        assert (job["name"], job["definition"].to_dict()) == ("adding-up", made_of)
        assert (job["config"]["attempts"], job["config"]["timeout_seconds"]) == (2, 9.0)
        assert sorted((run["scenario_id"], run["score"]) for run in results["runs"]) == [
            *(("max", 0.0), ("max", 0.0), ("sum", 1.0), ("sum", 1.0)),
        ]
        other = await operations.create_benchmark_job(
            {
                "definition": kept["ref"],
                "name": "once",
                "candidates": answers("p")[:1],
                "config": {"attempts": 1},
            }
        )
        results = await operations.wait_benchmark_job(other["id"])
        assert (other["name"], other["definition"]) == ("once", job["definition"])
        assert (other["config"]["attempts"], other["config"]["timeout_seconds"]) == (1, 9.0)
        assert [(run["scenario_id"], run["score"]) for run in results["runs"]] == [("sum", 1.0)]
        # what was archived still runs by its version, and an old result names what can be looked at
        await operations.archive_catalog_entry(KIND, "adding-up")
        late = await operations.create_benchmark_job({"definition": kept["ref"], "candidates": answers("p")})
        assert (await operations.wait_benchmark_job(late["id"]))["state"] == "completed"
        plain = await operations.create_benchmark_job({"name": "x", "scenarios": PROBLEMS, "candidates": answers("p")})
        assert plain["definition"] is None
        await operations.wait_benchmark_job(plain["id"])

    async def test_a_definition_keeps_the_version_of_stored_scenarios(self, operations: Operations) -> None:
        """What is stored under the name later changes nothing."""
        entry: EntryFields = {"name": "pinned-set", "scenarios": PROBLEMS}
        stored = await operations.create_catalog_entry("scenarios", entry)
        made = await define(operations, "pinning", {"scenarios": {"ref": "pinned-set"}, "candidates": answers("p")})
        more = {"problems": [*PROBLEMS["problems"], {"id": "q", "statement": "add", "scoring": SUM}]}
        await operations.create_catalog_entry("scenarios", {**entry, "scenarios": more})
        kept = await operations.get_catalog_entry(KIND, made["ref"], content=True)
        assert kept["request"]["scenarios"] == {"ref": stored["ref"]}
        job = await operations.create_benchmark_job({"definition": "pinning"})
        assert job["lineage"]["scenarios"] == stored["ref"]
        await operations.wait_benchmark_job(job["id"])

    @pytest.mark.parametrize(
        ("request_", "says"),
        [
            ({"scenarios": PROBLEMS, "config": {"attemts": 1}}, "attemts"),
            ({"scenarios": PROBLEMS, "retries": 1}, "retries"),
            ({"config": {"concurrency": 0}}, "concurrency"),
            ({"scenarios": {"problems": [{"id": "p", "scoring": {"type": "nothing"}}]}}, "nothing"),
            ({"scenarios": PROBLEMS, "candidates": [{"id": "a", "problem": "other", "candidate": "x"}]}, "other"),
            ({"webhook": {"url": "ftp://x"}}, "http or https"),
        ],
        ids=["config", "unknown", "range", "scenarios", "candidates", "webhook"],
    )
    async def test_bad_definitions(self, operations: Operations, request_: dict[str, Any], says: str) -> None:
        """What is wrong is named, and nothing is stored."""
        with pytest.raises(ValidationError, match=says):
            await define(operations, "never", request_)
        assert (await operations.list_catalog_entries(KIND, name="never"))["entries"] == []

    @pytest.mark.parametrize(
        ("overrides", "says"),
        [
            ({}, "candidate"),
            ({"candidates": "nop", "config": {"atempts": 1}}, "atempts"),
            ({"candidates": answers("p"), "config": {"attempts": -1}}, "attempts"),
            ({"candidates": answers("p"), "blueprint_id": "nothing-like-it"}, "nothing-like-it"),
            ({"candidates": answers("p"), "retries": 1}, "retries"),
            ({"candidates": answers("other")}, "other"),
        ],
        ids=["left open", "config", "range", "blueprint", "unknown", "another problem"],
    )
    async def test_bad_runs(self, operations: Operations, overrides: Any, says: str) -> None:
        """The whole request is checked before anything runs."""
        await define(operations, "to-be-run", {"scenarios": PROBLEMS})
        before = await operations.list_benchmark_jobs()
        with pytest.raises((ValidationError, NotFoundError), match=says):
            await operations.create_benchmark_job(overrides | {"definition": "to-be-run"})
        assert await operations.list_benchmark_jobs() == before

    @pytest.mark.parametrize("reference", ["none-such", "none-such@3", "no such/name", "a@0", ""])
    async def test_unknown_definitions(self, operations: Operations, reference: str) -> None:
        """Not found, or no name at all; never another job."""
        with pytest.raises((NotFoundError, ValidationError)):
            await operations.create_benchmark_job({"definition": reference, "scenarios": PROBLEMS})

    async def test_a_webhook_is_posted_and_its_secret_is_not_shown(self, operations: Operations) -> None:
        """A definition's webhook works like a request's; what is posted is signed with the secret."""
        came: asyncio.Queue[tuple[dict[str, str], bytes]] = asyncio.Queue()
        async with receiver(came) as url:
            webhook = {"url": url, "secret": SECRET}
            made = await define(operations, "telling", {"scenarios": PROBLEMS, "webhook": webhook})
            shown = [made, (await operations.get_catalog_entry(KIND, "telling", content=True)).to_dict()]
            requests: tuple[BenchmarkJobFields, ...] = (
                {"definition": "telling", "candidates": answers("p")},
                {"name": "told", "scenarios": PROBLEMS, "candidates": answers("p"), "webhook": webhook},
            )
            for request in requests:
                job = await operations.create_benchmark_job(request)
                headers, body = await came.get()
                check_signature(headers, body, SECRET, now=time.time())
                said = json.loads(body)
                assert (said["event"], said["job_id"], said["state"]) == ("benchmark_job.ended", job.id, "completed")
                assert said["summary"]["passed"] == 1
                results = await operations.wait_benchmark_job(job.id)
                assert said["summary"] == results.summary.to_dict()
                shown += [job.to_dict(), (await operations.get_benchmark_job(job.id)).to_dict()]
                assert shown[-1]["webhook"]["delivery_id"] == headers["webhook-id"] == said["delivery_id"]
        assert made["webhook"] == {"url": url, "signed": True}
        assert "MfKQ9r8G" not in json.dumps(shown)
