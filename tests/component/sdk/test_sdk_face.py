"""`import harena`, and harena under other names."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from sdk_fake_node import NodeControl

import harena
from harena import alias_modules
from harena.core.errors import PlatformError, ValidationError


@pytest.fixture
def no_aliases() -> Iterator[None]:
    names = [*alias_modules.NAMES, "harena.aliases"]
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    yield
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)


def test_every_name_of_the_face_is_there() -> None:
    """And the list of names is the whole face."""
    for name in harena.__all__:
        assert getattr(harena, name) is not None
    assert set(harena.__all__) <= set(dir(harena))
    with pytest.raises(AttributeError, match="no attribute 'Sandboxx'"):
        _ = harena.Sandboxx


def test_a_name_has_one_home() -> None:
    """The face loads a name from the module that editors and type checkers are told, which for a class or a function
    is the module that defines it."""
    told = {
        alias.name: node.module
        for face in (harena, harena.nouns)
        for block in ast.parse(Path(str(face.__file__)).read_text()).body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is not None
    }
    assert told == harena._HOME_OF
    for name, home in harena._HOME_OF.items():
        if isinstance(value := getattr(harena, name), type | types.FunctionType):
            assert value.__module__ == home, name


def test_importing_is_light() -> None:
    """No event loop, no third-party module, and far less than 150 ms of processor time."""
    script = """
import sys, time
before, began = set(sys.modules), time.process_time()
import harena
spent = time.process_time() - began
added = {name.partition(".")[0] for name in set(sys.modules) - before}
print(spent < 0.1, "asyncio" in sys.modules, sorted(added - set(sys.stdlib_module_names) - {"harena"}))
from harena import Sandbox, Session, wait, benchmark_jobs
added = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(added - set(sys.stdlib_module_names) - {"harena"}))
"""
    ended = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout == "True False []\n[]\n"


@pytest.mark.parametrize(
    ("address", "error", "says"),
    [
        ("example.test:1", ValidationError, "HARENA_BASE_URL"),
        ("http://127.0.0.1:99999", ValidationError, "HARENA_BASE_URL"),
        ("http://127.0.0.1:port", ValidationError, "HARENA_BASE_URL"),
        ("http://[::1", ValidationError, "HARENA_BASE_URL"),
        ("http://127.0.0.1:1", PlatformError, "harena serve"),
    ],
)
def test_an_address_of_a_server_is_not_ignored(
    node: NodeControl, monkeypatch: pytest.MonkeyPatch, address: str, error: type[Exception], says: str
) -> None:
    """Running somewhere else than was asked for would be worse than not running."""
    monkeypatch.setenv("HARENA_BASE_URL", address)
    from harena.sdk import transport

    transport.set_factory(harena._open_node)
    with pytest.raises(error, match=says) as raised:
        harena.Sandbox.run().wait()
    assert raised.value.__cause__ is None, "what a user reads is one traceback"
    assert raised.value.__context__ is None or raised.value.__suppress_context__


def test_scenario_files_and_the_host_are_checked_without_a_node() -> None:
    """What the command line shows: findings, mistakes with their places, and the schema."""
    assert {"name", "ok", "detail", "fix"} <= set(dir(harena.doctor()[0]))
    with pytest.raises(ValidationError, match="nothing was run"):
        harena.load_scenarios([{"id": 3}])
    assert "$defs" in harena.scenario_schema()


@pytest.mark.usefixtures("no_aliases")
def test_aliases_are_other_names_of_the_same_things(node: NodeControl) -> None:
    """The imports of the guides, as printed."""
    assert importlib.import_module("harena.aliases").installed == ["aviato", "cwsandbox", "runloop", "dreadnode"]
    import aviato  # type: ignore[import-not-found]
    import cwsandbox  # type: ignore[import-not-found]
    import runloop  # type: ignore[import-not-found]
    from cwsandbox import Sandbox, SandboxDefaults, SandboxFileError, SandboxStatus, SandboxTimeoutError, Session

    assert (Sandbox, Session, SandboxDefaults) == (harena.Sandbox, harena.Session, harena.SandboxDefaults)
    assert (SandboxTimeoutError, SandboxFileError, SandboxStatus) == (
        harena.SandboxTimeoutError,
        harena.SandboxFileError,
        harena.SandboxStatus,
    )
    assert (aviato.wait, aviato.result, aviato.get) == (harena.wait, harena.result, harena.get)
    assert (aviato.AviatoError, cwsandbox.CWSandboxError) == (harena.HarenaError, harena.HarenaError)
    assert cwsandbox.CWSandboxValidationError is harena.ValidationError
    assert runloop.blueprints is harena.blueprints
    assert runloop.benchmark_jobs is harena.benchmark_jobs
    assert "CWSandboxError" in dir(cwsandbox)
    with pytest.raises(AttributeError, match=r"nothing for cwsandbox\.NetworkOptions"):
        _ = cwsandbox.NetworkOptions
    with pytest.raises(ImportError):
        from cwsandbox import Secret  # noqa: F401
    assert harena.install_aliases("aviato") == ("aviato",)
    assert sys.modules["aviato"] is aviato


@pytest.mark.usefixtures("no_aliases")
def test_a_really_installed_package_is_not_hidden_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only by force; importing the aliases leaves it alone, and says so."""
    real = types.ModuleType("runloop")
    monkeypatch.setitem(sys.modules, "runloop", real)
    with pytest.raises(ValidationError, match="force=True"):
        harena.install_aliases("aviato", "runloop")
    assert "aviato" not in sys.modules
    with pytest.warns(UserWarning, match="'runloop' is installed"):
        aliases = importlib.import_module("harena.aliases")
    assert aliases.installed == ["aviato", "cwsandbox", "dreadnode"]
    assert sys.modules["runloop"] is real
    harena.install_aliases("runloop", force=True)
    assert sys.modules["runloop"].Sandbox is harena.Sandbox


@pytest.mark.usefixtures("no_aliases")
def test_an_unknown_alias_is_told() -> None:
    """With those that exist."""
    with pytest.raises(ValidationError, match="aviato, cwsandbox, runloop"):
        harena.install_aliases("modal")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        harena.install_aliases()
    assert {"aviato", "cwsandbox", "runloop"} <= set(sys.modules)
