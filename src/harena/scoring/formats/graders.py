"""OpenAI's graders, with rows of reinforcement fine-tuning (RFT), or as requests to run a grader.

    RFT         {"messages": [...], "answer": "42", ...}      each field is `item.*`; the grader is another file
    request     {"grader": {...}, "item": {"answer": "42"}, "model_sample": "..."}

    grader      {"type": "string_check", "name": ..., "input": "{{ sample.output_text }}",
                 "reference": "{{ item.answer }}", "operation": "eq"}
                also text_similarity, python (`def grade(sample, item)`), score_model, label_model, multi

The grader's file may also be a whole fine-tuning job that holds one.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harena.core.outside_json import JsonSizeError, read_outside
from harena.scoring.contracts.carry import defines, parsed
from harena.scoring.contracts.contract import (
    Contract,
    LabelModelContract,
    PythonContract,
    ScoreModelContract,
    StringCheckContract,
    TextSimilarityContract,
    WeightedContract,
)
from harena.scoring.formats.asked_fields import asked_in
from harena.scoring.formats.rows import FieldError, Row, refusal, shown
from harena.scoring.formats.task import Family, Task, made
from harena.scoring.python_source import MOST_SCORER_TOKENS

GRADER = "grader"
"""the field of a row that holds its grader"""

_PYTHON_SECONDS = 120.0
_MAX_PYTHON_BYTES = 256 * 1024
_ADAPTER = """\
import json

item = json.loads({item})
namespace = {{"__name__": "grader"}}
exec(compile({source}, "grader.py", "exec"), namespace)


def score(run):
    text = run.answer
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    message = dict(role="assistant", content=text)
    sample = dict(output_text=text, output_json=parsed, output_tools=[], choices=[dict(message=message)])
    return namespace["grade"](sample, item)
