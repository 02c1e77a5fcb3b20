"""Jobs of contracts that ask for the profile `machine`, in a workspace that may not have it."""

from __future__ import annotations

import pytest

from harena.core.errors import ValidationError
from harena.core.models import SandboxSpec
from harena.core.workspace import WorkspaceLimits
from harena.jobs.benchmark.job_admission import JobAdmission
from harena.jobs.benchmark.job_places import check_contracts
from harena.jobs.slots import Slots
from harena.scoring import load_scenarios

HARBOR = {"type": "harbor", "tests": {"test.sh": "echo 1 > /logs/verifier/reward.txt"}, "workdir": "/app"}
ANSWER = {"files": {"solve.sh": "true"}, "entry": "solve.sh"}


@pytest.mark.parametrize("profile", ["machine", "strict"])
def test_a_job_that_asks_for_machine_is_refused(profile: str) -> None:
    """Before anything of it runs, with what to do; one that asks for `strict` is not."""
    texts = [{"id": "one", "candidate": ANSWER, "scoring": {**HARBOR, "profile": profile}}]
    (scenario,) = load_scenarios(texts).scenarios
    job = SandboxSpec(image="debian:12")
    check_contracts([scenario], [scenario], job, {})
    if profile == "strict":
        return check_contracts([scenario], [scenario], job, {}, machine=False)
    with pytest.raises(ValidationError, match=r"one \(image debian:12\): the profile `machine` .*machine_profile=1"):
        check_contracts([scenario], [scenario], job, {}, machine=False)
    return check_contracts([scenario], [scenario], SandboxSpec(), {}, machine=False)  # the default image has one


async def test_who_may_have_machines() -> None:
    """Everybody on an embedded node, and on a server whom its operator allows it."""

    async def limits_of(workspace: str) -> WorkspaceLimits:
        return WorkspaceLimits(machine_profile=int(workspace == "trusted"))

    slots = Slots(1)
    assert await JobAdmission(None, slots).may_be_machine("any")
    admission = JobAdmission(limits_of, slots)
    assert [await admission.may_be_machine(name) for name in ("trusted", "other")] == [True, False]
