"""The fixtures of `sdk_fake_node`."""

from sdk_fake_node import node

__all__ = ["node"]
