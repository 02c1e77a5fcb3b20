"""Names of values."""

from __future__ import annotations

import hashlib
from types import MappingProxyType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harena.scoring.codec import canonical
from harena.scoring.digests import digest_of
from harena.scoring.values import from_python

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text()
    | st.text(st.characters(categories=["Cs"]))
    | st.binary()
)
KEYS = st.text() | st.integers() | st.booleans() | st.tuples(st.integers(), st.text())
VALUES = st.recursive(
    PLAIN | st.sets(st.integers()) | st.frozensets(st.text()),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(KEYS, inner)
        | st.dictionaries(KEYS, inner).map(MappingProxyType)
    ),
    max_leaves=20,
)


@given(VALUES)
def test_a_digest_is_of_the_canonical_bytes(made: Any) -> None:
    """Whatever way they are written in: a stored digest is compared with those of later versions."""
    assert digest_of(made) == hashlib.sha256(canonical(from_python(made))).hexdigest()


def test_a_digest_does_not_change_with_the_version() -> None:
    """One that was stored; the order of a mapping does not count, types do."""
    value = {"b": [1, 1.0, True, None, "é"], "a": (2, {"x": b"y"})}
    assert digest_of(value) == "73413e55ff6044c63f442592372281abad7271e51512dc2fb7479ef9d83d4a95"
    assert digest_of(dict(reversed(value.items()))) == digest_of(value)
    assert len({digest_of(other) for other in (1, 1.0, True, "1", b"1", [1], (1,), {1: 1})}) == 8
