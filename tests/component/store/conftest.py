"""The fixtures of `own_store`."""

from own_store import database

__all__ = ["database"]
