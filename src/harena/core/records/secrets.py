"""Secrets as they are answered: without their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from harena.core.records.record import Record
from harena.core.secrets import MOST_HOSTS

MOST_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret(Record):
    """A secret that the workspace keeps. Its value is never answered."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"hosts": MOST_HOSTS}

    name: str
    """a name that an environment variable can have"""
    hosts: list[str]
    """what it may be sent to, each as HOST:PORT; `*.example.com` is every name below example.com"""
    created_at: str
    """when it was set first"""
    updated_at: str
    """when it was set last"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretsPage(Record):
    """Some of the secrets of a workspace, by name."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"secrets": MOST_PAGE}

    secrets: list[Secret]
    """the secrets of this page"""
    next_cursor: str | None
    """asks for the next page; null = this is the last one"""
