"""The doctor: what it says about hosts that we have met, from simulated answers, and about the one it runs on."""

from __future__ import annotations

import errno
import os

import pytest

from harena.runtime.host import host_facts, probes
from harena.runtime.host.doctor import Finding, judge, report, usable
from harena.runtime.host.host_facts import HostFacts
from harena.runtime.host.mechanisms import TESTED, Interpreter


def steps(**codes: int) -> dict[str, int]:
    """Everything works but these."""
    return dict.fromkeys(probes.STEPS, 0) | codes


def steps_until(last: str, **codes: int) -> dict[str, int]:
    """Nothing was reached after `last`, but these."""
    reached = probes.STEPS[: probes.STEPS.index(last) + 1]
    return dict.fromkeys(reached, 0) | codes


def findings(facts: HostFacts) -> dict[str, Finding]:
    found = {finding.name: finding for finding in judge(facts)}
    assert len(found) == len(judge(facts))
    return found


def broken(facts: HostFacts) -> dict[str, Finding]:
    return {name: finding for name, finding in findings(facts).items() if finding.ok is not True}


def test_a_good_host_has_nothing_to_fix() -> None:
    """Every finding is positive and none asks for a change."""
    found = findings(HostFacts())
    assert broken(HostFacts()) == {}
    assert not any(finding.fix for finding in found.values())
    assert usable(list(found.values()))


def test_every_problem_comes_with_what_to_change() -> None:
    """A host where nothing works: no finding without a fix, but for those that were not tried."""
    facts = HostFacts(
        kernel="4.19.0",
        steps=dict.fromkeys(("clone3", "pidfd", "close_range", "seccomp_filter", "user_namespace"), errno.EPERM),
        enforcement=dict.fromkeys(("memory_bytes", "pids", "cpu"), "not enforced: nothing mounted"),
        cgroup_fix="mount them",
        open_files=1024,
        sysctls={"fs.epoll.max_user_watches": 5_491_511, "vm.overcommit_memory": 2},
        missing_devices=("/dev/null",),
        python=(3, 9),
        landlock=0,
        interpreter=Interpreter(cache_tag="cpython-39", bytecode=3425),
    )
    assert set(broken(facts)) == set(findings(facts))
    for name, finding in broken(facts).items():
        assert finding.fix or finding.detail.startswith("not tried"), name


def test_ubuntu_24_04_names_the_apparmor_setting() -> None:
    """User namespaces can be made there, and give no privilege inside."""
    facts = HostFacts(
        sysctls={"kernel.apparmor_restrict_unprivileged_userns": 1, "user.max_user_namespaces": 63000},
        steps=steps_until(
            "namespaces", identity_map=errno.EPERM, identity_map_from_outside=0, mount_private=errno.EACCES
        ),
    )
    found = broken(facts)
    assert found["user namespaces"].ok is False
    assert "kernel.apparmor_restrict_unprivileged_userns=0" in found["user namespaces"].fix
    assert "AppArmor" in found["user namespaces"].detail
    assert "apparmor_restrict" in found["mounts"].fix
    assert not usable(judge(facts))


def test_an_old_landlock_keeps_programs_out_of_no_memory() -> None:
    """It lets nobody behind it rename a file into another folder, so candidates' programs go without."""
    found = broken(HostFacts(landlock=1))
    assert list(found) == ["Landlock"]
    assert found["Landlock"].fix == "kernel >= 5.19"


def test_ubuntu_s_setting_does_not_matter_to_root() -> None:
    """Root is not restricted by it."""
    facts = HostFacts(uid=0, sysctls={"kernel.apparmor_restrict_unprivileged_userns": 1})
    assert broken(facts) == {}


