"""The engine of a training job, from its plan. The one module beside `engines` and the two workers that needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers.utils.logging import disable_progress_bar

from harena.core.errors import ValidationError
from harena.core.records.training_plans import TuningPlan
from harena.training.data.templates import ChatTemplate
from harena.training.data.tokenizer_files import stop_mistake
from harena.training.engines.local import LocalEngine
from harena.training.engines.models import Lora, load_model, with_adapter
from harena.training.engines.tiny import shipped_model
from harena.training.requests.references import ResolvedReferences


def open_engine(
    resolved: ResolvedReferences, tuning: TuningPlan, *, seed: int, keep_reference: bool = False, pack: bool = False
) -> LocalEngine:
    """The model that the job begins with, on the GPU where there is one. The same plan gives the same weights. Raises
    ValidationError."""
    disable_progress_bar()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    ref = resolved.find("model")
    if ref is None:
        raise ValidationError("the plan names no model: submit the job again")
    torch.manual_seed(seed)
    shipped = ref.shipped
    if shipped is not None:
        model, tokenizer = shipped_model(shipped, seed=seed)
    else:
        half = device == "cuda" and tuning.kind == "lora"
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
    return LocalEngine(model, tokenizer, device=device, keep_reference=keep_reference, pack=pack)


def chat_template(engine: LocalEngine, capability_prompt: str | None) -> ChatTemplate | None:
    """The tokenizer's; None = it has none, and rows are texts. Raises ValidationError where a capability's prompt has
    no template to stand in."""
    if engine.tokenizer.chat_template is None and capability_prompt is None:
        return None
    return ChatTemplate(engine.tokenizer, capability_prompt=capability_prompt)


def stop_tokens(engine: LocalEngine, stop: Sequence[str]) -> tuple[int, ...]:
    """What ends an answer: the tokenizer's own, and the texts of `stop`. Raises ValidationError for a text that is not
    one token, or that the tokenizer cannot write."""
    found = {text: engine.tokenizer.encode(text) for text in stop}
    unknown = engine.tokenizer.inner.unk_token_id
    mistake = stop_mistake({text: len(tokens) for text, tokens in found.items()})
    if cannot := [repr(text) for text, tokens in found.items() if unknown in tokens]:
        mistake = f"{', '.join(cannot)}: this model's tokenizer has no token for it: leave it out"
    if mistake is not None:
        raise ValidationError(f"config.stop: {mistake}")
    return (*engine.tokenizer.end_tokens, *(tokens[0] for tokens in found.values()))
