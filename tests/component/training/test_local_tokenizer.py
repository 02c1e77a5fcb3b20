"""Hugging Face tokenizers and their templates, with templates of the kinds that models have."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers
from transformers import PreTrainedTokenizerFast

from harena.core.errors import ValidationError
from harena.training.data.conversations import conversation_of, prompt_conversation_of
from harena.training.data.templates import SIMPLE_TEMPLATE, TURN_END, ChatTemplate
from harena.training.engines.tiny import byte_pair_tokenizer, character_tokenizer
from harena.training.engines.tokenizer import LocalTokenizer

THINKING = """{%- if tools %}<|im_start|>system
{% for tool in tools %}{{ tool | tojson }}{% endfor %}<|im_end|>
{% endif %}
{%- set last = namespace(user=0) %}
{%- for message in messages %}{% if message.role == 'user' %}{% set last.user = loop.index0 %}{% endif %}{% endfor %}
{%- for message in messages %}
{%- if message.role == 'assistant' %}<|im_start|>assistant
{% if loop.index0 > last.user %}<think>
{{ message.reasoning_content or '' }}
</think>

{% endif %}{% generation %}{{ message.content }}{% for call in message.tool_calls or [] %}<tool_call>
{"name": {{ call.function.name | tojson }}, "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}{% endgeneration %}<|im_end|>
{% else %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""as Qwen3's: thoughts are kept behind the last question only; calls are JSON"""
STRICT = """{% for message in messages %}{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}
{{- raise_exception('roles must alternate user/assistant') }}{% endif %}[{{ message.role }}]{{ message.content }}
{%- if message.role == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}[assistant]{% endif %}"""
"""as Mistral's and Gemma's: only user and assistant, in turn"""
ASKED = {"role": "user", "content": "go"}


def tokenizer(template: str | None = SIMPLE_TEMPLATE) -> LocalTokenizer:
    inner = byte_pair_tokenizer(["go and see", "done"], size=300)
    inner.chat_template = template
    return LocalTokenizer(inner)


def texts(template: ChatTemplate, messages: list[dict[str, Any]], **more: Any) -> list[list[str]]:
    """What is learnt, of each row."""
    rows = template.pieces(conversation_of({"messages": messages, **more}))
    return [[text for text, learnt in pieces if learnt] for pieces in rows]


@pytest.mark.parametrize("text", ["go and see", "  späte Öffnung\n\n\t", "日本 🙂", "<|im_start|>user"])
def test_bytes_come_back(text: str) -> None:
    made = tokenizer()
    assert made.inner.decode(list(made.encode(text)), skip_special_tokens=False) == text


def test_tokens_of_the_simple_template() -> None:
    made = tokenizer()
    (row,) = ChatTemplate(made).rows(conversation_of({"prompt": "go", "completion": "done"}))
    assert made.inner.decode(list(row.tokens), skip_special_tokens=False) == (
        "<|im_start|>user\ngo<|im_end|>\n<|im_start|>assistant\ndone<|im_end|>"
    )
    assert [token for token, learnt in zip(row.tokens, row.mask, strict=True) if learnt] == [*made.encode("done"), 1]
    whole = made.inner.apply_chat_template([ASKED, {"role": "assistant", "content": "done"}], return_dict=False)
    assert list(row.tokens) == whole[: len(row.tokens)]


def test_thoughts_that_a_template_leaves_out_later() -> None:
    """Each answer is learnt as it would be said, after what would stand before it."""
    messages = [
        ASKED,
        {"role": "assistant", "content": "one", "reasoning_content": "hm"},
        ASKED,
        {"role": "assistant", "content": "two", "reasoning_content": "ah"},
    ]
    template = ChatTemplate(tokenizer(THINKING))
    assert texts(template, messages) == [
        ["<think>\nhm\n</think>\n\none<|im_end|>"],
        ["<think>\nah\n</think>\n\ntwo<|im_end|>"],
    ]
    given = template.pieces(conversation_of({"messages": messages}))[1][0][0]
    assert "hm" not in given
    assert texts(template, messages[:2]) == [["<think>\nhm\n</think>\n\none<|im_end|>"]]


def test_tool_calls_as_the_template_writes_them() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "/"}'}}
    messages = [
        ASKED,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "a b", "tool_call_id": "1"},
        {"role": "assistant", "content": "a and b"},
    ]
    template = ChatTemplate(tokenizer(THINKING))
    (pieces,) = template.pieces(conversation_of({"messages": messages, "tools": [{"name": "ls"}]}))
    assert pieces[0][0].startswith('<|im_start|>system\n{"name": "ls"}<|im_end|>\n')
    assert pieces[1][0].endswith('<tool_call>\n{"name": "ls", "arguments": {"path": "/"}}\n</tool_call><|im_end|>')
    assert pieces[2] == ("\n<|im_start|>tool\na b<|im_end|>\n<|im_start|>assistant\n", False)
    assert pieces[3][0] == "<think>\n\n</think>\n\na and b<|im_end|>"