def test_docker_s_default_profile_names_its_options() -> None:
    """Its seccomp filter forbids namespaces; clone3 is denied with ENOSYS."""
    facts = HostFacts(
        uid=0,
        container="docker",
        seccomp_filtered=True,
        apparmor="docker-default (enforce)",
        steps=steps_until("seccomp_filter", clone3=errno.ENOSYS, user_namespace=errno.EPERM, namespaces=errno.ENOSYS),
        enforcement=dict.fromkeys(("memory_bytes", "pids", "cpu"), "not enforced: /sys/fs/cgroup is not writable"),
        cgroup_fix="docker run --security-opt writable-cgroups=true",
    )
    found = broken(facts)
    assert "seccomp=unconfined" in found["user namespaces"].fix
    assert "apparmor=unconfined" in found["user namespaces"].fix
    assert "systempaths=unconfined" in found["user namespaces"].fix
    assert "seccomp filter" in found["clone3"].detail
    assert found["mounts"] == Finding(name="mounts", ok=None, detail="not tried: an earlier step failed")
    assert found["fresh /proc"].ok is None
    assert found["limit: memory"] == Finding(
        name="limit: memory",
        ok=None,
        detail="not enforced: /sys/fs/cgroup is not writable",
        fix="docker run --security-opt writable-cgroups=true",
    )


def test_rootless_podman_lacks_only_a_fresh_proc() -> None:
    """Its seccomp profile allows namespaces, but what covers /proc stays covered."""
    facts = HostFacts(
        uid=0,
        container="podman",
        seccomp_filtered=True,
        masked_proc=("/proc/kcore", "/proc/keys"),
        steps=steps(mount_proc=errno.EPERM),
    )
    found = broken(facts)
    assert list(found) == ["fresh /proc"]
    assert "/proc/kcore, /proc/keys" in found["fresh /proc"].detail
    assert found["fresh /proc"].fix == "podman run --security-opt unmask=ALL"


@pytest.mark.parametrize(
    ("container", "words"),
    [("docker", "systempaths=unconfined"), ("kubernetes", "procMount: Unmasked"), (None, "unmount what covers it")],
)
def test_a_covered_proc_is_explained_for_each_container_engine(container: str | None, words: str) -> None:
    """Each engine has its own word for it."""
    facts = HostFacts(container=container, steps=steps(mount_proc=errno.EPERM))
    assert words in broken(facts)["fresh /proc"].fix


def test_an_old_kernel_is_named_with_the_version_it_lacks() -> None:
    """Debian 11 has 5.10: everything but read-only trees."""
    facts = HostFacts(kernel="5.10.0-28-amd64", steps=steps(read_only_tree=errno.ENOSYS))
    found = broken(facts)
    assert found["kernel"].ok is False
    assert "5.12" in found["kernel"].fix
    assert "read only tree" in found["mounts"].detail
    assert broken(HostFacts(kernel="5.12.1+")) == {}
    assert broken(HostFacts(kernel="6.1-rc3")) == {}


@pytest.mark.parametrize(
    ("changes", "fix"),
    [
        ({"sysctls": {"user.max_user_namespaces": 0}}, "sysctl -w user.max_user_namespaces"),
        ({"sysctls": {"kernel.unprivileged_userns_clone": 0}}, "sysctl -w kernel.unprivileged_userns_clone=1"),
        ({}, "CONFIG_USER_NS"),
    ],
)
def test_forbidden_user_namespaces_name_their_setting(changes: dict[str, dict[str, int]], fix: str) -> None:
    """Three ways to forbid them, three things to change."""
    facts = HostFacts(
        steps=steps_until("seccomp_filter", user_namespace=errno.EPERM, namespaces=errno.EPERM),
        sysctls=changes.get("sysctls", {}),
    )
    assert fix in broken(facts)["user namespaces"].fix


def test_an_exhausted_limit_of_user_namespaces_is_that_limit() -> None:
    """ENOSPC means too many, also where the setting is not zero."""
    facts = HostFacts(
        steps=steps_until("seccomp_filter", user_namespace=errno.ENOSPC, namespaces=errno.ENOSPC),
        sysctls={"user.max_user_namespaces": 4},
    )
    assert "user.max_user_namespaces is 4" in broken(facts)["user namespaces"].detail


