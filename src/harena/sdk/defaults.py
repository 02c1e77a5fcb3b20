"""`SandboxDefaults`: options that several sandboxes share."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harena.core.checked import check_absolute, checked_text, checked_timeout
from harena.core.errors import SandboxValidationError
from harena.core.gateways import GivenGateways, read_gateways
from harena.core.network_policy import GivenNetwork, read_policy
from harena.core.profiles import Profile, checked_profile
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits
from harena.sdk import options
from harena.sdk.options import ResourceOptions


@dataclass(frozen=True, kw_only=True)
class SandboxDefaults:
    """What sandboxes have in common. What is said for one sandbox wins; tags add up, mappings are merged.

    The options mean what they mean for `Sandbox.run`. Those of other clients that have no meaning on one machine
    (runner_ids, volumes ...) are refused.
    """

    container_image: str = "default"
    """"default" is this host's Python; "python:3.11" names the same where the version matches. Any other is an
    image, which is pulled if it is not here."""
    blueprint: str | Blueprint | None = None
    profile: Profile = "strict"
    command: str | None = None
    args: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    environment_variables: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    resources: ResourceOptions | Mapping[str, Any] | None = None
    limits: Limits | Mapping[str, Any] | None = None
    max_lifetime_seconds: float | None = None
    network: GivenNetwork | None = None
    gateways: GivenGateways | None = None
    working_dir: str | None = None
    temp_dir: str = "/tmp"
    """where remote functions keep their files, inside the sandbox"""
    request_timeout_seconds: float | None = None
    base_url: str | None = None
    """the server, as in `SandboxOptions`"""
    auth: Any = None
    """this and what follows: accepted from code written for another node, without an effect"""
    create_retry_budget_seconds: float | None = None
    poll_retry_budget_seconds: float | None = None
    poll_rpc_timeout_seconds: float | None = None
    data_plane_mode: Any = None

    def __new__(cls, *_: Any, **fields: Any) -> SandboxDefaults:
        """Refuse unknown names with a better message than a generated `__init__` has."""
        options.check_names(fields, "SandboxDefaults", FIELD_NAMES)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        tidy: dict[str, Any] = {
            "tags": options.checked_tags(self.tags),
            "args": options.checked_main(self.command, self.args),
            "environment_variables": options.checked_variables(self.environment_variables),
            "annotations": options.checked_annotations(self.annotations),
        }
        for name, value in tidy.items():
            object.__setattr__(self, name, value)
        checked_text(self.container_image, "container_image")
        options.checked_blueprint(self.blueprint)
        checked_profile(self.profile)
        checked_timeout(self.request_timeout_seconds, "request_timeout_seconds")
        options.combined_limits(self.limits, self.resources, self.max_lifetime_seconds)
        read_policy(self.network)
        read_gateways(self.gateways)
        check_absolute(self.working_dir, "working_dir")
        check_absolute(self.temp_dir, "temp_dir")

    def merge_tags(self, additional: Iterable[str] | None) -> list[str]:
        """These tags, then `additional`, each once."""
        if additional is None:
            return list(self.tags)
        return list(dict.fromkeys((*self.tags, *options.checked_tags(additional))))

    def merge_environment_variables(self, additional: Mapping[str, str] | None) -> dict[str, str]:
        """These variables, with `additional` winning."""
        return {**self.environment_variables, **options.checked_variables(additional)}

    def merge_annotations(self, additional: Mapping[str, str] | None) -> dict[str, str]:
        """These annotations, with `additional` winning."""
        return {**self.annotations, **options.checked_annotations(additional)}

    def with_overrides(self, **fields: Any) -> SandboxDefaults:
        """A copy in which these fields are replaced (not merged)."""
        options.check_names(fields, "SandboxDefaults.with_overrides", FIELD_NAMES)
        supported = {name: value for name, value in fields.items() if name in FIELD_NAMES}
        return dataclasses.replace(self, **supported)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any] | None) -> SandboxDefaults:
        """From a mapping of the fields; None gives the defaults of the defaults."""
        if fields is not None and not isinstance(fields, Mapping):
            raise SandboxValidationError(f"from_dict takes a mapping of the fields of SandboxDefaults (got {fields!r})")
        return cls(**{str(name): value for name, value in (fields or {}).items() if value is not None})


FIELD_NAMES = frozenset(field.name for field in dataclasses.fields(SandboxDefaults))


def as_defaults(defaults: SandboxDefaults | Mapping[str, Any] | None) -> SandboxDefaults:
    """What was given as `defaults=`. Raises SandboxValidationError."""
    if isinstance(defaults, SandboxDefaults):
        return defaults
    if defaults is None:
        return _NONE_GIVEN
    if isinstance(defaults, Mapping):
        return SandboxDefaults.from_dict(defaults)
    raise SandboxValidationError(f"defaults must be SandboxDefaults or a mapping of its fields (got {defaults!r})")


_NONE_GIVEN = SandboxDefaults()
