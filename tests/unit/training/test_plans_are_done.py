"""Whoever does a plan reads all of it: a number that nobody reads would be a field of a request without an effect."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path

import pytest

import harena.training
from harena.core.records.training_plans import RLPlan, SFTPlan
from harena.training.requests import plan

ROOM = Path(harena.training.__file__).parent
DOERS = {SFTPlan: ("worker/sft.py",), RLPlan: ("worker/rl.py",)}
SETTINGS = {SFTPlan: "sft_settings", RLPlan: "rl_settings"}
"""the function that makes the loop's settings of a plan"""
SAID_OTHERWISE = {"offline", "trainer_type"}
"""of an offline job `reward` is None; a plan's class tells its trainer"""


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
    declared = ast.parse(Path(plan.__file__).read_text(encoding="utf-8")).body
    own = next(node for node in declared if isinstance(node, ast.FunctionDef) and node.name == SETTINGS[kind])
    read = read_of(own, "plan")
    for name in DOERS[kind]:
        read |= read_of(ast.parse((ROOM / name).read_text(encoding="utf-8")), "plan")
    assert {field.name for field in fields(kind)} - read <= SAID_OTHERWISE
