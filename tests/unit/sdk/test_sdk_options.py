"""What a sandbox can be asked to be, and how mistakes are told."""

from __future__ import annotations

import contextlib
import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sdk_fake_node import NodeControl

from harena import Limits, ResourceOptions, Sandbox, SandboxDefaults, Session
from harena.core.errors import SandboxValidationError, ValidationError
from harena.core.models import MIB
from harena.core.records.blueprints import Blueprint
from harena.core.settings import SETTINGS
from harena.sdk import options, quantities, server_choice
from harena.sdk.defaults import FIELD_NAMES, as_defaults


@pytest.mark.parametrize(
    ("text", "amount"),
    [("2", 2.0), ("500m", 0.5), (0.25, 0.25), (3, 3.0), ("0.1", 0.1), ("250000u", 0.25), ("1e1", 10.0)],
)
def test_cores(text: str | float, amount: float) -> None:
    """Kubernetes writes half a core as 500m."""
    assert quantities.cores(text) == amount


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("512Mi", 512 * MIB),
        ("1G", 10**9),
        ("1Gi", 2**30),
        (1024, 1024),
        ("1.5Ki", 1536),
        ("1k", 1000),
        ("100m", 1),
        ("1e3", 1000),
    ],
)
def test_sizes(text: str | int, amount: int) -> None:
    """Decimal and binary suffixes; parts of a byte are rounded up."""
    assert quantities.size_bytes(text) == amount


@pytest.mark.parametrize("text", ["", "0", "-1", "1KB", "Mi", "1 Gi", "1gi", True, None, [], "nan", "inf", 0, "1e"])
def test_what_is_no_amount(text: Any) -> None:
    """The message names the field and shows what was given."""
    with pytest.raises(SandboxValidationError, match="memory must be a positive amount"):
        quantities.size_bytes(text)


@given(st.text(max_size=12))
def test_any_text_is_an_amount_or_a_clear_error(text: str) -> None:
    """Nothing else escapes."""
    with contextlib.suppress(SandboxValidationError):
        assert quantities.cores(text) > 0


@pytest.mark.parametrize(
    ("given_name", "meant"),
    [
        ("tag", "tags"),
        ("image", "container_image"),
        ("env", "environment_variables"),
        ("working_directory", "working_dir"),
    ],
)
def test_an_unknown_name_is_a_type_error_that_names_the_nearest(node: NodeControl, given_name: str, meant: str) -> None:
    """The same for every way to make a sandbox."""
    session = Session()
    makers: list[Any] = [
        Sandbox.run,
        Sandbox,
        session.sandbox,
        SandboxDefaults,
        lambda **given: Sandbox.run_many(1, **given),
        lambda **given: session.function(**given)(_nothing),
    ]
    for make in makers:
        with pytest.raises(TypeError, match=f"did you mean '{meant}'"):
            make(**{given_name: "x"})


def _nothing() -> None:
    """A function to send."""


