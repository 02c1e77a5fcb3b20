"""The fixtures of `own_store`."""

from own_store import database, store

__all__ = ["database", "store"]
