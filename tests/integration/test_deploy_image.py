"""The server's Dockerfile, built by harena itself without a daemon, upon a root of this machine's programs."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from image_trees import PROGRAMS, archive_of, put_libraries, put_modules, put_programs, put_python

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
BUILD = """
import json, os, sys, tarfile
import harena
base, context = sys.argv[1:]
harena.images.import_archive("localhost/base:1", base)
arguments = {"BASE": "localhost/base:1", "PACKAGES": "", "EXTRAS": "", "PIP_OPTIONS": "--no-deps --no-index"}
build = harena.images.build(
    context, dockerfile="deploy/image/Dockerfile", tags="localhost/harena:1", build_args=arguments,
    on_event=lambda event: print(event.text, file=sys.stderr),
)
with harena.Sandbox.run(container_image="localhost/harena:1") as sandbox:
    told = sandbox.exec(["harena", "version"]).result()
    where = sandbox.exec(["sh", "-c", "echo $HARENA_HOME; ls /tmp/wheels"]).result()
os.unlink(base)
harena.images.export_archive("localhost/harena:1", base, form="docker")
with tarfile.open(base) as archive:
    config = json.load(archive.extractfile(json.load(archive.extractfile("manifest.json"))[0]["Config"]))["config"]
print(json.dumps([told.stdout, told.stderr, where.stdout, config["Entrypoint"], config["Cmd"]]))
"""


def write_wheel(folder: Path) -> str:
    """The package as a wheel, as `pip wheel` makes it, without a network; the version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = project["version"]
    about = f"harena-{version}.dist-info"
    scripts = "".join(f"{name} = {target}\n" for name, target in project["scripts"].items())
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / f"harena-{version}-py3-none-any.whl", "w") as wheel:
        for path in sorted((ROOT / "src/harena").rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                wheel.write(path, path.relative_to(ROOT / "src"))
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: harena\nVersion: {version}\n")
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/entry_points.txt", f"[console_scripts]\n{scripts}")
        wheel.writestr(f"{about}/RECORD", "".join(f"{name},,\n" for name in [*wheel.namelist(), f"{about}/RECORD"]))
    return str(version)


def test_the_image_of_the_server(tmp_path: Path) -> None:
    """Its command is there, its home is set, and nothing of the build is left."""
    root, context = tmp_path / "root", tmp_path / "context"
    put_programs(root, (*PROGRAMS, "bash"))
    put_python(root)
    put_modules(
        root,
        [
            "pip",
            "typer",
            "shellingham",
            "typing_extensions",
            "annotated_doc",
            "annotated_types",
            "pydantic",
            "pydantic_core",
            "typing_inspection",
        ],
    )
    compiled = importlib.util.find_spec("pydantic_core._pydantic_core")
    assert compiled is not None
    assert compiled.origin is not None
    put_libraries(root, Path(compiled.origin))
    (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    (root / "tmp").mkdir(exist_ok=True)
    archive_of(root, tmp_path / "base.tar")
    version = write_wheel(context / "dist")
    (context / "deploy/image").mkdir(parents=True)
    (context / "deploy/image/Dockerfile").write_text((ROOT / "deploy/image/Dockerfile").read_text())
    ended = subprocess.run(
        [sys.executable, "-c", BUILD, str(tmp_path / "base.tar"), str(context)],
        env={**os.environ, "HARENA_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    told, problem, where, entrypoint, command = json.loads(ended.stdout)
    assert (told, where) == (f"harena {version}\n", "/var/lib/harena/home\n"), problem
    assert (entrypoint, command) == (["harena"], ["serve", "--host", "0.0.0.0"])