def test_limits_that_are_not_enforced_restrict_but_do_not_forbid() -> None:
    """Sandboxes run; the finding says what does not hold."""
    enforcement = {
        "memory_bytes": "cgroup v1 memory",
        "pids": "cgroup v1 pids",
        "cpu": "not enforced: no cpu hierarchy",
    }
    facts = HostFacts(enforcement=enforcement, cgroup_fix="run as root")
    assert broken(facts) == {
        "limit: cpu": Finding(name="limit: cpu", ok=None, detail="not enforced: no cpu hierarchy", fix="run as root")
    }
    assert usable(judge(facts))


def test_what_all_sandboxes_may_have_together_is_told() -> None:
    """Beside the limits that enforce it."""
    facts = HostFacts(sums={"memory_bytes": (21 << 29, 7 << 29), "pids": (18432, 6144)})
    details = {finding.name: finding.detail for finding in judge(facts)}
    assert details["limit: memory"] == (
        "cgroup v2; all sandboxes together at most 10.5 GiB, all templates 3.5 GiB; a workspace 3/4 of each"
    )
    assert details["limit: processes"] == (
        "cgroup v2; all sandboxes together at most 18432, all templates 6144; a workspace 3/4 of each"
    )
    assert details["limit: cpu"] == "cgroup v2"


def test_a_systemd_scope_makes_up_for_cgroups_that_are_not_writable_yet() -> None:
    """The spawner will be started in one."""
    enforcement = dict.fromkeys(("memory_bytes", "pids", "cpu"), "not enforced: holds other processes")
    assert broken(HostFacts(enforcement=enforcement, delegated=True)) == {}


def test_a_bound_of_waiters_is_asked_for() -> None:
    """By default a user may have millions, and each event wakes all of them."""
    found = broken(HostFacts(sysctls={"fs.epoll.max_user_watches": 65_537}))
    assert found["epoll"].ok is None
    assert found["epoll"].fix == "sysctl -w fs.epoll.max_user_watches=65536 (as root on the host)"
    assert broken(HostFacts(sysctls={"fs.epoll.max_user_watches": 65_536})) == {}


def test_a_limit_of_commitments_of_the_whole_host_is_told() -> None:
    """Programs of sandboxes can use it up by what they map."""
    found = broken(HostFacts(sysctls={"vm.overcommit_memory": 2}))
    assert found["commitments"].ok is None
    assert found["commitments"].fix == "sysctl -w vm.overcommit_memory=0 (as root on the host)"
    assert {broken(HostFacts(sysctls={"vm.overcommit_memory": mode})) == {} for mode in (0, 1)} == {True}


def test_few_open_files_are_told_as_sandboxes() -> None:
    """The number that a person can do something with."""
    finding = broken(HostFacts(open_files=1024))["open files"]
    assert "256 sandboxes" in finding.detail
    assert finding.ok is None


def test_an_interpreter_in_a_private_directory_is_found() -> None:
    """A sandbox's user is not you: what only you can read, it cannot."""
    finding = broken(HostFacts(unreadable=("/home/me/python/lib",)))["interpreter"]
    assert finding.ok is False
    assert "chmod -R o+rX /home/me/python/lib" in finding.fix


def test_an_interpreter_that_cannot_be_shown_says_why() -> None:
    """The image's own words, and another interpreter as the way out."""
    finding = broken(HostFacts(image_problem="the interpreter does not lie below its prefix"))["interpreter"]
    assert finding.detail == "the interpreter does not lie below its prefix"
    assert "HARENA_PYTHON" in finding.fix


def test_a_machine_without_a_list_of_system_calls_is_refused() -> None:
    """No filter is worse than no sandbox."""
    assert broken(HostFacts(machine="riscv64"))["kernel"].ok is False
    assert broken(HostFacts(machine="aarch64")) == {}


def test_probes_that_could_not_run_are_not_taken_for_success() -> None:
    """No answer is not a good answer."""
    found = broken(HostFacts(steps={"probes": errno.EIO}))
    assert found["user namespaces"].ok is False
    assert found["clone3"].ok is False


