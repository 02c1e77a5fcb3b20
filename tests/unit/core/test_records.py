"""Every public record can be imported from `harena`, and says of each of its fields what it is."""

from __future__ import annotations

import ast
import dataclasses
import enum
import hashlib
import json
import pkgutil
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import harena
from harena import core
from harena.core import records
from harena.core.gateways import read_gateways
from harena.core.network_policy import read_policy
from harena.core.records.record import Record

MODULES = sorted(Path(records.__path__[0]).glob("*.py"))
OF_ALL_RECORDS = "record"
"""the module of what records have in common; it holds no noun"""


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    """(module, class) of what is public."""
    for path in MODULES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and path.stem != OF_ALL_RECORDS:
                yield path.stem, node


CLASSES = [pytest.param(module, node, id=node.name) for module, node in classes()]


def test_there_are_records() -> None:
    """What follows looks at something."""
    assert len(CLASSES) > 50


@pytest.mark.parametrize(("module", "node"), CLASSES)
def test_a_record_can_be_imported_from_harena(module: str, node: ast.ClassDef) -> None:
    """By its name, which is listed."""
    assert node.name in harena.__all__
    assert getattr(harena, node.name).__module__ == f"harena.core.records.{module}"


INSIDE = {
    *("Record", "ImageConfig", "HealthCheck", "Frame", "RunState"),
}
"""records and enums of core that no user is given: what all have in common, builds of images, bytes of HTTP, runs in
the store"""


def records_and_enums() -> Iterator[type]:
    """Public ones of all modules of core: nouns that are older than `core/records` have modules of their own."""
    for module in pkgutil.walk_packages(core.__path__, "harena.core."):
        for name, value in vars(import_module(module.name)).items():
            is_own = isinstance(value, type) and value.__module__ == module.name and not name.startswith("_")
            if is_own and issubclass(value, Record | enum.Enum):
                yield value


def test_every_record_and_enum_of_core_can_be_imported_from_harena() -> None:
    """A field whose docstring names an enum is compared with its members."""
    found = list(records_and_enums())
    assert {"JobState", "TrainingEventKind", "Rescore", "BenchmarkJob"} < {kind.__name__ for kind in found}
    assert [
        kind for kind in found if kind.__name__ not in INSIDE and getattr(harena, kind.__name__, None) is not kind
    ] == []


@pytest.mark.parametrize(("module", "node"), CLASSES)
def test_each_field_of_a_record_is_described(module: str, node: ast.ClassDef) -> None:
    """By a text behind it, which is more than its name."""
    bare = []
    for statement, following in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or "ClassVar" in ast.unparse(statement.annotation):
            continue
        match following:
            case ast.Expr(value=ast.Constant(value=str(text))) if len(text.split()) > 1:
                pass
            case _:
                bare.append(ast.unparse(statement.target))
    assert bare == [], f"{module}.{node.name}"


def test_values_of_several_types_go_there_and_back() -> None:
    """A metric is a number, an array or nothing; an artifact is one path or several."""
    metrics = harena.TrainingMetrics(
        metrics={"steps": [1, 2], "train/loss": [None, 0.5], "count": 3, "x": None}, cursor=1
    )
    assert harena.TrainingMetrics.from_dict(metrics.to_dict()) == metrics
    wrote = harena.TrainingArtifacts(artifacts={"model": "model", "checkpoints": ["a", "b"]}, files=[], folder=None)
    assert harena.TrainingArtifacts.from_dict(wrote.to_dict()) == wrote
    for wrong in ({"model": 1}, {"checkpoints": [["a"]]}):
        with pytest.raises(ValueError, match="artifacts"):
            harena.TrainingArtifacts.from_dict({**wrote.to_dict(), "artifacts": wrong})


