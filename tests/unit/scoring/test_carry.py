"""What a contract may ask for: found before anything runs, and without building what it says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.scoring.codec import MAX_BYTES, MAX_PARTS, encode
from harena.scoring.contracts.carry import carried, defines, parsed
from harena.scoring.guest.driver import decode
from harena.scoring.values import Bag, NotationError, from_tagged


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"$set": [[1]]}, r"\[1\] cannot be a member of a set, because a list has no hash"),
        ({"$frozenset": [{"$set": []}]}, "because a set has no hash"),
        ({"$dict": [[{"$tuple": [1, [2]]}, 0]]}, "cannot be a key of a dict, because a list has no hash"),
        ([1, {"a": {"$set": [{}]}}], r"at \[1\]\.'a': .* because a dict has no hash"),
        ({"$set": [1, True]}, "True is a member of a set twice"),
        ({"$dict": [[1.0, "a"], [1, "b"]]}, "1 is a key of a dict twice"),
        ({"$set": [{"$tuple": [1]}, {"$tuple": [1.0]}]}, "twice"),
        ({"$set": [{"$frozenset": [1]}, {"$frozenset": [1.0]}]}, "twice"),
        ([0] * MAX_PARTS, f"at most {MAX_PARTS}"),
        ("x" * MAX_BYTES, f"at most {MAX_BYTES}"),
    ],
)
def test_what_no_program_can_be_given_is_refused(written: Any, message: str) -> None:
    """With the part that is wrong, and why."""
    with pytest.raises(NotationError, match=message):
        carried(from_tagged(written))


def test_depth_counts_for_values_made_in_python() -> None:
    """Bags pass `from_tagged` as they are."""
    value: Any = ()
    for _ in range(120):
        value = (value,)
    with pytest.raises(NotationError, match="nested deeper"):
        carried(value)


_PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.floats() | st.binary(max_size=3)
_HASHABLE = st.recursive(_PLAIN, lambda part: st.tuples(part, part) | st.frozensets(part, max_size=3), max_leaves=4)


@given(
    st.recursive(
        _HASHABLE,
        lambda part: st.lists(part, max_size=3) | st.sets(_HASHABLE, max_size=3) | st.dictionaries(_HASHABLE, part),
        max_leaves=8,
    ).filter(lambda value: "nan" not in repr(value))
)
def test_every_value_of_python_passes_and_can_be_built(value: Any) -> None:
    """Nothing that a program can hold is refused, and the guest builds what was meant. (Two NaN in one set are.)"""

    def host(part: Any) -> Any:
        if isinstance(part, dict):
            return Bag("dict", tuple((host(key), host(item)) for key, item in part.items()))
        if isinstance(part, set | frozenset):
            return Bag("set" if isinstance(part, set) else "frozenset", tuple(map(host, part)))
        return type(part)(map(host, part)) if isinstance(part, list | tuple) else part

    assert decode(encode(carried(host(value))), 0)[0] == value


def test_programs_are_read_and_not_run() -> None:
    """Warnings of the compiler are not ours."""
    tree = parsed("raise SystemExit\nx = '\\d'\ndef score(run): pass\nclass A:\n    def inner(self): pass\n")
    assert [defines(tree, name) for name in ("score", "x", "A", "inner")] == [True, True, True, False]
