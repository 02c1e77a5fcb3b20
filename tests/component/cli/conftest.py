"""The fixtures of `fake_face`."""

from fake_face import harena, jobs

__all__ = ["harena", "jobs"]
