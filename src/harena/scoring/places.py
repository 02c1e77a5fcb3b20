"""Where a scenario's candidate runs, and which contracts can be scored there.

The root of an OCI image's sandbox can be written to everywhere, by the candidate too, and has no guarded interpreters
(`/opt/guard`). So nothing that is trusted may run beside the candidate there: what judges runs outside, in sandboxes of
harena's own image, or in a fresh sandbox of the image.
"""

from __future__ import annotations

from dataclasses import replace

from harena.core.default_image import is_default
from harena.core.errors import ValidationError
from harena.core.models import SandboxSpec
from harena.scoring.contracts.contract import CommandContract, Contract, HarborContract, WeightedContract
from harena.scoring.scenario import Scenario


def place_of(scenario: Scenario, job: SandboxSpec, place: SandboxSpec | None = None) -> SandboxSpec:
    """What the candidate's sandboxes are. `job`: where the job's candidates run; `place`: where those of a scenario
    run that names its image or blueprint. Raises ValidationError for a blueprint that nobody has looked up, since its
    image decides which contracts can be scored, and for an image that nobody has built."""
    if place is not None:
        return place
    if scenario.blueprint is not None:
        raise ValidationError(f"nobody has looked up the blueprint {scenario.blueprint!r} of {scenario.id!r}")
    if scenario.build is not None and scenario.build.required:
        raise ValidationError(
            f"the image of {scenario.id!r} has to be built of its Dockerfile, which benchmark jobs do "
            f"({scenario.build.required})"
        )
    return job if scenario.image is None else in_image(scenario.image, job)


def in_image(image: str, job: SandboxSpec) -> SandboxSpec:
    """The job's sandboxes with another image, and no blueprint."""
    return replace(job, image=image, blueprint=None)


def is_of_image(place: SandboxSpec) -> bool:
    """Its sandboxes have an OCI image for their root."""
    return not is_default(place.image)


def trusted_place(job: SandboxSpec) -> SandboxSpec:
    """Where harena's own programs run that need nothing of the candidate's image: they need a Python that is known, and
    the packages of the job's blueprint where it is one of the default image."""
    return replace(job, image="default", blueprint=None) if is_of_image(job) else job


def why_not_in_image(contract: Contract) -> str | None:
    """Why candidates cannot be judged by this contract in an image; None = they can."""
    if isinstance(contract, WeightedContract):
        reasons = ((name, why_not_in_image(part.scoring)) for name, part in contract.parts.items())
        return next((f"part {name!r}: {why}" for name, why in reasons if why is not None), None)
    if isinstance(contract, CommandContract):
        return (
            "`command` runs trusted programs beside the candidate, which may change every interpreter, library and "
            "module of an image; score it with `tests`, `stdio`, `numeric`, `reference`, `python` or `harbor`, or in a "
            "blueprint of the default image"
        )
    if isinstance(contract, HarborContract) and contract.keep_processes:
        return (
            "`keep_processes` would leave the candidate's processes beside the verifier, which in an image runs in a "
            "fresh sandbox; have the verifier start what it asks"
        )
    return None


def require_place(contract: Contract, place: SandboxSpec) -> None:
    """Raises ValidationError if candidates cannot be judged there by this contract."""
    why = why_not_in_image(contract) if is_of_image(place) else None
    if why is not None:
        raise ValidationError(f"the contract cannot be scored in the image {place.image!r}: {why}")
