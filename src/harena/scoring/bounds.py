"""Bounds of lists, mappings and records in requests: checked before what they hold is looked at, and stated by the
OpenAPI document.

A list or mapping that is too long is one mistake, and of a long one only the first wrong item is told: to find, and to
tell of, every wrong item of ten megabytes takes minutes and gigabytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema, core_schema

from harena.core.checked import encodable, quote

ALL_TOLD = 20
"""items, or unknown fields, of which every mistake is told"""


@dataclass(frozen=True, slots=True)
class AtMost:
    """Allows so many items of a list, or names of a mapping; a text in it may have `text` characters. Stands behind the
    type: Annotated[list[Word], AtMost(100)]."""

    items: int
    text: int | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        made = handler(schema)
        made["maxItems" if made.get("type") == "array" else "maxProperties"] = self.items
        return made

    def check(self, given: Any) -> Any:
        """The value as it is. Raises ValueError."""
        if not isinstance(given, list | tuple | dict):
            return given  # another mistake, that is told by its type
        if len(given) > self.items:
            raise ValueError(f"may have at most {self.items} items, and has {len(given)}")
        if self.text is not None and len(given) > ALL_TOLD:
            texts = ((None, item) for item in given) if isinstance(given, list | tuple) else given.items()
            for place, (name, text) in enumerate(texts):
                for part in (text,) if name is None else (name, text):
                    self._check_text(part, f"item {place}" if name is None else f"item {quote(name)}")
        return given

    def _check_text(self, text: Any, where: str) -> None:
        assert self.text is not None
        if not isinstance(text, str):
            raise ValueError(f"{where} must be text (got {quote(text)})" if _is_plain(text) else f"{where}: no text")
        if len(text) > self.text:
            raise ValueError(f"{where} may have at most {self.text} characters, and has {len(text)}")
        encodable(text, "the request")


def _is_plain(value: Any) -> bool:
    return isinstance(value, int | float | bool | None)


@dataclass(frozen=True, slots=True)
class Characters:
    """Allows so many characters of a text that can be written as UTF-8: JSON can hold halves of surrogate pairs, which
    nothing behind a request can write."""

    most: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "maxLength": self.most}

    def check(self, given: str) -> str:
        """The text as it is. Raises ValueError."""
        if len(given) > self.most:
            raise ValueError(f"may have at most {self.most} characters, and has {len(given)}")
        return encodable(given, "the request")


class StrictShape(BaseModel):
    """A record of a request. Many unknown fields are one mistake."""

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, given: Any) -> Any:
        if isinstance(given, dict) and len(given) > len(cls.model_fields) + ALL_TOLD:
            first = next((name for name in given if name not in cls.model_fields), "")
            raise ValueError(
                f"has {len(given)} fields, of which {len(cls.model_fields)} are known; unknown is {quote(first)}"
            )
        return given
