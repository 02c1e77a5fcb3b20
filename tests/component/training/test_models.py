"""Models out of directories and into them; adapters, and what is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

from harena.core.errors import ValidationError
from harena.training.data.conversations import conversation_of
from harena.training.data.templates import ChatTemplate
from harena.training.engines.local import LocalEngine
from harena.training.engines.models import Lora, adapted_layers, load_model, with_adapter
from harena.training.engines.tiny import byte_pair_tokenizer, tiny_llama
from harena.training.loop.batch import sft_batch
from harena.training.ports import OptimizerStep

pytestmark = pytest.mark.filterwarnings(
    "ignore:`is_gradient_checkpointing`:FutureWarning"
)  # what peft asks transformers
ROW = {"prompt": "Add 3 to x.", "completion": "x + 3"}
WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model directory."""
    folder = tmp_path_factory.mktemp("model")
    tokenizer = byte_pair_tokenizer([*ROW.values()] * 2, size=300)
    tiny_llama(len(tokenizer), seed=0, width=32, layers=2, heads=2, context_length=64).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Iterator[Path]:
    """One that may be broken."""
    for file in saved.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


async def trained(saved: Path, lora: Lora) -> LocalEngine:
    """With an adapter that has learnt something."""
    model, tokenizer = load_model(saved)
    engine = LocalEngine(with_adapter(model, lora), tokenizer)
    batch = sft_batch(ChatTemplate(engine.tokenizer).rows(conversation_of(ROW)))
    for _ in range(10):
        await engine.forward_backward(batch, None)
        await engine.optim_step(OptimizerStep(learning_rate=1e-2))
    return engine


def logprobs(model: Any, tokens: tuple[int, ...]) -> list[float]:
    """Of every token but the first."""
    with torch.no_grad():
        values = model(torch.tensor([tokens])).logits[0].log_softmax(-1)
    return [float(values[place, token]) for place, token in enumerate(tokens[1:])]


async def test_merged_and_adapter_agree_in_plain_transformers(saved: Path, tmp_path: Path) -> None:
    engine = await trained(saved, Lora(rank=4, targets=("q_proj", "down_proj")))
    await engine.export(tmp_path / "merged")
    await engine.export_adapter(tmp_path / "adapter")
    await engine.close()
    (row,) = ChatTemplate(engine.tokenizer).rows(conversation_of(ROW))
    base = AutoModelForCausalLM.from_pretrained(saved)
    before = logprobs(base, row.tokens)
    adapter = logprobs(PeftModel.from_pretrained(base, tmp_path / "adapter"), row.tokens)
    merged = logprobs(AutoModelForCausalLM.from_pretrained(tmp_path / "merged"), row.tokens)
    assert merged == pytest.approx(adapter, abs=1e-5)
    assert sum(merged) > sum(before) + 1


async def test_an_exported_model_ends_its_answers(saved: Path, tmp_path: Path) -> None:
    """The chat template is in the directory, and `generate` stops at the end of a turn."""
    engine = await trained(saved, Lora(rank=16))
    await engine.export(tmp_path)
    await engine.close()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    model = AutoModelForCausalLM.from_pretrained(tmp_path)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": ROW["prompt"]}], add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    said = model.generate(**prompt, max_new_tokens=20, do_sample=False)[0, prompt["input_ids"].shape[1] :]
    assert tokenizer.decode(said, skip_special_tokens=False) == "x + 3<|im_end|>"


async def test_alpha_and_targets_are_used(saved: Path) -> None:
    """Twice the alpha is twice the change; layers without an adapter are as they were."""
    changes = []
    for alpha in (4, 8):
        model, _ = load_model(saved)
        adapted = with_adapter(model, Lora(rank=4, alpha=alpha, targets=("v_proj",)))
        assert adapted_layers(adapted) == ("v_proj",)
        layer = adapted.base_model.model.model.layers[0].self_attn.v_proj
        torch.nn.init.ones_(layer.lora_B["default"].weight)
        given = torch.linspace(-1, 1, 32)
        changes.append((layer(given) - layer.base_layer(given)).detach())
    assert torch.allclose(changes[1], 2 * changes[0])
    assert float(changes[0].abs().max()) > 0
    assert Lora(rank=4).scale == 2.0
    model, _ = load_model(saved)
    assert adapted_layers(with_adapter(model, Lora())) == (
        "down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj",
    )  # fmt: skip


