"""Tiny models that are made on the spot: a tokenizer of characters, or of byte pairs with a chat template, and a Llama
of a few hundred thousand parameters.

All are plain Hugging Face objects, so what they learn is exported and loaded like any other model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from harena.core.records.objects import ShippedModel
from harena.training.data.templates import SIMPLE_TEMPLATE, TURN_END, TURN_START

PAD, END, UNKNOWN = "<pad>", "<end>", "<unknown>"


def character_tokenizer(alphabet: str) -> PreTrainedTokenizerFast:
    """One token for each character of `alphabet`; id 0 pads, 1 ends an answer, 2 stands for what is unknown."""
    vocabulary = {token: number for number, token in enumerate([PAD, END, UNKNOWN, *sorted(set(alphabet))])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PAD, eos_token=END, unk_token=UNKNOWN, clean_up_tokenization_spaces=False
    )


def byte_pair_tokenizer(texts: Iterable[str], size: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE of at most `size` tokens, learnt from these texts, which can write every text; with the template
    `SIMPLE_TEMPLATE`. Id 0 pads, 1 ends a turn, 2 begins one."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[PAD, TURN_END, TURN_START],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=TURN_END,
        additional_special_tokens=[TURN_START],
        clean_up_tokenization_spaces=False,
    )
    made.chat_template = SIMPLE_TEMPLATE
    return made


def tiny_llama(
    vocabulary_size: int, *, seed: int, width: int = 96, layers: int = 3, heads: int = 4, context_length: int = 128
) -> LlamaForCausalLM:
    """A Llama in float32 with fresh weights: 0.34 million parameters with the defaults and 45 tokens."""
    config = LlamaConfig(
        vocab_size=vocabulary_size,
        hidden_size=width,
        intermediate_size=width * 8 // 3,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        max_position_embeddings=context_length,
        tie_word_embeddings=True,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=1,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: Any = LlamaForCausalLM(config)
    return model  # type: ignore[no-any-return]


def shipped_model(made: ShippedModel, *, seed: int) -> tuple[Any, Any]:
    """(model, tokenizer) of a recipe of `harena.training.shipped_models`. The same seed gives the same weights."""
    tokenizer = character_tokenizer(made.alphabet)
    model = tiny_llama(
        len(tokenizer),
        seed=seed,
        width=made.width,
        layers=made.layers,
        heads=made.heads,
        context_length=made.context_length,
    )
    return model, tokenizer
