"""Models that need no download: recipes of tiny ones, made on the spot. No torch here."""

from __future__ import annotations

import string
from collections.abc import Mapping

from harena.core.records.objects import ShippedModel

PRINTABLE = string.ascii_letters + string.digits + string.punctuation + " \n"


SHIPPED_MODELS: Mapping[str, ShippedModel] = {
    "tiny-llama": ShippedModel(alphabet=PRINTABLE, width=96, layers=3, heads=4, context_length=256)
}
"""by name; 0.35 million parameters"""
