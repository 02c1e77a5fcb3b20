"""Profiles: what programs of a sandbox may do inside it."""

from __future__ import annotations

from typing import Any, Literal, get_args

from harena.core.errors import SandboxValidationError

Profile = Literal["strict", "machine"]
"""`strict`: programs have no capability, whoever they run as. `machine`: root's programs have those that installing
packages and starting services takes, over the sandbox's own users only"""
PROFILES: tuple[Profile, ...] = get_args(Profile)


def checked_profile(value: Any, name: str = "profile") -> Profile:
    """One of them. Raises SandboxValidationError."""
    for profile in PROFILES:
        if value == profile:
            return profile
    raise SandboxValidationError(f"{name} must be one of {', '.join(PROFILES)} (got {value!r:.100})")
