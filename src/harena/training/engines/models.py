"""Models from directories and back: load, adapt with LoRA, merge and export. Plain Hugging Face and peft objects."""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

from harena.core.errors import HostUnsupportedError, ValidationError
from harena.training.data.model_files import check_model_directory
from harena.training.engines.tokenizer import LocalTokenizer
from harena.training.reading.walled import within

ALPHA_PER_RANK = 2
MOST_SECONDS = 3600.0
"""in which a model is loaded: a file that keeps its parser busy for longer fails its job"""
_NOTHING_ELSE: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
"""the directory's files are read, no code of theirs is run, and nobody is asked for more"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lora:
    """Low-rank adapters (arXiv 2106.09685): W x + (alpha / rank) B A x, of which A and B are trained."""

    rank: int = 16
    alpha: int | None = None
    """None = twice the rank"""
    targets: tuple[str, ...] | None = None
    """names of the linear layers that get one, as `q_proj`; None = all but the output layer"""
    seed: int = 0
    """seed of A; B begins at zero"""

    @property
    def scale(self) -> float:
        """What the adapter's output is multiplied by."""
        return (self.alpha or self.rank * ALPHA_PER_RANK) / self.rank


def load_model(path: Path, *, dtype: torch.dtype = torch.float32) -> tuple[Any, Any]:
    """(model, tokenizer) of a Hugging Face directory. Raises ValidationError, which names files that are missing or cut
    short, before anything is loaded."""
    check_model_directory(path)
    try:
        model, tokenizer = within(path, lambda: _read(path, dtype), most_seconds=MOST_SECONDS)
    except BaseException as error:  # libraries raise anything over such files, Rust panics too
        if isinstance(error, KeyboardInterrupt | SystemExit | HostUnsupportedError):
            raise
        said = str(error) or type(error).__name__
        raise ValidationError(f"{path} cannot be loaded as a causal language model: {said:.2000}") from None
    if tokenizer.eos_token_id is None:
        raise ValidationError(f"{path}: its tokenizer has no end-of-sequence token, so no answer would ever end")
    return model, tokenizer


def _read(path: Path, dtype: torch.dtype) -> tuple[Any, Any]:
    model = AutoModelForCausalLM.from_pretrained(path, dtype=dtype, weights_only=True, **_NOTHING_ELSE)
    return model, AutoTokenizer.from_pretrained(path, **_NOTHING_ELSE)


def with_adapter(model: Any, lora: Lora) -> Any:
    """A peft model over this one, which is changed by it; only the adapter is trained. Raises ValidationError."""
    config = LoraConfig(
        r=lora.rank,
        lora_alpha=round(lora.scale * lora.rank),
        target_modules=list(lora.targets) if lora.targets else "all-linear",
        lora_dropout=0.0,
        task_type="CAUSAL_LM",
    )
    _check_not_shared(model, lora.targets or ())
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(lora.seed)
            return get_peft_model(model, config)
    except ValueError as error:
        names = sorted({name.rpartition(".")[2] for name, part in model.named_modules() if _is_linear(part)})
        raise ValidationError(f"LoRA: {error}. The model's linear layers are {', '.join(names)}") from None


def _check_not_shared(model: Any, targets: Collection[str]) -> None:
    """Merged, an adapter of one of two layers that share their weights would change both."""
    ends = (model.get_input_embeddings(), model.get_output_embeddings())
    if None in ends or ends[0].weight is not ends[1].weight:
        return
    names = [name for name, part in model.named_modules() if part in ends]
    if wrong := [target for target in targets if any(f".{name}".endswith(f".{target}") for name in names)]:
        raise ValidationError(
            f"LoRA: {', '.join(wrong)}: this model's input and output embeddings are the same weights "
            f"({' and '.join(names)}), so an adapter of one alone cannot be merged: leave it out of lora_target_modules"
        )


def adapted_layers(model: Any) -> tuple[str, ...]:
    """The names of the layers that have an adapter, as `q_proj`."""
    return tuple(sorted({name.rpartition(".")[2] for name, part in model.named_modules() if hasattr(part, "lora_A")}))


def has_adapter(model: Any) -> bool:
    """Whether it is a peft model."""
    return hasattr(model, "disable_adapter")


def export_model(model: Any, tokenizer: LocalTokenizer, folder: Path) -> None:
    """A directory that plain `transformers` loads, adapters merged into the weights; `generate` ends where training
    ended answers. Raises OSError."""
    if has_adapter(model):
        model = deepcopy(model).merge_and_unload()
    model.generation_config.eos_token_id = list(tokenizer.end_tokens)
    model.generation_config.pad_token_id = tokenizer.pad_token
    model.save_pretrained(folder)
    tokenizer.inner.save_pretrained(folder)


def export_adapter(model: Any, folder: Path) -> None:
    """The adapter alone, as `peft` loads it over the model that it was trained on. Raises ValidationError, OSError."""
    if not has_adapter(model):
        raise ValidationError("the model was trained as a whole: it has no adapter to export")
    model.save_pretrained(folder)


def _is_linear(part: Any) -> bool:
    return isinstance(part, torch.nn.Linear)
