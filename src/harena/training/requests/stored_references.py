"""References of a request for training, found when it is submitted: whatever is published or changed later, the job
uses what was there then. What cannot be found, or does not fit, is one error with a line for each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from harena.core.errors import HarenaError, NotFoundError, ValidationError
from harena.core.file_trees import files_of, pack_files, tree_of
from harena.core.records.objects import (
    CapabilityDescription,
    DatasetDescription,
    ModelDescription,
    ResolvedReference,
    ShippedModelDescription,
    SkippedRows,
    SplitDescription,
    TaskDescription,
    UsedSplit,
    description_of,
)
from harena.core.records.worlds import TrajectoryOrder, WorldManifest
from harena.core.registry import EVERYWHERE, MODELS, ObjectKind, ObjectVersion
from harena.core.spool import spooled
from harena.core.threads import OBJECTS, WORLD_GAMES
from harena.core.training_sources import HEADING, JOB_PREFIX, path_version
from harena.core.worlds import MOST_STEPS, PRESAMPLED_COUNT
from harena.training.data.datasets import prompt_row_of
from harena.training.data.demonstrations import conversation_to_learn
from harena.training.data.row_files import DEFAULT_SPLIT, Mistakes, names_stored_contracts, read_rows, rows_of
from harena.training.data.stored_problems import is_reference
from harena.training.objects.dataset import Use, read_part
from harena.training.objects.model import read_model
from harena.training.requests.model_names import cached_model, model_name_kind
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.request import DatasetSource, RLConfig, RLRequest, SFTRequest, VersionRef
from harena.training.requests.stored_scorings import StoredScorings, StoredVersions
from harena.training.rewards import CodeTests
from harena.training.rewards.worlds import sampled_rows, world_row
from harena.training.shipped_models import SHIPPED_MODELS

if TYPE_CHECKING:
    from harena.training.objects.registry import Registry

FindWorld = Callable[[str, str], Awaitable[WorldManifest]]
"""(workspace, id or name); raises NotFoundError"""
FindJobModel = Callable[[str, str], AbstractAsyncContextManager[tuple[str, Path]]]
"""(workspace, JOB or JOB@STEP) -> (the job's id, a directory with what the job has learned, within the block); raises
NotFoundError, ValidationError"""
MOST_WORLD_NAME = 100
"""characters of a world's name that are in the name of its data set"""
USES: Mapping[str, str] = {"sft": "for SFT", "prompts": "as prompts", "trajectories": "as trajectories"}


_turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
"""workspace -> held while a request's references are found; gone when nobody finds any"""


class References:
    """Finds what requests of one workspace refer to. Used from one event loop."""

    def __init__(
        self,
        registry: Registry,
        workspace: str,
        reader: StoredVersions,
        find_world: FindWorld,
        find_job_model: FindJobModel,
    ) -> None:
        """`reader` looks up stored scenarios and contracts, `find_world` worlds, `find_job_model` what jobs have
        learned."""
        self._find_world = find_world
        self._find_job_model = find_job_model
        self._registry = registry
        self._reader = reader
        self._workspace = workspace
        self._mistakes: list[tuple[str, HarenaError]] = []
        self._skips = False
        """rows that cannot be used are left out"""

    async def resolve(self, request: SFTRequest | RLRequest) -> ResolvedReferences:
        """Every reference; one request of a workspace at a time, since rows of its data sets may be held meanwhile.
        Raises NotFoundError where all that is wrong is that something is not there, else ValidationError; each with all
        that is wrong."""
        async with _turns.setdefault(self._workspace, asyncio.Lock()):
            return await self._resolved(request)

    async def _resolved(self, request: SFTRequest | RLRequest) -> ResolvedReferences:
        config = request.config
        self._skips = config.skip_bad_rows is True
        found = [await self._tried("model", self._model(request.model))]
        if request.capability_ref is not None:
            found.append(await self._tried("capability_ref", self._capability(request.capability_ref)))
        evaluated: Use = "sft" if isinstance(request, SFTRequest) else "prompts"
        if isinstance(request, SFTRequest):
            found.append(await self._dataset("config.dataset_ref", request.config.dataset_ref, "sft"))
        else:
            split = request.config.prompt_split
            found.append(
                await self._dataset("config.prompt_dataset_ref", request.config.prompt_dataset_ref, "prompts", split)
            )
            if request.config.scenarios_ref is not None:
                found.append(await self._tried("config.scenarios_ref", self._scenarios(request.config.scenarios_ref)))
            if request.config.world_runtime_id is not None and request.config.world_manifest_id is not None:
                sampled = self._sampled_world(request.config.world_manifest_id, request.config)
                found.append(await self._tried("config.world_runtime_id", sampled))
            elif request.config.world_manifest_id is not None:
                world = self._world(request.config.world_manifest_id, request.config.world_goal)
                found.append(await self._tried("config.world_manifest_id", world))
            if request.config.task_ref is not None:
                found.append(await self._tried("config.task_ref", self._task(request.config.task_ref)))
        for place, source in enumerate(config.trajectory_dataset_refs):
            where = f"config.trajectory_dataset_refs[{place}]"
            found.append(await self._dataset(where, source, "trajectories"))
        found.append(await self._dataset("config.eval_dataset_ref", config.eval_dataset_ref, evaluated))
        if self._mistakes:
            lines = [f"{where}: {error}" for where, error in self._mistakes]
            absent = all(isinstance(error, NotFoundError) for _, error in self._mistakes)
            raise (NotFoundError if absent else ValidationError)("\n  ".join([HEADING, *lines]))
        return ResolvedReferences(refs=tuple(ref for ref in found if ref is not None))

    async def _tried(self, where: str, finding: Awaitable[ResolvedReference]) -> ResolvedReference | None:
        """None where it is wrong, which is noted. Raises PlatformError."""
        try:
            ref = await finding
        except (ValidationError, NotFoundError) as error:
            self._mistakes.append((where, error))
            return None
        return replace(ref, where=where)

    async def _model(self, model: str) -> ResolvedReference:
        kind = model_name_kind(model)
        if kind == "shipped":
            shipped = SHIPPED_MODELS[model]
            described = ShippedModelDescription(shipped=shipped, context_length=shipped.context_length)
            return _ref("model", model, None, shipped.digest, None, described)
        if kind == "path":
            folder = Path(model).expanduser().absolute()
            return await OBJECTS.run(_model_at, model, None, folder)
        if kind == "hugging_face":
            cached = await OBJECTS.run(cached_model, model)
            return await OBJECTS.run(_model_at, cached.name, cached.commit, cached.folder)
        if kind == "job":
            return await self._job_model(model.removeprefix(JOB_PREFIX))
        for place in EVERYWHERE:  # no published model comes before a checkpoint of the workspace's own
            for of_kind in MODELS:
                with suppress(NotFoundError):
                    found = await self._registry.find(self._workspace, of_kind, model, among=(place,))
                    return self._stored(of_kind, found)
        shipped_ones = ", ".join(SHIPPED_MODELS)
        raise NotFoundError(
            f"no model or checkpoint {model!r} is published in this workspace or to its organisation (see "
            f"`harena ls model`), and harena comes with {shipped_ones}; a directory is written "
            f"./{model.partition('@')[0]}, a model of the Hugging Face cache ORGANISATION/NAME, what a training job "
            "has learned job:NAME"
        )

    async def _job_model(self, job: str) -> ResolvedReference:
        """What a job has learned becomes a checkpoint that is named by its content: it stays when the job is
        deleted."""
        async with self._find_job_model(self._workspace, job) as (name, place):
            _, version = await OBJECTS.run(path_version, place)
            return self._stored("checkpoint", await self._published("checkpoint", name, version, place, f"job:{job}"))

    async def _capability(self, asked: VersionRef) -> ResolvedReference:
        ref = self._stored("capability", await self._version("capability", asked))
        if isinstance(ref.described, CapabilityDescription) and ref.described.prompt is None:
            raise ValidationError(f"{asked.name}@{asked.version} has no agent: training uses its entry agent's prompt")
        return ref

    async def _task(self, ref: str) -> ResolvedReference:
        return self._stored("task", await self._found("task", ref))

    async def _dataset(
        self, where: str, source: DatasetSource | None, use: Use, split: str | None = None
    ) -> ResolvedReference | None:
        if source is None:
            return None
        finding = self._usable(source, use, split)
        if self._skips and use != "trajectories":
            finding.close()
            finding = self._good_part(source, use, split)
        return await self._tried(where, finding)

    async def _good_part(self, source: DatasetSource, use: Use, split: str | None) -> ResolvedReference:
        """The rows that can be used, as a data set that is named by its content; of the others what is wrong."""
        if isinstance(source, str):
            place, name = Path(source).expanduser().absolute(), Path(source).stem
        else:
            row = await self._version("dataset", source)
            place, name = self._registry.place(row.digest) / _dataset_of(row).path, row.name
        good, bad = await OBJECTS.run(self._sorted_out, place, use, split)
        if not good:
            bad.check()
            raise ValidationError(f"{place} has no rows")
        found = await self._made_of(name, good, use)
        if found.used is None or not bad.count:
            return found
        left_out = SkippedRows(rows=bad.count, of=bad.count + len(good), told=list(bad.told))
        return replace(found, described=replace(found.used, left_out=left_out))

    def _sorted_out(self, place: Path, use: Use, split: str | None) -> tuple[list[Mapping[str, Any]], Mistakes]:
        bad, stored = Mistakes(str(place)), StoredScorings(self._reader)
        good: list[Mapping[str, Any]] = []
        ids: dict[str, str] = {}
        for row in rows_of(place, bad, split=split):
            values = row.values
            try:
                if use == "prompts":
                    if is_reference(values.get("scoring")):
                        values = {**values, **stored.of(values["scoring"])}
                    _check_prompt(values, row.origin, ids)
                else:
                    conversation_to_learn(values)
                good.append(values)
            except (ValueError, ValidationError, NotFoundError) as error:
                bad.add(row.origin, str(error))
        return good, bad

    async def _usable(self, source: DatasetSource, use: Use, split: str | None) -> ResolvedReference:
        row = await (self._of_path(source) if isinstance(source, str) else self._version("dataset", source))
        ref = row.ref if not isinstance(source, str) else source
        described = _dataset_of(row)
        place, parts = self._registry.place(row.digest) / described.path, described.parts
        if split is not None and set(parts) == {""}:  # the rows of one file may say which split they are of
            parts = {split: await OBJECTS.run(_part_of, ref, place, split)}
        wanted = split or (DEFAULT_SPLIT if DEFAULT_SPLIT in parts else next(iter(parts)) if len(parts) == 1 else None)
        if wanted is None or wanted not in parts:
            there = ", ".join(sorted(parts))
            what = "name one (prompt_split)" if wanted is None else f"it has no split {wanted!r}"
            raise ValidationError(f"{ref} has the splits {there}: {what}")
        part = parts[wanted]
        if (use == "prompts" and part.reward_recipe not in ("code_tests_v1", "gsm8k_v1", "math_v1")) or (
            use == "sft" and use not in part.uses
        ):
            # it may have been published before rows of its form were read with their tests, or told by their answers
            part = await OBJECTS.run(_part_of, ref, place, wanted or None)
        if use not in part.uses:
            raise ValidationError(f"{ref} cannot be used {USES[use]}: {part.cannot[use]}")
        if use == "prompts" and (pinned := await OBJECTS.run(self._pinned, ref, place, wanted or None)):
            return await self._made_of(row.name, pinned)
        used = UsedSplit(rows=part.rows, split=wanted or None, uses=part.uses, reward_recipe=part.reward_recipe)
        made = _ref("dataset", row.name, row.version, row.digest, str(place), used)
        return replace(made, organization=self._from(row))

    def _pinned(self, ref: str, place: Path, split: str | None) -> list[Mapping[str, Any]] | None:
        """The rows, with what is stored in place of what they name; None = they name nothing that is stored. Not for
        the event loop. Raises ValidationError that lists the rows whose references name nothing."""
        if not names_stored_contracts(place, split=split):
            return None
        rows = read_rows(place, split=split)
        mistakes = Mistakes(ref)
        made: list[Mapping[str, Any]] = []
        stored = StoredScorings(self._reader)
        for row in rows:
            values = row.values
            try:
                if is_reference(values.get("scoring")):
                    values = {**values, **stored.of(values["scoring"])}
                made.append(values)
            except (ValidationError, NotFoundError) as error:
                mistakes.add(row.origin, str(error))
        mistakes.check()
        return made

    async def _scenarios(self, ref: str) -> ResolvedReference:
        """The problems of stored scenarios, as a data set of prompts that is named by its content."""
        name, rows = await OBJECTS.run(StoredScorings(self._reader).prompts, ref)
        return await self._made_of(name, rows)

    async def _world(self, world: str, goal: str | None) -> ResolvedReference:
        """The beginning of a world, as a data set of one prompt that is named by its content."""
        manifest = await self._find_world(self._workspace, world)
        row = await OBJECTS.run(world_row, manifest, goal)
        return await self._made_of(f"{manifest.name[:MOST_WORLD_NAME]}-world", [row])

    async def _sampled_world(self, world: str, config: RLConfig) -> ResolvedReference:
        """Trajectories of a world, as a data set that is named by its content: the same request gives the same."""
        manifest = await self._find_world(self._workspace, world)
        order = TrajectoryOrder.checked(
            {
                "goal": config.world_goal,
                "count": PRESAMPLED_COUNT,
                "strategy": config.world_agent_name,
                "max_steps": min(config.max_episode_steps or MOST_STEPS, MOST_STEPS),
                "seed": config.seed,
                "only_successful": config.offline is not True,
            }
        )
        rows = await WORLD_GAMES.run_for(self._workspace, lambda: sampled_rows(manifest, order))
        return await self._made_of(f"{manifest.name[:MOST_WORLD_NAME]}-sampled", rows, "trajectories")

    async def _made_of(self, name: str, rows: Sequence[Mapping[str, Any]], use: Use = "prompts") -> ResolvedReference:
        async with spooled("harena-prompts-") as folder:
            file = Path(folder) / f"{name}.jsonl"
            await OBJECTS.run(_write_rows, file, rows)
            return await self._usable(str(file), use, None)

    async def _of_path(self, path: str) -> ObjectVersion:
        """A path becomes a version that is named by its content: what is trained on stays, whatever becomes of it."""
        place = Path(path).expanduser().absolute()
        name, version = await OBJECTS.run(path_version, place)
        return await self._published("dataset", name, version, place, path)

    async def _published(self, kind: ObjectKind, name: str, version: str, place: Path, told: str) -> ObjectVersion:
        """The version that is there, or that is published of this place now; mistakes in it are told of `told`."""
        try:
            return await self._registry.find(self._workspace, kind, f"{name}@{version}", among=("own",))
        except NotFoundError:
            pass
        files = await OBJECTS.run(files_of, place)

        async def tree() -> AsyncIterator[bytes]:
            pieces = pack_files(files)
            while piece := await OBJECTS.run(next, pieces, b""):
                yield piece

        try:
            await self._registry.push(self._workspace, kind, name, version, tree())
        except ValidationError as error:
            raise ValidationError(str(error).replace(f"{name}@{version}", told)) from None
        return await self._registry.find(self._workspace, kind, f"{name}@{version}", among=("own",))

    async def _version(self, kind: ObjectKind, asked: VersionRef) -> ObjectVersion:
        return await self._found(kind, f"{asked.name}@{asked.version}")

    async def _found(self, kind: ObjectKind, ref: str) -> ObjectVersion:
        """The version of NAME, or of OWNER/NAME: the owner is the workspace, or the organisation that it belongs
        to."""
        owner, slash, rest = ref.partition("/")
        if not slash:
            return await self._registry.find(self._workspace, kind, ref)
        owners = {"own": self._workspace, "published": await self._registry.organization(self._workspace)}
        if among := [place for place in EVERYWHERE if owners[place] == owner]:
            return await self._registry.find(self._workspace, kind, rest, among=among)
        raise NotFoundError(
            f"{ref!r:.200} is of another organisation: a workspace refers to what is its own, or its organisation's"
        )

    def _stored(self, kind: ObjectKind, row: ObjectVersion) -> ResolvedReference:
        place = str(self._registry.place(row.digest))
        described = description_of(row.kind, row.described)
        assert not isinstance(described, DatasetDescription), "of a data set one split is used"
        return replace(_ref(kind, row.name, row.version, row.digest, place, described), organization=self._from(row))

    def _from(self, row: ObjectVersion) -> str | None:
        """The organisation that shows a version to the workspace; None = it is the workspace's own."""
        return None if row.workspace == self._workspace else row.organization


def _write_rows(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """A row at a time: a call of the encoder holds the interpreter. Not for the event loop."""
    with file.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _check_prompt(values: Mapping[str, Any], origin: str, ids: dict[str, str]) -> None:
    """Raises ValueError for a row that is no prompt, whose contract is none, or whose id an earlier one has."""
    made = prompt_row_of(values, id=origin)
    if made.scoring is not None and (mistakes := CodeTests(deterministic=False).check(made)):
        raise ValueError("; ".join(mistakes))
    if made.id in ids:
        raise ValueError(f"its id {made.id!r} is that of {ids[made.id]} too")
    ids[made.id] = origin


def _ref(
    kind: ObjectKind,
    name: str,
    version: str | None,
    digest: str,
    path: str | None,
    described: CapabilityDescription | TaskDescription | UsedSplit | ModelDescription | ShippedModelDescription,
) -> ResolvedReference:
    return ResolvedReference(
        where="", kind=kind, name=name, version=version, digest=digest, path=path, described=described
    )


def _dataset_of(row: ObjectVersion) -> DatasetDescription:
    described = description_of(row.kind, row.described)
    assert isinstance(described, DatasetDescription), "the version was looked up among data sets"
    return described


def _model_at(name: str, version: str | None, folder: Path) -> ResolvedReference:
    described = read_model(folder, may_be_adapter=False)
    return _ref("model", name, version, tree_of(files_of(folder)).digest, str(folder), described)


def _part_of(ref: str, place: Path, split: str | None) -> SplitDescription:
    try:
        return read_part(place, split=split)
    except ValidationError as error:
        raise ValidationError(str(error).replace(str(place), ref)) from None
