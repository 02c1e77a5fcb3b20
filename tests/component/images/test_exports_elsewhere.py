"""What other tools read of exported images, blueprints and snapshots: skopeo as Docker and podman do, and umoci."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from image_world import needed

import harena

RECIPE = """\
FROM scratch
COPY f /srv/f
ENV WORD="two words"
WORKDIR /srv
USER 7:8
ENTRYPOINT ["/srv/f"]
CMD ["-v"]
EXPOSE 80
LABEL who=me
STOPSIGNAL SIGINT
"""
SAYS = {
    "Env": ["WORD=two words"],
    "WorkingDir": "/srv",
    "User": "7:8",
    "Entrypoint": ["/srv/f"],
    "Cmd": ["-v"],
    "ExposedPorts": {"80/tcp": {}},
    "Labels": {"who": "me"},
    "StopSignal": "SIGINT",
}
FORMS = {"docker": "docker-archive", "oci": "oci-archive"}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with archives of one image and of a blueprint and a snapshot that are made of it, in both forms."""
    needed("skopeo")
    place = tmp_path_factory.mktemp("exported")
    (place / "context").mkdir()
    (place / "context/Dockerfile").write_text(RECIPE)
    (place / "context/f").write_text("file")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARENA_HOME", str(place / "home"))
        harena.images.build(place / "context", tags=["localhost/made:1"])
        recipe = {"name": "made", "base": "localhost/made:1", "files": {"/srv/more": "more"}, "env": {"MORE": "m"}}
        harena.blueprints.build(recipe)
        with harena.Sandbox.run(container_image="localhost/made:1") as sandbox:
            sandbox.write_file("/srv/written", b"written").result()
            sandbox.snapshot(name="made").result()
        for form in FORMS:
            harena.images.export_archive("localhost/made:1", place / f"image.{form}.tar", form=form)
            harena.blueprints.export_archive("made", place / f"blueprint.{form}.tar", form=form)
            harena.snapshots.export_archive("made", place / f"snapshot.{form}.tar", form=form)
        harena.snapshots.delete("made")
    return place


def skopeo(*words: str) -> str:
    """What it says."""
    ended = subprocess.run(["skopeo", *words], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def config(of: Path, form: str) -> dict[str, Any]:
    """The configuration of an archive's image, which is that of its layers."""
    told: dict[str, Any] = json.loads(skopeo("inspect", "--config", f"{FORMS[form]}:{of}"))
    return told


@pytest.mark.parametrize("form", FORMS)
def test_an_image(exported: Path, form: str) -> None:
    told = config(exported / f"image.{form}.tar", form)
    assert told["config"] == SAYS
    assert (told["os"], told["rootfs"]["type"]) == ("linux", "layers")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("what", "file", "text"), [("blueprint", "more", "more"), ("snapshot", "written", "written")])
def test_layers_are_those_of_the_configuration(
    exported: Path, tmp_path: Path, form: str, what: str, file: str, text: str
) -> None:
    """What is copied on has the files, and each layer the digest that the configuration names."""
    archive = exported / f"{what}.{form}.tar"
    skopeo("--insecure-policy", "copy", "--dest-decompress", f"{FORMS[form]}:{archive}", f"dir:{tmp_path}")
    told = config(archive, form)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    found: dict[str, str] = {}
    digests = []
    for layer in manifest["layers"]:
        path = tmp_path / layer["digest"].removeprefix("sha256:")
        digests.append(f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}")
        with tarfile.open(path) as members:
            found |= {one.name: members.extractfile(one).read().decode() for one in members if one.isreg()}  # type: ignore[union-attr]
    assert digests == told["rootfs"]["diff_ids"]
    assert (found["srv/f"], found[f"srv/{file}"]) == ("file", text)
    assert ("MORE=m" in told["config"]["Env"]) == (what == "blueprint")


def test_the_name_of_an_image_for_docker(exported: Path) -> None:
    """`docker load` gives the image this name."""
    assert json.loads(skopeo("list-tags", f"docker-archive:{exported / 'image.docker.tar'}"))["Tags"] == [
        "localhost/made:1"
    ]


def test_umoci_unpacks_a_layout(exported: Path, tmp_path: Path) -> None:
    if shutil.which("umoci") is None:
        pytest.skip("this machine has no umoci")
    with tarfile.open(exported / "image.oci.tar") as archive:
        archive.extractall(tmp_path / "layout", filter="data")
    rootless = [] if os.geteuid() == 0 else ["--rootless"]
    words = ["umoci", "unpack", *rootless, "--image", f"{tmp_path / 'layout'}:1", str(tmp_path / "bundle")]
    subprocess.run(words, check=True, capture_output=True)
    assert (tmp_path / "bundle/rootfs/srv/f").read_text() == "file"