def test_a_record_is_shown_in_a_line() -> None:
    """What is long is told by its kind and length: half of a run says nothing."""
    files = [harena.TrainingFile(path=f"checkpoints/step-{step}", size_bytes=step) for step in range(5000)]
    wrote = harena.TrainingArtifacts(artifacts={"model": "model"}, files=files, folder=None)
    assert repr(wrote) == "TrainingArtifacts(artifacts={'model': 'model'}, files=<list of 5000>, folder=None)"
    page = harena.TrainingLogsPage(items=[], cursor=3)
    assert repr(page) == "TrainingLogsPage(items=[], cursor=3)"
    a = harena.ComparedJob(id="job_0123456789abcdef", name="one", state="completed")
    assert repr(harena.ComparedJobs(a=a, b=a)) == "ComparedJobs(a=ComparedJob(...), b=ComparedJob(...))"


def test_records_of_several_kinds_are_told_apart() -> None:
    """A training job's plan is one of SFT or of RL: it says which."""
    common = {
        "seed": 0, "learning_rate": 1e-3, "final_learning_rate": 0.1, "warmup_steps": 5, "max_gradient_norm": 1.0,
        "weight_decay": 0.0, "tuning": {"kind": "full"}, "checkpoint_interval": 10, "keep_checkpoints": 2,
        "eval_interval": None,
    }  # fmt: skip
    sft = {
        "trainer_type": "sft", "steps": None, "epochs": 1, "batch_size": 4, "gradient_accumulation_steps": 1,
        "max_sequence_length": 99, "too_long": "left",
    }  # fmt: skip
    job = {
        "id": "a", "name": "a", "state": "queued", "trainer_type": "sft", "resolved": [], "metrics": {},
        "artifacts": {}, "progress": {"step": 0, "steps": None}, "attempt": 0, "restarts": 0, "created_at": "now",
        "cursor": 0,
    }  # fmt: skip
    rest = dict.fromkeys(field.name for field in dataclasses.fields(harena.TrainingJob))
    read = harena.TrainingJob.from_dict({**rest, **job, "plan": {**common, **sft}})
    assert isinstance(read.plan, harena.SFTPlan)
    assert (read.plan.epochs, read.plan.tuning) == (1, harena.TuningPlan(kind="full"))
    assert harena.TrainingJob.from_dict(read.to_dict()) == read
    assert harena.TrainingJob.from_dict({**rest, **job}).plan is None
    for wrong in ({**common, "trainer_type": "dpo"}, {**common, "trainer_type": "rl"}, [], 1):
        with pytest.raises(ValueError, match=r"TrainingJob\.plan"):
            harena.TrainingJob.from_dict({**rest, **job, "plan": wrong})


def reference(**described: Any) -> dict[str, Any]:
    """A reference as it is stored."""
    there = {"where": "model", "kind": "model", "name": "m", "version": None, "digest": "d", "path": "/m"}
    return {**there, **({"described": described} if described else {})}


def test_descriptions_are_told_apart_by_their_fields() -> None:
    """Each kind of object has a description of its own, which says what it is by the fields that it must have."""
    model = harena.ResolvedReference.from_dict(
        reference(architecture="LlamaForCausalLM", context_length=64, adapter=None)
    )
    assert (type(model.described), model.context_length, model.rows) == (harena.ModelDescription, 64, 0)
    data = harena.ResolvedReference.from_dict(
        reference(rows=3, split="train", uses=["sft"], reward_recipe=None, left_out={"rows": 1, "of": 4, "told": ["a"]})
    )
    assert (data.rows, data.split, data.context_length) == (3, "train", None)
    assert data.used is not None
    assert data.used.left_out == harena.SkippedRows(rows=1, of=4, told=["a"])
    for each in (model, data):
        assert harena.ResolvedReference.from_dict(each.to_dict()) == each
    assert harena.ResolvedReference.from_dict(reference()).described is None
    with pytest.raises(ValueError, match="must have the fields of CapabilityDescription or TaskDescription"):
        harena.ResolvedReference.from_dict(reference(rows=3))
    with pytest.raises(ValueError, match=r"described: UsedSplit\.rows: must be a whole number"):
        harena.ResolvedReference.from_dict(reference(rows="3", split=None, uses=[], reward_recipe=None))


