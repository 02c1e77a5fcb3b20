"""Whoever does a plan reads all of it: a number that nobody reads would be a field of a request without an effect."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path

import pytest

import harena.training
from harena.training.requests import plan
from harena.training.requests.plan import RLPlan, SFTPlan

ROOM = Path(harena.training.__file__).parent
DOERS = {SFTPlan: ("worker/sft.py",), RLPlan: ("worker/rl.py",)}
SAID_OTHERWISE = {"offline"}
"""of an offline job `reward` is None"""


def read_of(tree: ast.AST, name: str) -> set[str]:
    """Attributes that are read of a variable."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    }


@pytest.mark.parametrize("kind", [SFTPlan, RLPlan])
def test_every_number_of_a_plan_is_read(kind: type[SFTPlan] | type[RLPlan]) -> None:
    """By the worker that does it, or where it becomes settings of a loop."""
    classes = ast.parse(Path(plan.__file__).read_text(encoding="utf-8")).body
    own = next(node for node in classes if isinstance(node, ast.ClassDef) and node.name == kind.__name__)
    read = read_of(own, "self")
    for name in DOERS[kind]:
        read |= read_of(ast.parse((ROOM / name).read_text(encoding="utf-8")), "plan")
    assert {field.name for field in fields(kind)} - read <= SAID_OTHERWISE
