"""YAML files that users write for verbs and commands, read strictly: no mapping may have a name twice.

Scenario files have a reader of their own (`harena.scoring.reading`), which tells every mistake and its line.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

_MERGE = "tag:yaml.org,2002:merge"


class YamlError(ValueError):
    """A text that is no YAML, or in which a name stands twice."""


def read_yaml_file(path: Path) -> object:
    """What the file's one document says; None = it says nothing. Raises YamlError, OSError, UnicodeDecodeError."""
    import yaml

    text = path.read_text(encoding="utf-8")
    try:
        return yaml.load(text, _loader())
    except RecursionError:
        raise YamlError("it is nested too deeply") from None
    except (yaml.YAMLError, *_NO_VALUE) as error:
        raise YamlError(str(error) or type(error).__name__) from None


_NO_VALUE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""what the safe loader raises for a text that does not fit its tag, such as 2024-13-01 and `!!int []`"""


@cache
def _loader() -> Any:
    import yaml
    from yaml.constructor import ConstructorError

    class Loader(yaml.SafeLoader):
        """The safe loader, which takes the last of two values of a name silently, and this one refuses both."""

        def get_single_node(self) -> Any:
            """The document, before `<<` merges anything: what that brings may be written anew. Raises ConstructorError
            for a name that stands in a mapping twice."""
            root = super().get_single_node()
            left, seen = [root], set()
            while left:
                node = left.pop()
                if not isinstance(node, yaml.CollectionNode) or id(node) in seen:
                    continue
                seen.add(id(node))
                if isinstance(node, yaml.SequenceNode):
                    left += node.value
                    continue
                names = set()
                for key, value in node.value:
                    left += (key, value)
                    if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
                        if (name := self.construct_object(key)) in names:
                            raise ConstructorError(None, None, f"{key.value!r} stands twice", key.start_mark)
                        names.add(name)
            return root

    return Loader
