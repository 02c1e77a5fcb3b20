"""The names of the default image, which needs nothing installed: any other name is an OCI image's."""

from __future__ import annotations

import re
import sys

from harena.core import settings
from harena.core.errors import NotFoundError

DEFAULT_IMAGE = "default"
"""the name that always stands for it"""
_PYTHON = re.compile(r"python(?::(?P<version>\d+(?:\.\d+){0,2}|latest)(?:-slim|-bookworm|-slim-bookworm)?)?")


def is_default(name: str) -> bool:
    """`name` stands for the image that needs nothing installed."""
    try:
        return resolve(name) == DEFAULT_IMAGE
    except NotFoundError:
        return False


def resolve(name: str) -> str:
    """The image that `name` stands for. Raises NotFoundError, saying what there is and how to give it this name."""
    name = _aliases().get(name, name)
    if name == DEFAULT_IMAGE:
        return name
    match = _PYTHON.fullmatch(name)
    if match is not None:
        version = match["version"]
        here = f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
        if version in (None, "latest") or here == version or here.startswith(f"{version}."):
            return DEFAULT_IMAGE
    short = f"python:{sys.version_info.major}.{sys.version_info.minor}"
    raise NotFoundError(
        f"there is no image {name!r} on this machine; there is {short!r} (also called 'default': the interpreter that "
        f"runs harena). To use it under the other name, set {settings.IMAGE_ALIASES.name}={name}=default, "
        f"or run harena with the Python that you want inside",
        reason="IMAGE_NOT_FOUND",
    )


def _aliases() -> dict[str, str]:
    pairs = (pair.partition("=") for pair in (settings.IMAGE_ALIASES.read() or "").split(",") if pair)
    return {name.strip(): target.strip() for name, _, target in pairs}
