"""Templates of text graders: `{{ item.answer }}`, `{{ sample.output_text }}`, `{{ sample.output_json.steps[0].value
}}`.

Nothing is evaluated: a name leads from a mapping to one of its values, `[3]` and `.3` to an item of a list. What the
model wrote is put in as it is, and never read as a template again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from harena.core.json_steps import parse

_PATH = re.compile(r"[A-Za-z_]\w*(?:\.\w+|\[\d+\]|\[\"[^\"]*\"\]|\['[^']*'\])*")
_STEP = re.compile(r"\w+|\"[^\"]*\"|'[^']*'")
_MOST_JSON = 1 << 19
_MOST_PLACEHOLDERS = 10_000
_MOST_OF_ITEMS, _MOST_OF_SAMPLES = 1 << 23, 1 << 26
"""characters that are put in: a placeholder of ten can stand for a megabyte, thousands of times"""
_SAMPLE = ("output_text", "output_json")


class TemplateError(ValueError):
    """A template that can never be filled."""


class SampleError(ValueError):
    """What the model wrote does not have what the template asks for."""


def placeholders(template: str) -> Iterator[tuple[int, int]]:
    """Where the `{{` and the end of the `}}` of each one are, found in one pass: the pattern `{{.*?}}` takes quadratic
    time for a text of `{` alone. Raises TemplateError for more than may be."""
    count = end = 0
    while (start := template.find("{{", end)) >= 0 and (closing := template.find("}}", start + 2)) >= 0:
        end, count = closing + 2, count + 1
        if count > _MOST_PLACEHOLDERS:
            raise TemplateError(f"the template has more than {_MOST_PLACEHOLDERS} placeholders")
        yield start, end


def check_template(template: str, item: Mapping[str, Any]) -> None:
    """Raises TemplateError for a placeholder that is not written right, or names what `item` does not have."""
    for start, end in placeholders(template):
        written = template[start + 2 : end - 2]
        root, path = _steps(written)
        if root == "item":
            _followed(item, path, written.strip())
        elif not path or path[0] not in _SAMPLE:
            raise TemplateError(
                f"{template[start:end]:.200} is not known; of the sample there are "
                f"{', '.join(f'sample.{name}' for name in _SAMPLE)}"
            )


def filled(
    template: str, item: Mapping[str, Any], output_text: str | None, shown: Callable[[str], str] = lambda text: text
) -> str:
    """The text with everything put in. `output_text` None: nothing stands where the sample would; `shown`: what stands
    there in place of what the model wrote. Raises TemplateError and SampleError."""

    of_items, of_samples = _MOST_OF_ITEMS, _MOST_OF_SAMPLES
    parsed = cache(lambda: _parsed(output_text or ""))

    def counted(written: str) -> str:
        nonlocal of_items, of_samples
        text = value(written)
        if written.strip().startswith("item"):
            of_items -= len(text)
        else:
            of_samples -= len(text)
        if of_items < 0:
            raise TemplateError(f"with its values put in, the template is longer than {_MOST_OF_ITEMS} characters")
        if of_samples < 0:
            raise SampleError(f"with the answer put in, the template is longer than {_MOST_OF_SAMPLES} characters")
        return text

    def value(written: str) -> str:
        root, path = _steps(written)
        if root == "item":
            return _text(_followed(item, path, written.strip()))
        if output_text is None or path == ["output_text"]:
            return shown(output_text or "")
        try:
            return shown(_text(_followed(parsed(), path[1:], written.strip())))
        except TemplateError as error:
            raise SampleError(str(error)) from None
        except SampleError:
            raise
        except (ValueError, RecursionError):  # nested deeper than can be written
            raise SampleError(f"{written.strip():.200} cannot be written as text") from None

    parts: list[str] = []
    copied = 0
    for start, end in placeholders(template):
        parts += (template[copied:start], counted(template[start + 2 : end - 2]))
        copied = end
    return "".join((*parts, template[copied:]))


def _parsed(output_text: str) -> Any:
    if len(output_text) > _MOST_JSON:  # a parser's values may take fifty times what it reads, and it cannot be stopped
        raise SampleError(f"the answer is longer than the {_MOST_JSON} characters that are read as JSON")
    try:
        return parse(output_text)
    except (ValueError, RecursionError):
        raise SampleError("the answer is not JSON") from None


def _steps(written: str) -> tuple[str, list[str]]:
    path = written.strip()
    if not _PATH.fullmatch(path):
        raise TemplateError(f"{{{{{written:.200}}}}} is not a path, as item.name or sample.output_json.values[0]")
    root, *steps = (step.strip("\"'") for step in _STEP.findall(path))
    if root not in ("item", "sample"):
        raise TemplateError(f"{{{{{written:.200}}}}} begins with {root!r:.200}; there are item and sample")
    return root, steps


def _followed(value: Any, steps: list[str], path: str) -> Any:
    for step in steps:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list | tuple) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            raise TemplateError(f"{path:.200} leads nowhere: there is no {step!r:.200}")
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