"""
"""runs in the scorer's sandbox; the grader has a namespace of its own, because it may define a `score` too. It is read
before the answer is: a grader that cannot be is broken, whatever the answer is"""


def read_grader_file(path: str | Path) -> Mapping[str, Any]:
    """The grader in a JSON file, or in the fine-tuning job in it. Raises ScenarioFileError."""
    try:
        content = read_outside(Path(path).read_bytes())
    except OSError as error:
        raise refusal(str(path), None, f"cannot be read: {error.strerror}; check the path") from None
    except UnicodeDecodeError as error:
        raise refusal(str(path), None, f"not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except RecursionError:
        raise refusal(str(path), None, "nested too deeply to be read") from None
    except JsonSizeError as error:
        raise refusal(str(path), None, str(error)) from None
    except ValueError as error:
        raise refusal(str(path), None, f"not JSON: {error}") from None
    return grader_in(content, str(path))


def grader_in(content: Any, file: str) -> Mapping[str, Any]:
    """The grader itself, or that of a fine-tuning job. Raises ScenarioFileError."""
    for name in ("method", "reinforcement", "grader"):
        if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
            content = content[name]
    if not isinstance(content, Mapping) or "type" not in content:
        raise refusal(file, None, f"a grader is a mapping with `type`, not {shown(content)}", "type")
    return content


def read(row: Row) -> Task:
    """One row. Raises FieldError."""
    if not row.has(GRADER):
        raise FieldError(GRADER, "is required: rows of messages say no verdict; name the grader's file with --grader")
    grader = row.mapping(GRADER)
    is_request = "messages" not in row.fields
    item = row.fields.get("item") or {} if is_request else {k: v for k, v in row.fields.items() if k != GRADER}
    if not isinstance(item, Mapping):
        raise FieldError("item", f"must be a mapping, not {shown(item)}")
    sample = row.fields.get("model_sample") if is_request else None
    if sample is not None and not isinstance(sample, str):
        raise FieldError("model_sample", f"must be text, not {shown(sample)}")
    return Task(
        id=row.id(),
        statement="" if is_request else _conversation(row),
        messages=() if is_request else tuple(row.decoded("messages")),
        item=item,
        contract=contract_of(grader, item, GRADER),
        sample=sample,
        entry="answer.txt",
    )


def _conversation(row: Row) -> str:
    messages = row.decoded("messages")
    if not isinstance(messages, list):
        raise FieldError("messages", f"must be a list of messages, not {shown(messages)}")
    return conversation_text(messages, "messages")


def conversation_text(messages: Sequence[Any], field: str) -> str:
    """Messages as people read them. Raises FieldError."""
    if not all(isinstance(message, Mapping) for message in messages):
        raise FieldError(field, f"must be a list of messages, not {shown(messages)}")
    texts = [(message.get("role", "?"), message.get("content")) for message in messages]
    return "\n\n".join(f"{role}: {text}" for role, text in texts if isinstance(text, str))


def conversation_asked(row: Row) -> tuple[str, tuple[Mapping[str, Any], ...]]:
    """(what a row asks for, as people read it; the same as a conversation where the row has one). Raises FieldError."""
    name, value = ("messages", row.decoded("messages")) if row.has("messages") else asked_in(row.fields) or ("", None)
    if isinstance(value, list) and value:
        return conversation_text(value, name), tuple(value)
    if not isinstance(value, str) or not value.strip():
        raise FieldError(name or "prompt", f"must be text or a list of messages, not {shown(value)}")
    return value, ()


def contract_of(grader: Any, item: Mapping[str, Any], field: str) -> Contract:
    """The contract of a grader for one item. Raises FieldError."""
    if not isinstance(grader, Mapping):
        raise FieldError(field, f"must be a grader, not {shown(grader)}")
    kind = grader.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise FieldError(f"{field}.type", f"must be one of {', '.join(_READERS)}, not {shown(kind)}")
    return reader(grader, item, field)


def _template(grader: Mapping[str, Any], name: str, field: str) -> str:
    value = grader.get(name)
    if not isinstance(value, str):
        raise FieldError(f"{field}.{name}", f"must be text (a template), not {shown(value)}")
    return value


def _string_check(grader: Mapping[str, Any], item: Mapping[str, Any], field: str) -> Contract:
    contract: StringCheckContract = made(
        StringCheckContract,
        field,
        type="string_check",
        operation=grader.get("operation"),
        **_compared_fields(grader, item, field),
    )
    return contract


def _text_similarity(grader: Mapping[str, Any], item: Mapping[str, Any], field: str) -> Contract:
    contract: TextSimilarityContract = made(
        TextSimilarityContract,
        field,
        type="text_similarity",
        **_compared_fields(grader, item, field),
        evaluation_metric=grader.get("evaluation_metric"),
        pass_mark=_pass_mark(grader, field),
    )
    return contract


def _compared_fields(grader: Mapping[str, Any], item: Mapping[str, Any], field: str) -> dict[str, Any]:
    """What string_check and text_similarity share. Of the item, the fields that the templates name: the whole
    conversation is not carried along for nothing."""
    templates = {name: _template(grader, name, field) for name in ("input", "reference")}
    named = " ".join(templates.values())
    return {**templates, "item": {name: value for name, value in item.items() if name in named}}


def _pass_mark(grader: Mapping[str, Any], field: str) -> float:
    value = grader.get("pass_threshold", 1.0)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FieldError(f"{field}.pass_threshold", f"must be a number, not {shown(value)}")
    return float(value)


def _share_of_range(grader: Mapping[str, Any], field: str) -> float:
    """The threshold of a `score_model`, which is in the units of its range, as a share of that."""
    ends = grader.get("range")
    if "pass_threshold" not in grader or not isinstance(ends, list | tuple) or len(ends) != 2:
        return _pass_mark(grader, field)
    low, high = ends
    is_range = all(type(end) in (int, float) for end in ends) and low < high
    return (_pass_mark(grader, field) - low) / (high - low) if is_range else _pass_mark(grader, field)


def _python(grader: Mapping[str, Any], item: Mapping[str, Any], field: str) -> Contract:
    source = grader.get("source")
    if not isinstance(source, str):
        raise FieldError(f"{field}.source", f"must be text (a program), not {shown(source)}")
    if len(source.encode("utf-8", "surrogatepass")) > _MAX_PYTHON_BYTES:
        raise FieldError(f"{field}.source", f"is longer than the {_MAX_PYTHON_BYTES} bytes allowed")
    try:
        tree: ast.Module = parsed(source, most_tokens=MOST_SCORER_TOKENS)
    except ValueError as error:
        raise FieldError(f"{field}.source", str(error)) from None
    if not defines(tree, "grade"):
        raise FieldError(f"{field}.source", "defines no function `grade(sample, item)`")
    contract: PythonContract = made(
        PythonContract,
        f"{field}.source",
        type="python",
        source=_ADAPTER.format(source=repr(source), item=repr(json.dumps(item))),
        run_candidate=False,
        pass_mark=_pass_mark(grader, field),
        scorer_timeout_seconds=_PYTHON_SECONDS,
    )
    return contract


def _judge_fields(grader: Mapping[str, Any], item: Mapping[str, Any], field: str) -> dict[str, Any]:
    """What score_model and label_model share."""
    written = grader.get("input")
    if not isinstance(written, list):
        raise FieldError(f"{field}.input", f"must be a list of messages, not {shown(written)}")
    messages = [_message(message, f"{field}.input[{index}]") for index, message in enumerate(written)]
    parameters = grader.get("sampling_params") or {}
    if not isinstance(parameters, Mapping):
        raise FieldError(f"{field}.sampling_params", f"must be a mapping, not {shown(parameters)}")
    renamed = {_TOKENS.get(name, name): value for name, value in parameters.items()}
    return {
        "model": grader.get("model"),
        "messages": messages,
        "sampling_params": renamed,
        "item": {name: value for name, value in item.items() if any(name in m["content"] for m in messages)},
    }


_TOKENS = {"max_completions_tokens": "max_completion_tokens", "max_tokens": "max_completion_tokens"}


def _message(written: Any, field: str) -> dict[str, str]:
    """A message whose content is text, or one part of text, or a list of such parts."""
    if not isinstance(written, Mapping):
        raise FieldError(field, f"must be a message, not {shown(written)}")
    content = written.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise FieldError(f"{field}.content", f"must be text (a template), not {shown(content)}")
    return {"role": written.get("role", "user"), "content": "\n".join(map(str, texts))}


def _score_model(grader: Mapping[str, Any], item: Mapping[str, Any], field: str) -> Contract:
    contract: ScoreModelContract = made(
        ScoreModelContract,
        field,
        type="score_model",
        range=grader.get("range", (0.0, 1.0)),
        pass_mark=_share_of_range(grader, field),
        **_judge_fields(grader, item, field),
    )
    return contract


def _label_model(grader: Mapping[str, Any], item: Mapping[str, Any], field: str) -> Contract:
    contract: LabelModelContract = made(
        LabelModelContract,
        field,
        type="label_model",
        labels=grader.get("labels"),
        passing_labels=grader.get("passing_labels"),
        **_judge_fields(grader, item, field),
    )
    return contract


def _multi(grader: Mapping[str, Any], item: Mapping[str, Any], field: str) -> Contract:
    graders, formula = grader.get("graders"), grader.get("calculate_output")
    if isinstance(graders, list):  # older form: each has a name
        graders = {part.get("name"): part for part in graders if isinstance(part, Mapping)}
    if not isinstance(graders, Mapping) or not graders:
        raise FieldError(f"{field}.graders", f"must be a mapping of graders by name, not {shown(graders)}")
    if not isinstance(formula, str):
        raise FieldError(
            f"{field}.calculate_output", f"must be a formula over the graders' names, not {shown(formula)}"
        )
    parts = {}
    for name, part in graders.items():
        if isinstance(part, Mapping) and part.get("type") == "multi":
            raise FieldError(f"{field}.graders.{name}", "a multi grader cannot be part of another")
        parts[name] = {"scoring": contract_of(part, item, f"{field}.graders.{name}")}
    contract: WeightedContract = made(
        WeightedContract, f"{field}", type="weighted", parts=parts, formula=formula, pass_mark=_pass_mark(grader, field)
    )
    return contract


_READERS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any], str], Contract]] = {
    "string_check": _string_check,
    "text_similarity": _text_similarity,
    "python": _python,
    "score_model": _score_model,
    "label_model": _label_model,
    "multi": _multi,
}


def _is_conversation(fields: Mapping[str, Any]) -> bool:
    return "messages" in fields


def _is_request(fields: Mapping[str, Any]) -> bool:
    return GRADER in fields and "messages" not in fields


RFT = Family(name="rft", needs="messages, and what the grader names; with --grader", fits=_is_conversation, read=read)
REQUEST = Family(name="grader", needs="grader, item, model_sample", fits=_is_request, read=read)
