"""Task directories of Harbor's shape for sandboxes of images, and the images that they name."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from battery_world import Source

from harena.core.models import SandboxSpec
from harena.core.records.images import ImageRoot
from harena.core.results import RunResult
from harena.runtime.host.linux import LinuxRuntime
from harena.scoring import StarvedError, score_scenario
from harena.scoring.formats import import_scenarios
from harena.scoring.scenario import Candidate, Scenario
from image_trees import FolderImages, image_root, put_modules, put_packages, put_python

BASE = (
    "bash", "coreutils", "dash", "debianutils", "diffutils", "findutils", "grep", "hostname", "libacl1",
    "libattr1", "libc-bin", "libc6", "libgmp10", "libmpfr6", "libpcre2-8-0", "libreadline8", "libselinux1",
    "libtinfo6", "make", "mawk", "sed", "tar", "util-linux",
)  # fmt: skip
COMPILER = (
    "binutils", "binutils-common", "binutils-x86-64-linux-gnu", "cpp-12", "gcc-12", "gcc-12-base", "libbinutils",
    "libc6-dev", "libcrypt-dev", "libctf-nobfd0", "libctf0", "libgcc-12-dev", "libgcc-s1", "libgprofng0", "libisl23",
    "libjansson4", "libmpc3", "libmpfr6", "libzstd1", "linux-libc-dev", "zlib1g",
)  # fmt: skip
PYTEST = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "py", "pygments")
RULE = '\nif [ "$ok" = 1 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n'
Files = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageTask:
    """What a task directory is made of."""

    image: str
    verifier: str
    """test.sh"""
    solution: str
    """solve.sh"""
    dockerfile: str = ""
    """what follows FROM; where it is empty, task.toml names the image, and there is no Dockerfile"""
    toml: str = ""
    """further lines of task.toml"""
    files: Files = field(default_factory=dict)

    def written(self, folder: Path) -> Path:
        """The directory."""
        environment = "" if self.dockerfile else f'[environment]\ndocker_image = "{self.image}"\n'
        files = {
            "instruction.md": "Do it.\n",
            "task.toml": f'version = "1.0"\n{self.toml}\n{environment}',
            "tests/test.sh": self.verifier,
            "solution/solve.sh": self.solution,
            **({"environment/Dockerfile": f"FROM {self.image}\n{self.dockerfile}"} if self.dockerfile else {}),
            **self.files,
        }
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder


@asynccontextmanager
async def image_source(place: Path) -> AsyncIterator[Source]:
    """A runtime with `debian` (a shell and its tools), `python` (with pytest), `c` (with gcc and make), and `settled`:
    like `python`, with a WORKDIR, variables and files of its own."""
    base, python, compiler, settled = place / "base", place / "python", place / "compiler", place / "settled"
    put_packages(base, BASE)
    (base / "etc").mkdir(exist_ok=True)
    (base / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/false\n")
    (base / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    (base / "etc/motd").write_text("of the image\n")
    (base / "usr/bin/awk").exists() or (base / "usr/bin/awk").symlink_to("mawk")
    put_python(python)
    put_modules(python, PYTEST)
    put_packages(compiler, COMPILER)
    (compiler / "usr/bin/gcc").symlink_to("gcc-12")
    for name, text in {
        "opt/venv/pyvenv.cfg": "home = /usr/bin\n",
        "opt/venv/bin/activate": "\n",
        "opt/venv/bin/check": "#!/bin/sh\nexit 0\n",
        "root/setup.sh": "\n",
        "var/lib/service/data": "0\n",
        "opt/tool/bin/answer": "#!/bin/sh\necho 42\n",
        "srv/work/data.csv": "a,1\nb,2\n",
        "srv/work/.venv/pyvenv.cfg": "home = /usr/bin\n",
        "srv/work/.venv/bin/check": '#!/bin/sh\n[ "$(cat /srv/work/sum 2>/dev/null)" = 3 ]\n',
    }.items():
        (settled / name).parent.mkdir(parents=True, exist_ok=True)
        (settled / name).write_text(text)
        (settled / name).chmod(0o755 if "bin/" in name else 0o644)
    images: dict[str, ImageRoot] = {
        "debian": image_root(base, digest="sha256:debian"),
        "python": image_root(python, base, digest="sha256:python"),
        "c": image_root(compiler, base, digest="sha256:c"),
        "settled": image_root(
            settled,
            python,
            base,
            digest="sha256:settled",
            workdir="/srv/work",
            environment={"PATH": "/opt/tool/bin:/srv/work/.venv/bin:/usr/bin:/bin", "WANTED": "3"},
        ),
    }
    if os.geteuid() == 0:
        owned = place / "owned"
        (owned / "home/app/work").mkdir(parents=True)
        (owned / "etc").mkdir()
        (owned / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::/home/app:/bin/bash\n")
        for path in (owned / "home/app", owned / "home/app/work"):
            os.chown(path, 1000, 1000)
            path.chmod(0o700)
        said = {"user": "app", "workdir": "/home/app/work"}
        images["owned"] = image_root(owned, python, base, digest="sha256:owned", **said)
    images = {f"localhost/tasks/{name}:1": root for name, root in images.items()}
    runtime = LinuxRuntime(home=place / "home", images=FolderImages(images))
    await runtime.start()
    try:
        yield Source(runtime)
    finally:
        await runtime.close()


def scenario_of(folder: Path, who: str) -> Scenario:
    """The oracle's or nop's of a directory."""
    (made,) = import_scenarios(str(folder), candidates=who).scenarios
    return made


async def judged(source: Source, scenario: Scenario) -> RunResult:
    """The envelope; a starved run is made again."""
    for _ in range(3):
        try:
            return await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=120)
        except StarvedError:
            continue
    return await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=120)


async def attacked(source: Source, folder: Path, script: str) -> RunResult:
    """What is said of a script in the place of the solution."""
    honest = scenario_of(folder, "nop")
    candidate = Candidate(files={"solve.sh": script}, entry="solve.sh")
    return await judged(source, replace(honest, candidate=candidate, expected=None))
