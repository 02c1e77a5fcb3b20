"""A policy in a folder, for a sampler in another process: the model, its adapter where it has one, the tokenizer.

    model/       a Hugging Face directory
    adapter/     a peft directory; only where the policy has an adapter

Only what is trained is published later, by parameter name; names are the same on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM

from harena.core.errors import ValidationError
from harena.training.data.names_inside import check_names_inside
from harena.training.reading.walled import within

MODEL, ADAPTER = "model", "adapter"


def write_policy(model: Any, folder: Path) -> None:
    """Raises OSError."""
    base = model
    if hasattr(model, "disable_adapter"):
        model.save_pretrained(folder / ADAPTER)
        base = deepcopy(model).unload()
    base.save_pretrained(folder / MODEL)


def read_policy(folder: Path, *, device: str = "cpu") -> Any:
    """The model; its parameters ask for gradients where they are trained. Raises OSError, ValidationError."""
    check_folder(folder)
    for part in (MODEL, ADAPTER):
        check_names_inside(folder / part)
    return within(folder, lambda: _read(folder)).to(torch.device(device))


def _read(folder: Path) -> Any:
    model: Any = AutoModelForCausalLM.from_pretrained(
        folder / MODEL, dtype="auto", local_files_only=True, trust_remote_code=False, weights_only=True
    )
    if (folder / ADAPTER).is_dir():
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, folder / ADAPTER, is_trainable=True)
    return model


def check_folder(folder: Path) -> None:
    """Raises ValidationError where it holds no policy."""
    if not (folder / MODEL / "config.json").is_file():
        raise ValidationError(f"{folder} holds no policy: it has no {MODEL}/config.json; write it with write_policy")


def trained_weights(model: Any) -> dict[str, Tensor]:
    """What is trained, by parameter name, on the CPU and contiguous, as safetensors wants it."""
    named = ((name, parameter.detach()) for name, parameter in model.named_parameters() if parameter.requires_grad)
    return {name: value.to("cpu").contiguous() for name, value in named}


def check_weights(weights: Mapping[str, Tensor], model: Any) -> None:
    """Raises ValidationError unless they are exactly what is trained of `model`, in the same shapes: the sampler has
    two copies, and a weight that is published only sometimes would be old in one of them."""
    wanted = {name: tuple(p.shape) for name, p in model.named_parameters() if p.requires_grad}
    given = {name: tuple(value.shape) for name, value in weights.items()}
    if wanted == given:
        return
    mistakes = [f"{name}: missing" for name in sorted(wanted.keys() - given.keys())]
    mistakes += [f"{name}: unknown" for name in sorted(given.keys() - wanted.keys())]
    shared = sorted(wanted.keys() & given.keys())
    mistakes += [f"{name}: {given[name]}, not {wanted[name]}" for name in shared if given[name] != wanted[name]]
    shown = mistakes[:5] + ([f"and {len(mistakes) - 5} more"] if len(mistakes) > 5 else [])
    raise ValidationError("\n  ".join(["these weights are not of this policy:", *shown]))
