"""What goes wrong in training, beside bad input."""

from __future__ import annotations

from harena.core.errors import HarenaError


class TrainingError(HarenaError):
    """The numbers went wrong (a loss or a gradient that is not finite). The weights are as they were before it."""
