"""What the doctor says of a pod and its cloud: a pure function of what was read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from harena.runtime.host.cluster import CLOUDS, NEEDED, ClusterFacts, _file_system, cloud_of, examine, judge
from harena.runtime.host.doctor import Finding
from harena.runtime.host.doctor import judge as judge_host
from harena.runtime.host.host_facts import HostFacts

GOOD = judge_host(HostFacts())
BROKEN = [Finding(name="fresh /proc", ok=False, detail="covered", fix="unmask")]
DEPLOY = Path(__file__).parents[3] / "deploy"


def found(host: list[Finding] | None = None, **facts: Any) -> dict[str, Finding]:
    return {one.name: one for one in judge(ClusterFacts(**facts), GOOD if host is None else host)}


def test_a_pod_of_the_chart_has_nothing_to_change() -> None:
    assert [one for one in found().values() if one.ok is not True or one.fix] == []


@pytest.mark.parametrize(
    ("cloud", "facts"),
    [
        ("gke", {"kernel": "6.6.56-gke.1", "vendor": "Google Google Compute Engine"}),
        ("gke", {"vendor": "Google Google Compute Engine"}),
        ("eks", {"kernel": "6.1.119-129.201.amzn2023.x86_64"}),
        ("eks", {"vendor": "Amazon EC2 m7i.large"}),
        ("aks", {"kernel": "6.8.0-1021-azure"}),
        ("aks", {"vendor": "Microsoft Corporation Virtual Machine"}),
        ("openshift", {"openshift": True, "vendor": "Amazon EC2"}),
        ("kubernetes", {"kernel": "6.12.0", "vendor": "Supermicro"}),
    ],
)
def test_each_cloud_is_told_what_it_needs(cloud: str, facts: dict[str, Any]) -> None:
    assert cloud_of(ClusterFacts(**facts)) == cloud
    told = found(BROKEN, **facts)["cluster"]
    assert (told.ok, told.fix) == (False, CLOUDS[cloud])
    assert "fresh /proc" in told.detail


@pytest.mark.parametrize(
    ("name", "ok", "says", "facts"),
    [
        ("pod's users", None, "hostUsers: false", {"mapped_ids": 1 << 32}),
        ("pod's users", None, "kernel >= 6.3", {"kernel": "5.15.0-gke"}),
        ("capabilities", False, "SETFCAP", {"bounding": 0}),
        ("capabilities", None, "KILL", {"bounding": ClusterFacts().bounding & ~(1 << 5)}),
        ("capabilities", None, "drop all", {"bounding": (1 << 41) - 1, "mapped_ids": 1 << 32}),
        ("capabilities", None, "runAsUser: 0", {"uid": 1000}),
        ("API token", None, "automountServiceAccountToken", {"has_token": True}),
        ("home's volume", False, "block volume", {"home_kind": "nfs4"}),
        ("home's volume", None, "a volume at", {"home_kind": "overlay"}),
    ],
)
def test_what_is_missing_is_said_with_what_to_change(
    name: str, ok: bool | None, says: str, facts: dict[str, Any]
) -> None:
    told = found(**facts)[name]
    assert told.ok is ok
    assert says in told.fix


def test_cgroups_that_cannot_be_written() -> None:
    told = found([Finding(name="limit: memory", ok=None, detail="not enforced")])["pod's cgroups"]
    assert (told.ok, "cgroup_writable" in told.fix) == (None, True)


def test_this_process_can_be_examined(tmp_path: Path) -> None:
    facts = examine(tmp_path / "home")
    assert facts.mapped_ids > 0
    assert facts.home_kind
    assert "home" in {one.name.partition("'")[0] for one in judge(facts, GOOD)}


def test_the_file_system_of_a_place() -> None:
    """The nearest mount point decides, and not one whose name only begins alike."""
    lines = (
        "1 0 0:1 / / rw - overlay overlay rw\n"
        "2 1 0:2 / /var/lib/harena rw - ext4 /dev/sdb rw\n"
        "3 1 0:3 / /var/lib/har rw - nfs4 server:/ rw\n"
    )
    assert _file_system(Path("/var/lib/harena/home"), lines) == "ext4"
    assert _file_system(Path("/var/lib/elsewhere"), lines) == "overlay"


def test_unit_chart_and_compose_name_the_same_capabilities() -> None:
    """And the doctor asks for the same."""
    chart = yaml.safe_load((DEPLOY / "helm/harena/values.yaml").read_text())
    compose = yaml.safe_load((DEPLOY / "compose/compose.yaml").read_text())
    [line] = [
        line.partition("=")[2].split()
        for line in (DEPLOY / "systemd/harena.service").read_text().splitlines()
        if line.startswith("CapabilityBoundingSet=")
    ]
    assert sorted(chart["capabilities"]) == sorted(NEEDED)
    assert sorted(compose["services"]["server"]["cap_add"]) == sorted(NEEDED)
    assert sorted(name.removeprefix("CAP_") for name in line) == sorted(NEEDED)
