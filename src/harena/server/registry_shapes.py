"""What answers about the objects of training hold; see `harena.server.shapes`."""

from __future__ import annotations

from pydantic import Field

from harena.server.bounds import MOST_PAGE
from harena.server.shapes import Answer, Whole


class ObjectsPage(Answer):
    """One page of objects, newest first."""

    objects: list[Whole] = Field(max_length=MOST_PAGE)
    next_cursor: int | None