def test_the_recipe_of_a_shipped_model_keeps_its_digest() -> None:
    """Jobs that ended name it."""
    made = harena.ShippedModel(alphabet="ab", width=8, layers=1, heads=2, context_length=16)
    written = '{"alphabet": "ab", "context_length": 16, "heads": 2, "layers": 1, "width": 8}'
    assert made.digest == hashlib.sha256(written.encode()).hexdigest()


def sandbox_info() -> harena.SandboxInfo:
    """One that has ended."""
    at = datetime(2026, 11, 29, 12, tzinfo=timezone(timedelta(hours=2)))
    return harena.SandboxInfo(
        id="s_1",
        status=harena.SandboxStatus.COMPLETED,
        image="default",
        blueprint=None,
        tags=("a", "b"),
        annotations={"run": "7"},
        limits=harena.Limits(pids=8, cpu=0.5),
        enforcement={"pids": "cgroup v2"},
        created_at=at,
        stopped_at=at + timedelta(seconds=1.5),
    )


def test_moments_tuples_and_records_within_records_go_there_and_back() -> None:
    """A sandbox's record has all of these; moments keep their time zone."""
    info = sandbox_info()
    told = json.loads(json.dumps(info.to_dict()))
    assert (told["created_at"], told["tags"], told["limits"]["pids"]) == ("2026-11-29T12:00:00+02:00", ["a", "b"], 8)
    assert harena.SandboxInfo.from_dict(told) == info
    assert harena.SandboxInfo.from_dict({**told, "status": "dreaming"}).status is harena.SandboxStatus.UNSPECIFIED
    for field, wrong in (
        ("created_at", 7),
        ("created_at", "soon"),
        ("tags", "a"),
        ("tags", [1]),
        ("limits", {"pids": 1}),
    ):
        with pytest.raises((ValueError, harena.SandboxError), match=field):
            harena.SandboxInfo.from_dict({**told, field: wrong})


def test_bytes_and_what_has_a_form_of_its_own_go_there_and_back() -> None:
    """A blueprint's record has both: contents of files, its network, its gateways by their names."""
    blueprint = harena.Blueprint(
        id="bp_1",
        name="tools",
        files={"/data/x": b"\xff\x00"},
        warm=(),
        network=read_policy({"allow": ["pypi"], "deny": ["files.pythonhosted.org"]}),
        gateways=read_gateways({"GIT": {"url": "https://git.test", "secret": "GIT", "rules": [{"path": "/a/**"}]}}),
        daemons=(harena.Daemon(name="redis", command=("redis-server",)),),
        limits=harena.Limits(cpu=0.5),
    )
    told = json.loads(json.dumps(blueprint.to_dict()))
    assert (told["files"], told["network"]["allow"]) == ({"/data/x": "/wA="}, ["pypi"])
    assert [*told["gateways"]["GIT"]][-1] == "rules"  # digests of scenarios are made of this text
    assert harena.Blueprint.from_dict(told) == blueprint
    assert harena.Blueprint(id="bp_2", name="plain").to_dict()["network"] == "none"
    for field, wrong in (("files", {"/data/x": "?"}), ("files", {"/data/x": 7}), ("network", 7), ("gateways", [7])):
        with pytest.raises((ValueError, harena.SandboxError), match=field.removesuffix("s")):
            harena.Blueprint.from_dict({**told, field: wrong})


def test_a_tuple_of_a_record_has_entries_of_one_type() -> None:
    """What `from_dict` could not read is refused when the record is first used."""

    @dataclasses.dataclass(frozen=True)
    class Pair(Record):
        both: tuple[int, str]

    with pytest.raises(TypeError, match="of one type"):
        Pair((1, "a")).to_dict()


def test_records_without_an_id_are_told_apart_by_their_hash() -> None:
    """Limits are keys of pools: if all had one hash, each look-up would compare them with all others."""
    assert len({hash(harena.Limits(pids=pids)) for pids in range(4, 104)}) > 90
    assert hash(harena.Limits(cpu=1)) == hash(harena.Limits(cpu=1.0))
    assert hash(sandbox_info()) == hash(sandbox_info())
