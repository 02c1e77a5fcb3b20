"""Sampling requests and sampled sequences as JSON: what an engine and a sampler in another process say to each other.

    GET  /v1/policy                 {"version", "context_length", "vocabulary_size"}
    POST /v1/sample                 {"batch": name, "requests": [request, ...]}: sampled side by side; answers one line
                                    of JSON for each sequence when it has ended: {"row", "tokens", "logprobs",
                                    "versions", "stop", "kept"}, or {"error"}. Whoever hangs up aborts the rest
    POST /v1/abort                  {"batch": name, "rows": [...]}: end these at the next token
    PUT  /v1/weights/VERSION        a safetensors file, or (as JSON) {"folder": where weights.safetensors lies}

Every request carries `Authorization: Bearer TOKEN`. A mistake is answered with 4xx and {"detail"}.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from harena.core.errors import ValidationError
from harena.training.rollouts.trajectory import Sampled, SampleRequest, Sampling, StopReason

WEIGHTS_FILE = "weights.safetensors"
_SAMPLING = frozenset({"max_new_tokens", "temperature", "top_k", "top_p", "stop_tokens"})


def request_to_json(request: SampleRequest) -> dict[str, Any]:
    """A request, for the wire. Raises ValidationError for texts that end an answer: who samples there has no
    tokenizer."""
    sampling = request.sampling
    if sampling.stop_texts:
        raise ValidationError("stop_texts need a tokenizer, and a sampler over HTTP has none: sample in this process")
    return {
        "prompt": list(request.prompt),
        "key": list(request.key),
        "sampling": {
            "max_new_tokens": sampling.max_new_tokens,
            "temperature": sampling.temperature,
            "top_k": sampling.top_k,
            "top_p": sampling.top_p,
            "stop_tokens": list(sampling.stop_tokens),
        },
    }


def request_from_json(entry: Any, *, vocabulary_size: int) -> SampleRequest:
    """A request, from the wire. Raises ValidationError."""
    if not isinstance(entry, Mapping) or set(entry) != {"prompt", "key", "sampling"}:
        raise ValidationError("a request is {prompt, key, sampling}")
    sampling = entry["sampling"]
    if not isinstance(sampling, Mapping) or not set(sampling) <= _SAMPLING:
        raise ValidationError(f"sampling is an object of {', '.join(sorted(_SAMPLING))}")
    numbers = {name: value for name, value in sampling.items() if name != "stop_tokens"}
    for name, value in numbers.items():
        whole = name in ("max_new_tokens", "top_k")
        fits = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        if not (fits or (value is None and name == "top_k")):
            raise ValidationError(f"sampling.{name} must be {'an integer' if whole else 'a number'} (got {value!r})")
    return SampleRequest(
        prompt=_integers(entry["prompt"], "prompt", below=vocabulary_size),
        key=_integers(entry["key"], "key"),
        sampling=Sampling(
            **numbers,
            stop_tokens=_integers(sampling.get("stop_tokens", []), "stop_tokens", below=vocabulary_size),
        ),
    )


def sampled_to_json(row: int, sampled: Sampled) -> dict[str, Any]:
    """A sequence, for the wire. Floats keep every bit."""
    return {
        "row": row,
        "tokens": sampled.tokens,
        "logprobs": sampled.logprobs,
        "versions": sampled.versions,
        "stop": str(sampled.stop),
        "kept": sampled.kept,
    }


def sampled_from_json(entry: Mapping[str, Any]) -> tuple[int, Sampled]:
    """(its row, the sequence), from the wire. Raises KeyError, TypeError or ValueError where it is none."""
    sampled = Sampled(
        tokens=tuple(map(int, entry["tokens"])),
        logprobs=tuple(map(float, entry["logprobs"])),
        versions=tuple(map(int, entry["versions"])),
        stop=StopReason(entry["stop"]),
        kept=tuple(tuple(map(int, among)) for among in entry["kept"]),
    )
    lengths = {len(sampled.tokens), len(sampled.logprobs), len(sampled.versions), len(sampled.kept or sampled.tokens)}
    if len(lengths) != 1 or not all(map(math.isfinite, sampled.logprobs)):
        raise ValueError("columns of different lengths, or log-probabilities that are no numbers")
    return int(entry["row"]), sampled


def _integers(value: Any, name: str, *, below: int | None = None) -> tuple[int, ...]:
    fits = isinstance(value, list) and all(type(entry) is int and entry >= 0 for entry in value)
    if not fits or (below is not None and any(entry >= below for entry in value)):
        limit = "" if below is None else f" below {below}"
        raise ValidationError(f"{name} must be a list of integers from 0{limit}")
    return tuple(value)
