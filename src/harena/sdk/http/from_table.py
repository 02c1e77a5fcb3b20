"""What a client asks of a server as the table says. Made by `python scripts/nouns.py`."""

from __future__ import annotations

from harena.core.operations import (
    benchmark_jobs,
    blueprints,
    catalog,
    image_builds,
    images,
    registry,
    secrets,
    snapshots,
    training_jobs,
    world_jobs,
    world_manifests,
)
from harena.sdk.http.calls import Calls, downloaded, over_http, uploaded


class FromTable(Calls):
    """Used from one event loop."""

    list_benchmark_jobs = over_http(benchmark_jobs.LIST)
    get_benchmark_job = over_http(benchmark_jobs.GET)
    benchmark_job_results_page = over_http(benchmark_jobs.PAGE)
    benchmark_job_summary = over_http(benchmark_jobs.SUMMARY)
    delete_benchmark_job = over_http(benchmark_jobs.DELETE)
    cancel_benchmark_job = over_http(benchmark_jobs.CANCEL)
    publish_blueprint = over_http(blueprints.SHOW)
    withdraw_blueprint = over_http(blueprints.WITHDRAW)
    get_calibration = over_http(catalog.GET_CALIBRATION)
    build_image = uploaded(image_builds.BUILD)
    get_image_build = over_http(image_builds.GET)
    cancel_image_build = over_http(image_builds.CANCEL)
    list_images = over_http(images.LIST)
    collect_images = over_http(images.COLLECT)
    get_image = over_http(images.GET)
    remove_image = over_http(images.REMOVE)
    export_image = downloaded(images.EXPORT)
    pull_image = over_http(images.PULL)
    get_image_pull = over_http(images.GET_PULL)
    cancel_image_pull = over_http(images.CANCEL)
    list_objects = over_http(registry.LIST)
    get_object = over_http(registry.GET)
    publish_object = over_http(registry.SHOW)
    withdraw_object = over_http(registry.WITHDRAW)
    delete_object = over_http(registry.DELETE)
    pull_object = downloaded(registry.PULL)
    set_secret = over_http(secrets.SET)
    list_secrets = over_http(secrets.LIST)
    get_secret = over_http(secrets.GET)
    delete_secret = over_http(secrets.DELETE)
    create_snapshot = over_http(snapshots.CREATE)
    list_snapshots = over_http(snapshots.LIST)
    get_snapshot = over_http(snapshots.GET)
    export_snapshot = downloaded(snapshots.EXPORT)
    remove_snapshot = over_http(snapshots.REMOVE)
    list_training_jobs = over_http(training_jobs.LIST)
    get_training_job = over_http(training_jobs.GET)
    delete_training_job = over_http(training_jobs.DELETE)
    cancel_training_job = over_http(training_jobs.CANCEL)
    training_job_logs = over_http(training_jobs.LOGS)
    training_job_metrics = over_http(training_jobs.METRICS)
    training_job_artifacts = over_http(training_jobs.ARTIFACTS)
    training_job_file = downloaded(training_jobs.FILE)
    create_world_job = over_http(world_jobs.CREATE)
    list_world_jobs = over_http(world_jobs.LIST)
    get_world_job = over_http(world_jobs.GET)
    cancel_world_job = over_http(world_jobs.CANCEL)
    delete_world_job = over_http(world_jobs.DELETE)
    create_world_manifest = over_http(world_manifests.CREATE)
    list_world_manifests = over_http(world_manifests.LIST)
    get_world_manifest = over_http(world_manifests.GET)
    world_manifest_map = over_http(world_manifests.MAP)
    delete_world_manifest = over_http(world_manifests.DELETE)
