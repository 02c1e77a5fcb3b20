"""Amounts as Kubernetes writes them: "500m" cores, "512Mi" bytes."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from harena.core.errors import SandboxValidationError

_FACTORS = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    **{letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", 1)},
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", 1)},
}
_QUANTITY = re.compile(r"([+]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?)(n|u|m|k|Ki|[MGTPE]i?)?")


def cores(value: str | float, name: str = "cpu") -> float:
    """Processor cores: "2", "500m", 0.5. Raises SandboxValidationError."""
    return float(_amount(value, name, 'cores, such as "2", "500m" or 0.5'))


def size_bytes(value: str | float, name: str = "memory") -> int:
    """Bytes, rounded up: "512Mi", "1G", 1048576. Raises SandboxValidationError."""
    amount = _amount(value, name, 'bytes, such as "512Mi", "1G" or 1048576')
    whole = int(amount)
    return whole if whole == amount else whole + 1


def _amount(value: str | float, name: str, meaning: str) -> Decimal:
    if not isinstance(value, bool) and isinstance(value, str | int | float):
        found = _QUANTITY.fullmatch(str(value).strip())
        if found is not None:
            try:
                amount = Decimal(found[1]) * _FACTORS[found[2] or ""]
            except InvalidOperation:
                amount = Decimal(0)
            if amount > 0:
                return amount
    raise SandboxValidationError(f"{name} must be a positive amount of {meaning} (got {value!r})")