def test_an_adapter_is_drawn_from_its_seed(saved: Path) -> None:
    drawn = []
    for seed in (1, 1, 2):
        adapted = with_adapter(load_model(saved)[0], Lora(rank=4, seed=seed))
        drawn.append(adapted.base_model.model.model.layers[0].mlp.up_proj.lora_A["default"].weight)
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])


def test_targets_that_are_not_there(saved: Path) -> None:
    with pytest.raises(ValidationError, match="linear layers are down_proj, gate_proj"):
        with_adapter(load_model(saved)[0], Lora(targets=("nothing",)))


@pytest.mark.parametrize(
    ("files", "text"),
    [
        (("config.json",), "config.json is missing"),
        ((WEIGHTS,), "its weights are missing"),
        (("tokenizer.json",), "its tokenizer is missing"),
    ],
)
def test_missing_files(copy: Path, files: tuple[str, ...], text: str) -> None:
    for name in files:
        (copy / name).unlink()
    with pytest.raises(ValidationError, match=text):
        load_model(copy)


def test_every_missing_file_is_told_at_once(copy: Path) -> None:
    for file in copy.iterdir():
        file.unlink()
    with pytest.raises(ValidationError) as caught:
        load_model(copy)
    assert len(str(caught.value).splitlines()) == 4


def test_a_file_that_is_cut_short(copy: Path) -> None:
    whole = (copy / WEIGHTS).read_bytes()
    (copy / WEIGHTS).write_bytes(whole[:-100])
    with pytest.raises(ValidationError, match=r"model\.safetensors is cut short"):
        load_model(copy)
    (copy / WEIGHTS).write_bytes(b"<html>not found</html>")
    with pytest.raises(ValidationError, match="no safetensors file"):
        load_model(copy)


def test_a_shard_that_is_missing(copy: Path) -> None:
    (copy / WEIGHTS).rename(copy / "model-00001-of-00002.safetensors")
    shards = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (copy / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    with pytest.raises(ValidationError, match=r"model-00002-of-00002\.safetensors is missing"):
        load_model(copy)


def test_what_is_no_model(copy: Path, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="there is no model directory"):
        load_model(tmp_path / "nothing")
    (copy / "config.json").write_text('{"model_type": "of my own"}')
    with pytest.raises(ValidationError, match="cannot be loaded as a causal language model"):
        load_model(copy)
    (copy / "config.json").rename(copy / "adapter_config.json")
    with pytest.raises(ValidationError, match="holds an adapter"):
        load_model(copy)


@pytest.mark.parametrize("targets", [("lm_head",), ("q_proj", "embed_tokens"), ("model.embed_tokens",)])
def test_one_of_two_layers_that_share_their_weights_gets_no_adapter(saved: Path, targets: tuple[str, ...]) -> None:
    """Merged, it would change the other as well."""
    with pytest.raises(ValidationError, match=r"(?s)the same weights .*lm_head"):
        with_adapter(load_model(saved)[0], Lora(targets=targets))


async def test_an_output_layer_of_its_own_is_adapted_and_merged(saved: Path, tmp_path: Path) -> None:
    model, tokenizer = load_model(saved)
    model.config.tie_word_embeddings = False
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    adapted = with_adapter(model, Lora(rank=4, targets=("lm_head", "q_proj")))
    with torch.no_grad():
        for parameter in adapted.parameters():
            if parameter.requires_grad:
                parameter.add_(torch.linspace(-0.3, 0.3, parameter.numel()).view_as(parameter))
    engine = LocalEngine(adapted, tokenizer)
    await engine.export(tmp_path)
    await engine.close()
    tokens = (3, 4, 5, 6, 7)
    merged = logprobs(AutoModelForCausalLM.from_pretrained(tmp_path), tokens)
    assert merged == pytest.approx(logprobs(adapted, tokens), abs=1e-4)