def test_what_a_template_objects_to() -> None:
    template = ChatTemplate(tokenizer(STRICT), capability_prompt="Be good.")
    with pytest.raises(ValueError, match="the chat template does not take it: roles must alternate"):
        template.rows(conversation_of({"prompt": "go", "completion": "done"}))
    assert texts(ChatTemplate(tokenizer(STRICT)), [ASKED, {"role": "assistant", "content": "done"}]) == [
        [f"done{TURN_END}"]
    ]
    with pytest.raises(ValueError, match="the chat template does not take it"):
        ChatTemplate(tokenizer("{{ messages.nothing.at_all }}")).rows(
            conversation_of({"prompt": "go", "completion": "done"})
        )


def test_an_answer_may_end_with_another_token_than_a_text() -> None:
    """As with base models whose end-of-sequence token is not the one that their chat template writes."""
    made = tokenizer()
    made.inner.add_special_tokens({"eos_token": "<|endoftext|>"})
    end, turn = made.inner.convert_tokens_to_ids(["<|endoftext|>", TURN_END])
    assert made.end_tokens == (end, turn)
    assert made.end_texts == ("<|endoftext|>", TURN_END)
    (row,) = ChatTemplate(made).rows(conversation_of({"prompt": "go", "completion": "done"}))
    assert row.tokens[-1] == turn


def test_its_control_tokens_are_known() -> None:
    assert tokenizer().control_texts == {"<pad>", TURN_END, "<|im_start|>"}
    with pytest.raises(ValueError, match=r"message 1 contains <\|im_end\|>"):
        ChatTemplate(tokenizer()).prompt(prompt_conversation_of({"prompt": f"go{TURN_END}"}))


def test_a_tokenizer_without_template() -> None:
    made = LocalTokenizer(character_tokenizer("ab"))
    assert (made.chat_template, made.end_tokens) == (None, (1,))
    with pytest.raises(ValidationError, match="no chat template"):
        ChatTemplate(made)


def test_a_chat_template_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes with a model, and may loop for years; what comes after it is not hit."""
    from harena.training.engines import tokenizer as tokenizers

    monkeypatch.setattr(tokenizers, "RENDER_SECONDS", 0.2)
    inner = byte_pair_tokenizer(["some text"] * 2, size=300)
    inner.chat_template = (
        "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}"
        "{% endfor %}{% endfor %}{% endfor %}"
    )
    local = tokenizers.LocalTokenizer(inner)
    with pytest.raises(ValueError, match=r"takes longer than 0\.2 seconds"):
        local.render([{"role": "user", "content": "x"}], tools=(), answer_follows=True)
    inner.chat_template = "{{ messages[0].content }}"
    assert local.render([{"role": "user", "content": "x"}], tools=(), answer_follows=True) == "x"


def test_a_chat_template_has_no_way_out_of_its_sandbox() -> None:
    """It cannot reach Python's objects."""
    from harena.training.engines.tokenizer import LocalTokenizer

    inner = byte_pair_tokenizer(["some text"] * 2, size=300)
    inner.chat_template = "{{ ''.__class__.__mro__[1].__subclasses__() }}"
    with pytest.raises(ValueError, match="the chat template does not take it"):
        LocalTokenizer(inner).render([{"role": "user", "content": "x"}], tools=(), answer_follows=True)


@pytest.mark.parametrize(
    ("special", "said"),
    [
        (["<think>", "</think>"], "<think>maybe</think>no"),
        (["[THINK]", "[/THINK]"], "[THINK]maybe[/THINK]no"),
        (["<tool_call>", "</tool_call>"], '<tool_call>{"name": "ls"}</tool_call>'),
        (
            ["<|channel|>", "<|message|>", "<|end|>"],
            "<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>b",
        ),
        (["\uff5ctool\u2581calls\uff5c"], "  a\uff5ctool\u2581calls\uff5c b"),
    ],
)
def test_marks_that_are_special_tokens_are_a_part_of_what_was_said(special: list[str], said: str) -> None:
    """Of reasoning, calls of tools and channels; what ends a turn, and what fills it up, is not."""
    made = tokenizer()
    made.inner.add_special_tokens({"additional_special_tokens": [TURN_END, *special]})
    tokens = made.encode(said)
    assert made.decode(tokens) == said
    assert made.decode([*tokens, *made.encode(TURN_END), made.pad_token]) == said
    assert all(made.inner.convert_tokens_to_ids(mark) in made.inner.all_special_ids for mark in special)


@pytest.mark.parametrize("indent", [2, 3, 4, 8])
def test_an_indentation_is_decoded_as_it_was_said(indent: int) -> None:
    """Decoders as Llama 2's and Mistral's take a space away at the beginning of a text, which no completion is; of an
    answer that begins with a word they take the one that no one sees."""
    letters = ["\u2581", *map(chr, range(33, 127))]
    vocabulary = {name: place for place, name in enumerate(["<unk>", "<s>", "</s>", *letters])}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    made.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    inner = PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    said = [*[vocabulary["\u2581"]] * indent, *(vocabulary[letter] for letter in "return\u2581x"), vocabulary["</s>"]]
    assert LocalTokenizer(inner).decode(said) == " " * indent + "return x"
    assert LocalTokenizer(inner).decode([vocabulary["\u2581"], vocabulary["4"], vocabulary["2"]]) == "42"
    plain = tokenizer()
    assert plain.decode(plain.encode("   go and see")) == "   go and see"
