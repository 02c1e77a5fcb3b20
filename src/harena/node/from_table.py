"""What a node answers by one of its parts, or by a store. Made by `python scripts/nouns.py`."""

from __future__ import annotations

from harena.core.ports.benchmark_jobs import BenchmarkOperations
from harena.core.ports.catalog import CatalogOperations
from harena.core.ports.image_builds import ImageBuildOperations
from harena.core.ports.registry import RegistryOperations
from harena.core.ports.secrets import SecretOperations
from harena.core.ports.training_jobs import TrainingOperations
from harena.core.ports.world_jobs import WorldJobOperations
from harena.core.ports.world_manifests import WorldManifestOperations
from harena.node.answered import InWorkspace, answered


class FromTable(InWorkspace):
    """What is answered as it is asked, with the workspace. Used from one event loop."""

    get_benchmark_job = answered(BenchmarkOperations.get_benchmark_job, lambda parts: parts.benchmark_jobs().get)
    list_benchmark_jobs = answered(BenchmarkOperations.list_benchmark_jobs, lambda parts: parts.benchmark_jobs().list)
    wait_benchmark_job = answered(BenchmarkOperations.wait_benchmark_job, lambda parts: parts.benchmark_jobs().wait)
    benchmark_job_results = answered(
        BenchmarkOperations.benchmark_job_results, lambda parts: parts.benchmark_jobs().results
    )
    benchmark_job_results_page = answered(
        BenchmarkOperations.benchmark_job_results_page, lambda parts: parts.benchmark_jobs().results_page
    )
    benchmark_job_summary = answered(
        BenchmarkOperations.benchmark_job_summary, lambda parts: parts.benchmark_jobs().summary
    )
    delete_benchmark_job = answered(
        BenchmarkOperations.delete_benchmark_job, lambda parts: parts.benchmark_jobs().delete, frees=True
    )
    cancel_benchmark_job = answered(
        BenchmarkOperations.cancel_benchmark_job, lambda parts: parts.benchmark_jobs().cancel
    )
    benchmark_job_events = answered(
        BenchmarkOperations.benchmark_job_events, lambda parts: parts.benchmark_jobs().events
    )
    create_catalog_entry = answered(CatalogOperations.create_catalog_entry, lambda parts: parts.catalog().create)
    list_catalog_entries = answered(CatalogOperations.list_catalog_entries, lambda parts: parts.catalog().list)
    archive_catalog_entry = answered(CatalogOperations.archive_catalog_entry, lambda parts: parts.catalog().archive)
    delete_catalog_entry = answered(
        CatalogOperations.delete_catalog_entry, lambda parts: parts.catalog().delete, frees=True
    )
    create_calibration = answered(CatalogOperations.create_calibration, lambda parts: parts.calibrations().create)
    get_calibration = answered(CatalogOperations.get_calibration, lambda parts: parts.calibrations().get)
    wait_calibration = answered(CatalogOperations.wait_calibration, lambda parts: parts.calibrations().wait)
    build_image = answered(ImageBuildOperations.build_image, lambda parts: parts.image_builds().build_image)
    get_image_build = answered(ImageBuildOperations.get_image_build, lambda parts: parts.image_builds().get)
    wait_image_build = answered(ImageBuildOperations.wait_image_build, lambda parts: parts.image_builds().wait)
    cancel_image_build = answered(ImageBuildOperations.cancel_image_build, lambda parts: parts.image_builds().cancel)
    image_build_events = answered(ImageBuildOperations.image_build_events, lambda parts: parts.image_builds().events)
    push_object = answered(RegistryOperations.push_object, lambda parts: parts.registry().push)
    get_object = answered(RegistryOperations.get_object, lambda parts: parts.registry().get)
    list_objects = answered(RegistryOperations.list_objects, lambda parts: parts.registry().list)
    publish_object = answered(RegistryOperations.publish_object, lambda parts: parts.registry().publish)
    withdraw_object = answered(RegistryOperations.withdraw_object, lambda parts: parts.registry().withdraw)
    delete_object = answered(RegistryOperations.delete_object, lambda parts: parts.registry().delete, frees=True)
    pull_object = answered(RegistryOperations.pull_object, lambda parts: parts.registry().pull)
    set_secret = answered(SecretOperations.set_secret, lambda parts: parts.secrets().set)
    list_secrets = answered(SecretOperations.list_secrets, lambda parts: parts.secrets().list)
    get_secret = answered(SecretOperations.get_secret, lambda parts: parts.secrets().get)
    delete_secret = answered(SecretOperations.delete_secret, lambda parts: parts.secrets().delete, frees=True)
    create_training_job = answered(TrainingOperations.create_training_job, lambda parts: parts.training_jobs().create)
    plan_training_job = answered(TrainingOperations.plan_training_job, lambda parts: parts.training_jobs().plan)
    get_training_job = answered(TrainingOperations.get_training_job, lambda parts: parts.training_jobs().get)
    list_training_jobs = answered(TrainingOperations.list_training_jobs, lambda parts: parts.training_jobs().list)
    wait_training_job = answered(TrainingOperations.wait_training_job, lambda parts: parts.training_jobs().wait)
    cancel_training_job = answered(TrainingOperations.cancel_training_job, lambda parts: parts.training_jobs().cancel)
    retry_training_job = answered(TrainingOperations.retry_training_job, lambda parts: parts.training_jobs().retry)
    delete_training_job = answered(
        TrainingOperations.delete_training_job, lambda parts: parts.training_jobs().delete, frees=True
    )
    training_job_events = answered(TrainingOperations.training_job_events, lambda parts: parts.training_jobs().events)
    training_job_logs = answered(TrainingOperations.training_job_logs, lambda parts: parts.training_jobs().logs)
    training_job_metrics = answered(
        TrainingOperations.training_job_metrics, lambda parts: parts.training_jobs().metrics
    )
    training_job_artifacts = answered(
        TrainingOperations.training_job_artifacts, lambda parts: parts.training_jobs().artifacts
    )
    training_job_file = answered(TrainingOperations.training_job_file, lambda parts: parts.training_jobs().file)
    create_world_job = answered(WorldJobOperations.create_world_job, lambda parts: parts.world_jobs().create)
    list_world_jobs = answered(WorldJobOperations.list_world_jobs, lambda parts: parts.world_jobs().list)
    get_world_job = answered(WorldJobOperations.get_world_job, lambda parts: parts.world_jobs().get)
    wait_world_job = answered(WorldJobOperations.wait_world_job, lambda parts: parts.world_jobs().wait)
    cancel_world_job = answered(WorldJobOperations.cancel_world_job, lambda parts: parts.world_jobs().cancel)
    delete_world_job = answered(
        WorldJobOperations.delete_world_job, lambda parts: parts.world_jobs().delete, frees=True
    )
    create_world_manifest = answered(
        WorldManifestOperations.create_world_manifest, lambda parts: parts.world_manifests().create
    )
    list_world_manifests = answered(
        WorldManifestOperations.list_world_manifests, lambda parts: parts.world_manifests().list
    )
    get_world_manifest = answered(WorldManifestOperations.get_world_manifest, lambda parts: parts.world_manifests().get)
    world_manifest_map = answered(WorldManifestOperations.world_manifest_map, lambda parts: parts.world_manifests().map)
    delete_world_manifest = answered(
        WorldManifestOperations.delete_world_manifest, lambda parts: parts.world_manifests().delete, frees=True
    )
