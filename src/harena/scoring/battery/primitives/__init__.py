"""The primitives that composed forgeries are drawn from."""

from __future__ import annotations

from harena.scoring.battery.primitives.beside import BESIDE
from harena.scoring.battery.primitives.ends import ENDS
from harena.scoring.battery.primitives.forces import FORCES
from harena.scoring.battery.primitives.interpreter import INTERPRETER
from harena.scoring.battery.primitives.kernel import KERNEL
from harena.scoring.battery.primitives.leaving import LEAVING
from harena.scoring.battery.primitives.names import NAMES
from harena.scoring.battery.primitives.outputs import OUTPUTS
from harena.scoring.battery.primitives.primitive import Kind, Place, Primitive
from harena.scoring.battery.primitives.reading import READING
from harena.scoring.battery.primitives.texts import TEXTS_WRITTEN
from harena.scoring.battery.primitives.values import MORE_VALUES, VALUES

__all__ = ["PRIMITIVES", "Kind", "Place", "Primitive"]

PRIMITIVES: tuple[Primitive, ...] = (
    *READING, *NAMES, *LEAVING, *FORCES, *OUTPUTS, *VALUES, *MORE_VALUES, *INTERPRETER, *KERNEL, *ENDS, *TEXTS_WRITTEN,
    *BESIDE,
)  # fmt: skip
"""every primitive; their names differ"""
