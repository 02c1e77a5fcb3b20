"""The engine of a training job, from its plan. The one module beside `engines` and the two workers that needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers.utils.logging import disable_progress_bar

from harena.core.errors import ValidationError
from harena.core.records.training_plans import TuningPlan
from harena.training.data.templates import ChatTemplate
from harena.training.data.tokenizer_files import stop_mistake
from harena.training.engines.critic import CriticEngine
from harena.training.engines.local import LocalEngine, LocalTrainer
from harena.training.engines.models import Lora, load_model, with_adapter
from harena.training.engines.tiny import shipped_model
from harena.training.requests.references import ResolvedReferences


def open_engine(
    resolved: ResolvedReferences,
    tuning: TuningPlan,
    *,
    seed: int,
    keep_reference: bool = False,
    pack: bool = False,
    critic: bool = False,
) -> LocalEngine:
    """An engine over the model that the job begins with, on the GPU where there is one, with a critic beside it where
    one is asked for. Raises ValidationError."""
    model, tokenizer = open_model(resolved, tuning, seed=seed)
    kind = CriticEngine if critic else LocalEngine
    return kind(model, tokenizer, device=device_here(), keep_reference=keep_reference, pack=pack)


def device_here() -> str:
    """Where this machine computes: the GPU where there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def open_model(resolved: ResolvedReferences, tuning: TuningPlan, *, seed: int) -> tuple[Any, Any]:
    """(model, tokenizer) that the job begins with. The same plan gives the same weights. Raises ValidationError."""
    disable_progress_bar()
    ref = resolved.find("model")
    if ref is None:
        raise ValidationError("the plan names no model: submit the job again")
    torch.manual_seed(seed)
    shipped = ref.shipped
    if shipped is not None:
        model, tokenizer = shipped_model(shipped, seed=seed)
    else:
        half = device_here() == "cuda" and tuning.kind == "lora"
        model, tokenizer = load_model(Path(ref.path or ""), dtype=torch.bfloat16 if half else torch.float32)
        # exported models and adapters say it: not where this node keeps its objects
        stored = ref.version is not None and "/" not in ref.name
        model.name_or_path = tokenizer.name_or_path = f"{ref.name}@{ref.version}" if stored else ref.name
    if tuning.kind == "lora":
        lora = Lora(
            rank=tuning.rank or 16,
            alpha=tuning.alpha,
            targets=None if tuning.target_modules is None else tuple(tuning.target_modules),
            seed=seed,
        )
        model = with_adapter(model, lora)
    return model, tokenizer


def chat_template(engine: LocalTrainer, capability_prompt: str | None) -> ChatTemplate | None:
    """The tokenizer's; None = it has none, and rows are texts. Raises ValidationError where a capability's prompt has
    no template to stand in."""
    if engine.tokenizer.chat_template is None and capability_prompt is None:
        return None
    return ChatTemplate(engine.tokenizer, capability_prompt=capability_prompt)


def check_stop(engine: LocalTrainer, stop: Sequence[str]) -> None:
    """Raises ValidationError for a text that the tokenizer cannot write: no answer would end with it."""
    unknown = engine.tokenizer.inner.unk_token_id
    if cannot := [text for text in stop if unknown in engine.tokenizer.encode(text)]:
        raise ValidationError(f"config.stop: {stop_mistake(cannot)}")
