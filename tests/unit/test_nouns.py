"""What `scripts/nouns.py` writes is what nouns say, and what answers an operation takes what its port takes."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import harena
from harena.egress.secrets import Secrets
from harena.image_build.builds import Builds
from harena.jobs.benchmark.benchmark_jobs import BenchmarkJobs
from harena.jobs.benchmark.calibrations import Calibrations
from harena.jobs.catalog import Catalog
from harena.jobs.training.training_jobs import TrainingJobs
from harena.node import from_table
from harena.training.objects.registry import Registry
from harena.worlds.jobs import WorldJobs
from harena.worlds.manifests import WorldManifests

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import nouns  # noqa: E402

PACKAGE = nouns.Package(Path(str(harena.__file__)).parent)
PARTS: dict[str, Any] = {
    "benchmark_jobs": BenchmarkJobs,
    "calibrations": Calibrations,
    "catalog": Catalog,
    "image_builds": Builds,
    "registry": Registry,
    "secrets": Secrets,
    "training_jobs": TrainingJobs,
    "world_jobs": WorldJobs,
    "world_manifests": WorldManifests,
}


@pytest.mark.parametrize("path", PACKAGE.made)
def test_the_file_is_what_the_nouns_say(path: str) -> None:
    """`make reference` writes it anew."""
    assert (PACKAGE.root / path).read_text(encoding="utf-8") == PACKAGE.made[path](), "make reference"


@pytest.mark.parametrize(
    ("method", "part"),
    [
        ("list_secrets", ("secrets", "list")),
        ("list_catalog_entries", ("catalog", "list")),
        ("benchmark_job_results_page", ("benchmark_jobs", "results_page")),
        ("build_image", ("image_builds", "build_image")),
        ("create_note", None),
    ],
)
def test_which_part_answers(method: str, part: tuple[str, str] | None) -> None:
    """The one whose noun the operation names, by what is left of the name; what names none, a store."""
    module = "image_builds" if method == "build_image" else "notes"
    assert nouns.part_of(method, module, PARTS) == part


def methods() -> list[tuple[Any, Any]]:
    """(method of a port, method of the part that answers it)"""
    parts = SimpleNamespace(**{name: lambda kind=kind: kind for name, kind in PARTS.items()})
    found = []
    for name, method in vars(from_table.FromTable).items():
        if not name.startswith("_"):
            by = inspect.getclosurevars(method).nonlocals["by"]
            port = next(one for one in PACKAGE.ports() if name in one.methods)
            kind = getattr(import_module(f"harena.core.ports.{port.module}"), port.name)
            found.append((getattr(kind, name), by(parts)))
    return found


@pytest.mark.parametrize(("port", "part"), methods(), ids=lambda one: one.__qualname__)
def test_a_part_has_the_defaults_of_the_port(port: Any, part: Any) -> None:
    """What is not given is for the part to fill in, and over HTTP it is what the port says."""
    asked, answered = (
        {one.name: one.default for one in inspect.signature(method).parameters.values()} for method in (port, part)
    )
    assert {name: default for name, default in answered.items() if name in asked} == asked
