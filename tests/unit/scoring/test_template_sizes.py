"""A short template can ask for much: what it becomes is bounded."""

from __future__ import annotations

import contextlib
import time
import tracemalloc

import pytest

from harena.core.models import MIB
from harena.scoring.contracts.templates import SampleError, TemplateError, check_template, filled


def test_a_template_that_becomes_gigabytes_is_refused() -> None:
    """A megabyte, put in ten thousand times: a mistake of the template, or an answer that does not fit in it."""
    large = "x" * MIB
    tracemalloc.start()
    try:
        with pytest.raises(TemplateError, match="longer than"):
            filled("{{item.a}}" * 10_000, {"a": large}, None)
        with pytest.raises(SampleError, match="longer than"):
            filled("{{sample.output_text}}" * 10_000, {}, large)
        assert tracemalloc.get_traced_memory()[1] < 100 * MIB
    finally:
        tracemalloc.stop()
    assert len(filled("{{item.a}}{{sample.output_text}}", {"a": large}, large)) == 2 * MIB


@pytest.mark.parametrize("template", ["{" * 1_000_000, "{{ " * 300_000, "{{a" * 100_000 + "}}", "{{item.a}}" * 10_001])
def test_no_template_takes_quadratic_time(template: str) -> None:
    """A million braces took hours, in one call that nothing interrupts."""
    before = time.process_time()
    for work in (lambda: check_template(template, {"a": ""}), lambda: filled(template, {"a": ""}, "")):
        with contextlib.suppress(TemplateError):
            work()
    assert time.process_time() - before < 1
