"""What is sent into a template: it loads in a bare interpreter, whichever version that is, and depends on nothing."""

from __future__ import annotations

import ast
import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

import harena
from harena.runtime.spawner import guest_modules as guest

SOURCE = Path(harena.__file__).parent


def path_of(module: str) -> Path:
    return SOURCE.joinpath(*module.split(".")[1:]).with_suffix(".py")


@pytest.mark.cheap
@pytest.mark.parametrize("module", guest.MODULES)
def test_guest_modules_import_only_each_other_and_the_standard_library(module: str) -> None:
    """Nothing of the real package, and nothing that has to be installed, exists in an image."""
    tree = ast.parse(path_of(module).read_text(encoding="utf-8"))
    before = guest.MODULES[: guest.MODULES.index(module)]
    for node in ast.walk(tree):
        # what a function imports is there by the time it is called; what is imported for types never is
        known = before if node in tree.body else guest.MODULES
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name.startswith("harena.") else node.module or "" for name in names]
        else:
            continue
        for name in names:
            if name.startswith("harena"):
                found = [other for other in known if name == other or name.startswith(other + ".")]
                assert found, f"{module} imports {name}, which is not loaded before it"
            else:
                assert name.partition(".")[0] in sys.stdlib_module_names, f"{module} imports {name}"


def load(python: str, bundle: bytes, code: str) -> subprocess.CompletedProcess[str]:
    """Run the bootstrap in a bare interpreter up to where it would serve, then `code`."""
    read_end = os.memfd_create("bundle", 0)
    os.write(read_end, bundle)
    os.lseek(read_end, 0, os.SEEK_SET)
    program = guest.BOOTSTRAP.replace("execute(serve()())\n", code)
    assert program != guest.BOOTSTRAP
    try:
        return subprocess.run(
            [python, "-I", "-S", "-c", f"import os; os.dup2({read_end}, 4)\n" + program],
            pass_fds=[read_end], capture_output=True, text=True, check=False, cwd="/", env={},
        )  # fmt: skip
    finally:
        os.close(read_end)


CHECK = (
    "import sys\n"
    "print(serve.__module__, execute.__module__)\n"
    "print(sorted(name for name in sys.modules if name.startswith('harena')))\n"
    "print(getattr(sys.modules['harena'], '__file__', None), sys.modules['harena.runtime.guest.init'].__file__)\n"
)


@pytest.mark.parametrize("compiled", [True, False], ids=["same version", "another version"])
def test_the_bootstrap_loads_all_modules(compiled: bool) -> None:
    """Compiled where the versions agree, from source where they do not: the same modules either way."""
    bundle = guest.bundle()
    if not compiled:
        loader, modules = bundle[: len(guest.LOADER)], bundle[len(guest.LOADER) :]
        _magic, code, sources = marshal.loads(modules)
        bundle = loader + marshal.dumps((b"none", code, sources), 2)
    result = load(sys.executable, bundle, CHECK)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "harena.runtime.guest.template harena.runtime.guest.warm"
    packages = ["harena", *(f"harena.runtime{room}" for room in ("", ".kernel", ".guest", ".fast_path"))]
    assert lines[1] == repr(sorted([*packages, *guest.MODULES]))
    assert lines[2] == "None <harena.runtime.guest.init>"


def test_the_bundle_holds_no_path_of_this_machine() -> None:
    """Tracebacks inside a sandbox must not tell where harena is installed."""
    assert str(SOURCE).encode() not in guest.bundle()
    assert os.path.expanduser("~").encode() + b"/" not in guest.bundle()


def test_compiled_code_carries_no_docstrings() -> None:
    """Every sandbox is a copy of what is loaded here."""
    _magic, compiled, _sources = marshal.loads(guest.bundle()[len(guest.LOADER) :])
    for name, code in marshal.loads(compiled):
        first = ast.get_docstring(ast.parse(path_of(name).read_text(encoding="utf-8"))) or ""
        assert first
        assert first not in code.co_consts


def test_the_bundle_is_made_once() -> None:
    """Templates of one spawner share it."""
    assert guest.bundle() is guest.bundle()
