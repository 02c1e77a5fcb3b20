"""The table of operations: what the API can do, one module for each noun."""

from __future__ import annotations

from harena.core.operations import training_jobs
from harena.core.operations.operation import Operation

__all__ = ["OPERATIONS", "Operation"]

OPERATIONS = (*training_jobs.OPERATIONS,)
