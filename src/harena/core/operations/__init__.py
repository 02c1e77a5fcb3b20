"""The table of operations: what the API can do, one module for each noun."""

from __future__ import annotations

from harena.core.operations import benchmark_jobs, catalog, registry, training_jobs
from harena.core.operations.operation import Operation

__all__ = ["OPERATIONS", "Operation"]

OPERATIONS = (*benchmark_jobs.OPERATIONS, *catalog.OPERATIONS, *registry.OPERATIONS, *training_jobs.OPERATIONS)
