"""What answers about the objects of training hold; see `harena.server.shapes`."""

from __future__ import annotations

from harena.server.shapes import Answer, Whole


class ObjectsPage(Answer):
    """One page of objects, newest first."""

    objects: list[Whole]
    next_cursor: int | None
