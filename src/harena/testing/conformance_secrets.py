"""What secrets do over every transport: they go in, and nothing gives a value back."""

from __future__ import annotations

import json

import pytest

from harena.core.errors import NotFoundError, ValidationError
from harena.core.ports import Operations

VALUE = "conformance-ghp_\u00e9 value"


class SecretsConformance:
    """Every verb of the noun."""

    async def test_the_life_of_a_secret(self, operations: Operations) -> None:
        """It is set, found, listed, set anew, and deleted."""
        made = await operations.set_secret("LIFE", VALUE, hosts=["API.example.com", "*.example.com:8443"])
        assert (made.name, made.hosts) == ("LIFE", ["api.example.com:443", "*.example.com:8443"])
        assert await operations.get_secret("LIFE") == made
        again = await operations.set_secret("LIFE", "another", hosts=["example.com"])
        assert (again.hosts, again.created_at) == (["example.com:443"], made.created_at)
        assert again in (await operations.list_secrets()).secrets
        await operations.delete_secret("LIFE")
        with pytest.raises(NotFoundError):
            await operations.get_secret("LIFE")

    async def test_pages_of_secrets(self, operations: Operations) -> None:
        """By name; the last one says that it is the last."""
        for name in ("P3", "P1", "P2"):
            await operations.set_secret(name, "v", hosts=["example.com"])
        first = await operations.list_secrets(limit=2)
        assert [one.name for one in first.secrets] == ["P1", "P2"]
        last = await operations.list_secrets(limit=2, cursor=first.next_cursor)
        assert ([one.name for one in last.secrets], last.next_cursor) == (["P3"], None)
        for name in ("P1", "P2", "P3"):
            await operations.delete_secret(name)

    async def test_nothing_shows_the_value(self, operations: Operations) -> None:
        """No answer, no representation, and no error about a wrong one."""
        made = await operations.set_secret("SHOWN", VALUE, hosts=["example.com"])
        page = await operations.list_secrets()
        for told in (made, page, await operations.get_secret("SHOWN")):
            assert VALUE not in repr(told)
            assert "ghp_" not in json.dumps(told.to_dict())
        for name, value, hosts in (
            ("1BAD", VALUE, ["example.com"]),
            ("BAD", VALUE + "\0", ["example.com"]),
            ("BAD", VALUE * 10_000, ["example.com"]),
            ("BAD", VALUE + "\ud800", ["example.com"]),
            ("BAD", VALUE, []),
            ("BAD", VALUE, ["https://example.com/"]),
        ):
            with pytest.raises(ValidationError) as caught:
                await operations.set_secret(name, value, hosts=hosts)
            assert "ghp_" not in str(caught.value)
        await operations.delete_secret("SHOWN")
