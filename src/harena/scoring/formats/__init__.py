"""Data that people already have, as scenarios: one file per family, and one reader that tells them apart."""

from __future__ import annotations

from harena.scoring.formats.importing import FORMATS, import_scenarios

__all__ = ["FORMATS", "import_scenarios"]