def test_covered_parts_of_proc_are_read_from_mountinfo() -> None:
    """Only what lies below /proc counts, once each."""
    mountinfo = (
        "22 1 0:21 / /proc rw - proc proc rw\n"
        "40 22 0:5 /null /proc/kcore rw - tmpfs tmpfs rw\n"
        "41 22 0:5 /null /proc/kcore rw - tmpfs tmpfs rw\n"
        "42 1 0:6 / /processes rw - tmpfs tmpfs rw\n"
    )
    assert host_facts.masked_proc(mountinfo) == ("/proc/kcore",)


def test_readable_by_others_means_files_and_directories(tmp_path: os.PathLike[str]) -> None:
    """A directory needs its x bit too."""
    directory = os.path.join(tmp_path, "lib")
    os.mkdir(directory, 0o755)
    assert host_facts.readable_by_others(directory, uid=0)
    os.chmod(directory, 0o754)
    assert not host_facts.readable_by_others(directory, uid=0)
    assert not host_facts.readable_by_others(directory + "/missing", uid=0)


def test_the_real_host_is_examined_without_a_change() -> None:
    """Every decision is made from real probes, and this process stays where it was."""
    before = [os.readlink(f"/proc/self/ns/{name}") for name in ("user", "mnt", "pid", "net")]
    names = [finding.name for finding in report()]
    assert names == [finding.name for finding in judge(HostFacts())]
    assert [os.readlink(f"/proc/self/ns/{name}") for name in ("user", "mnt", "pid", "net")] == before


def test_probes_of_a_missing_interpreter_report_that_they_did_not_run() -> None:
    """An errno instead of an exception."""
    assert probes.run("/nowhere/python3") == {"probes": errno.EIO}


def test_a_host_without_tracing_is_told_what_it_costs() -> None:
    """Sandboxes run there; blueprints' modules are not kept warm."""
    facts = HostFacts(steps=steps(ptrace=errno.EPERM))
    (finding,) = broken(facts).values()
    assert (finding.name, finding.ok) == ("warm modules", None)
    assert "start for real" in finding.detail
    assert "ptrace_scope" in finding.fix
    assert usable(judge(facts))


@pytest.mark.parametrize(
    "interpreter",
    [
        Interpreter(cache_tag="cpython-399", bytecode=9999),
        Interpreter(cache_tag=TESTED[0].cache_tag, bytecode=TESTED[0].bytecode - 1),
        Interpreter(cache_tag=TESTED[0].cache_tag, bytecode=TESTED[0].bytecode, abi_flags="t"),
    ],
    ids=["another series", "one in the making", "another build"],
)
def test_an_interpreter_that_was_not_tested_is_told_with_what_is_left_out(interpreter: Interpreter) -> None:
    """Sandboxes work all the same."""
    found = broken(HostFacts(interpreter=interpreter))
    assert set(found) == {"fast starts"}
    told = found["fast starts"]
    assert told.ok is None
    assert f"{interpreter.cache_tag}{interpreter.abi_flags} with byte code {interpreter.bytecode}" in told.detail
    assert "machine_code, warm_programs, hidden_frames, warm_imports" in told.detail
    assert "cpython-311" in told.fix


def test_what_settings_switch_off_is_told() -> None:
    """With what to unset; a setting that says neither on nor off keeps harena from starting."""
    told = broken(HostFacts(switched_off=("HARENA_MADE_AHEAD", "HARENA_REHEARSALS")))["fast starts"]
    assert told.ok is None
    assert told.fix == "unset HARENA_MADE_AHEAD HARENA_REHEARSALS"
    told = broken(HostFacts(bad_setting="HARENA_MADE_AHEAD='no'"))["fast starts"]
    assert told.ok is False
    assert not usable([told])


def test_settings_of_this_process_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both in the report of the host that this runs on."""
    monkeypatch.setenv("HARENA_MADE_AHEAD", "off")
    assert host_facts.examine().switched_off == ("HARENA_MADE_AHEAD",)
    monkeypatch.setenv("HARENA_MADE_AHEAD", "no")
    assert "HARENA_MADE_AHEAD='no'" in host_facts.examine().bad_setting