def test_a_name_near_to_nothing_lists_what_there_is(node: NodeControl) -> None:
    """Better than a bare refusal."""
    with pytest.raises(TypeError, match="valid names are annotations, args"):
        Sandbox.run(zzzzzz=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", sorted(options.NOT_SUPPORTED))
def test_what_has_no_meaning_on_one_machine_is_refused(node: NodeControl, name: str) -> None:
    """Not ignored; None, which asks for nothing, is fine."""
    with pytest.raises(SandboxValidationError, match=f"{name} is not supported here"):
        Sandbox.run(**{name: ["x"]})  # type: ignore[arg-type]
    with pytest.raises(SandboxValidationError, match=f"{name} is not supported here"):
        SandboxDefaults(**{name: ["x"]})
    Sandbox.run(**{name: None}).wait()  # type: ignore[arg-type]


def test_what_tunes_a_remote_client_is_accepted(node: NodeControl) -> None:
    """Programs written for one run unchanged."""
    Sandbox.run(auth=object(), poll_retry_budget_seconds=1.0).wait()
    SandboxDefaults(base_url="https://example.test", create_retry_budget_seconds=3)


@pytest.fixture
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing names a server before the test, nor after it."""
    for setting in SETTINGS:
        if setting.name.endswith(("_BASE_URL", "_API_KEY", "_SERVER")):
            monkeypatch.delenv(setting.name, raising=False)
    for name, value in (("_installed", {}), ("_named", None), ("_key", None), ("_may_be_renamed", False)):
        monkeypatch.setattr(server_choice, name, value)
    for name, value in (("_in_use", None), ("_is_embedded", False)):
        monkeypatch.setattr(server_choice, name, value)


@pytest.mark.usefixtures("_no_server")
def test_a_server_that_a_call_names(node: NodeControl, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the process's server; a second one is an error, and so is one that comes too late."""
    Sandbox(base_url="https://example.test")
    assert server_choice.chosen() == ("https://example.test", None, "base_url")
    Sandbox(defaults=SandboxDefaults(base_url="https://example.test/"))  # the same one
    for call in (Sandbox, Sandbox.list, lambda **more: Sandbox.from_id("sb", **more)):
        with pytest.raises(SandboxValidationError, match=r"http://other.*https://example\.test \(base_url\)"):
            call(base_url="http://other")  # type: ignore[operator]
    server_choice.opened(server_choice.chosen())
    server_choice.closed()  # as by `harena.shutdown()`, or in the child of a fork
    assert server_choice.chosen() == ("https://example.test", None, "base_url"), "it is not silently here"
    Sandbox(base_url="http://other")
    assert server_choice.chosen() == ("http://other", None, "base_url")
    monkeypatch.setenv("HARENA_BASE_URL", "http://127.0.0.1:1/")
    Sandbox(base_url="http://127.0.0.1:1")
    with pytest.raises(SandboxValidationError, match="HARENA_BASE_URL"):
        Sandbox(base_url="https://example.test")
    monkeypatch.delenv("HARENA_BASE_URL")
    monkeypatch.setattr(server_choice, "_named", None)
    server_choice.opened(None)
    with pytest.raises(SandboxValidationError, match="node of its own by now"):
        Sandbox.delete("sb", base_url="https://example.test")


@pytest.mark.usefixtures("_no_server")
def test_variables_of_other_clients_count_for_their_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where their names are installed, and HARENA_BASE_URL says nothing; a key alone never runs here silently."""
    monkeypatch.setenv("CWSANDBOX_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("CWSANDBOX_API_KEY", "hk_theirs")
    assert server_choice.chosen() is None
    server_choice.read_variables_of("cwsandbox")
    assert server_choice.chosen() == ("http://127.0.0.1:1", "hk_theirs", "CWSANDBOX_BASE_URL")
    monkeypatch.setenv("HARENA_API_KEY", "hk_ours")
    assert server_choice.chosen() == ("http://127.0.0.1:1", "hk_ours", "CWSANDBOX_BASE_URL")
    server_choice.read_variables_of("runloop")
    monkeypatch.setenv("RUNLOOP_BASE_URL", "http://127.0.0.1:2")
    with pytest.raises(ValidationError, match=r"CWSANDBOX_BASE_URL=.* and RUNLOOP_BASE_URL="):
        server_choice.chosen()
    monkeypatch.setenv("HARENA_BASE_URL", "http://127.0.0.1:3")
    assert server_choice.chosen() == ("http://127.0.0.1:3", "hk_ours", "HARENA_BASE_URL")
    for name in ("HARENA_BASE_URL", "RUNLOOP_BASE_URL", "CWSANDBOX_BASE_URL"):
        monkeypatch.delenv(name)
    with pytest.warns(UserWarning, match=r"CWSANDBOX_API_KEY is set and CWSANDBOX_BASE_URL is not"):
        server_choice.opened(None)


def _limits(**given_options: Any) -> Limits:
    return options.plan(SandboxDefaults(), given_options, "test").spec.limits  # type: ignore[arg-type]


def test_resources_in_each_form() -> None:
    """Flat, with limits, as an object, and on top of limits."""
    assert _limits(resources={"cpu": 2, "memory": "1Gi"}).cpu == 2
    assert _limits(resources={"limits": {"memory": "1Gi"}, "requests": {"memory": "1Gi"}}).memory_bytes == 2**30
    assert _limits(resources=ResourceOptions(limits={"ephemeral-storage": "1Mi"})).disk_bytes == MIB
    both = _limits(resources={"cpu": 1}, limits={"pids": 10}, max_lifetime_seconds=5)
    assert (both.cpu, both.pids, both.lifetime_seconds) == (1, 10, 5)
    assert _limits(limits=Limits(memory_bytes=None)).memory_bytes is None
    assert _limits() == Limits()


@pytest.mark.parametrize(
    ("given_options", "message"),
    [
        ({"resources": {"memory": "a lot"}}, "memory must be"),
        ({"resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}}, "requests ask for more cpu"),
        ({"resources": {"limits": {}, "gpu": {"count": 1}}}, "gpu is not supported"),
        ({"resources": "2"}, "must be a mapping"),
        ({"limits": {"pids": 0}}, "pids must be"),
        (
            {"limits": {"memory_bytes": 64 * MIB}, "resources": {"memory": "128Mi"}},
            "different things about memory_bytes",
        ),
        ({"max_lifetime_seconds": -1}, "max_lifetime_seconds"),
        ({"working_dir": "data"}, "working_dir"),
        ({"container_image": ""}, "container_image"),
        ({"tags": "x"}, "not one text"),
        ({"tags": [1]}, "tags"),
        ({"environment_variables": {"A": 1}}, "environment_variables"),
        ({"annotations": {"A": 1}}, "annotations"),
        ({"mounted_files": [{"path": "/x"}]}, "mount_path"),
        ({"mounted_files": {"x": b""}}, "absolute"),
        ({"mounted_files": {"/x": 1}}, "must be bytes"),
        ({"args": "ls -l"}, "not text"),
        ({"request_timeout_seconds": 0}, "request_timeout_seconds"),
    ],
)
def test_bad_values_are_told_by_field(given_options: Any, message: str) -> None:
    """Before anything is started."""
    with pytest.raises(SandboxValidationError, match=message):
        _limits(**given_options)


def test_misspelt_limits_and_resources_are_type_errors() -> None:
    """With the nearest name."""
    with pytest.raises(TypeError, match="'memory_bytes'"):
        _limits(limits={"memory_byte": 1})
    with pytest.raises(TypeError, match="'memory'"):
        _limits(resources={"limits": {"memroy": 1}})


def test_files_in_each_form_and_a_blueprint_as_an_object() -> None:
    """A mapping is enough; text is UTF-8."""
    plan = options.plan(
        SandboxDefaults(blueprint="other"),
        {"mounted_files": {"/a": "ü"}, "blueprint": Blueprint(id="bp-1", name="n")},
        "t",
    )
    assert (plan.spec.files, plan.spec.blueprint, plan.main) == ({"/a": "ü".encode()}, "bp-1", None)


def test_the_main_command_from_command_and_args() -> None:
    """From the options, else from the defaults."""
    defaults = SandboxDefaults(command="sleep", args=("5",))
    assert options.plan(defaults, {}, "t").main == ("sleep", "5")
    assert options.plan(SandboxDefaults(), {"args": ["ls", "-l"]}, "t").main == ("ls", "-l")


def test_defaults_merge() -> None:
    """Tags once each, explicit values win, and the defaults themselves stay what they are."""
    defaults = SandboxDefaults(tags=["a", "b"], environment_variables={"X": "1"}, annotations={"k": "1"})  # type: ignore[arg-type]
    assert defaults.merge_tags(["b", "c"]) == ["a", "b", "c"]
    assert defaults.merge_tags(None) == ["a", "b"]
    assert defaults.merge_environment_variables({"X": "2", "Y": "3"}) == {"X": "2", "Y": "3"}
    assert defaults.merge_annotations({"k": "2"}) == {"k": "2"}
    changed = defaults.with_overrides(tags=("z",), container_image="python:3.13")
    assert (changed.tags, changed.container_image, defaults.tags) == (("z",), "python:3.13", ("a", "b"))
    with pytest.raises(TypeError, match="container_image"):
        defaults.with_overrides(containerimage="x")
    with pytest.raises(AttributeError):
        defaults.tags = ()  # type: ignore[misc]


def test_defaults_from_mappings() -> None:
    """None means not given, unknown names are told, and other things are refused."""
    assert SandboxDefaults.from_dict(None) == SandboxDefaults()
    assert SandboxDefaults.from_dict({"tags": ["a"], "working_dir": None}).tags == ("a",)
    assert as_defaults({"temp_dir": "/data"}).temp_dir == "/data"
    with pytest.raises(TypeError, match="'tags'"):
        SandboxDefaults.from_dict({"tgas": 1})
    with pytest.raises(SandboxValidationError, match="defaults must be"):
        as_defaults("x")  # type: ignore[arg-type]
    with pytest.raises(SandboxValidationError, match="temp_dir"):
        SandboxDefaults(temp_dir="tmp")


def test_defaults_survive_copying_and_pickling() -> None:
    """As configurations do."""
    defaults = SandboxDefaults(tags=("a",), resources={"cpu": 1})
    assert copy.deepcopy(defaults) == defaults
    assert pickle.loads(pickle.dumps(defaults)) == defaults


def test_every_option_has_a_default_or_is_for_one_sandbox_only() -> None:
    """The two lists cannot drift apart."""
    assert {"mounted_files", "snapshot"} == options.OPTION_NAMES - FIELD_NAMES
    assert {"temp_dir"} == FIELD_NAMES - options.OPTION_NAMES


def test_a_blueprint_gives_way_to_an_image_that_is_said_nearer() -> None:
    """That of the defaults does, and one beside a snapshot is refused: a sandbox begins with the files of one."""
    defaults = SandboxDefaults(blueprint="torch")
    asked = [options.plan(defaults, given, "here").spec for given in ({}, {"container_image": "a"}, {"snapshot": "s"})]
    assert [(spec.image, spec.blueprint) for spec in asked] == [
        *(("default", "torch"), ("a", None), ("snapshot://s", None)),
    ]
    with pytest.raises(SandboxValidationError, match="here: both blueprint and snapshot are given"):
        options.plan(SandboxDefaults(), {"blueprint": "torch", "snapshot": "s"}, "here")
