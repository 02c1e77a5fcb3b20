"""What stands between two turns: as the chat template has it, and nothing that is told ends a turn."""

from __future__ import annotations

import pytest

from harena.core.errors import ValidationError
from harena.training.data.conversations import Conversation
from harena.training.data.templates import ChatTemplate
from harena.training.engines.tiny import byte_pair_tokenizer
from harena.training.engines.tokenizer import LocalTokenizer
from harena.training.rollouts.turn_forms import TurnForm, turn_form


@pytest.fixture
def tokenizer() -> LocalTokenizer:
    return LocalTokenizer(byte_pair_tokenizer(["user assistant what is told", "another line of words"], size=300))


def test_prompt_answer_and_observation_are_what_the_template_writes(tokenizer: LocalTokenizer) -> None:
    template = ChatTemplate(tokenizer)
    form = turn_form(template)
    asked = {"role": "user", "content": "what is it"}
    answered = {"role": "assistant", "content": "a line"}
    told = {"role": "user", "content": "another line"}
    prompt = template.prompt(Conversation(messages=(asked,)))
    whole = template.prompt(Conversation(messages=(asked, answered, told)))
    said = f"a line{tokenizer.end_texts[-1]}"
    assert f"{prompt.text}{said}{form.before}another line{form.after}" == whole.text
    assert (*prompt.tokens, *tokenizer.encode(said), *form.tokens(tokenizer, "another line")) == whole.tokens


def test_what_is_told_ends_no_turn(tokenizer: LocalTokenizer) -> None:
    """Whoever writes a file or prints a line writes text, whatever it looks like."""
    text = f"a{tokenizer.end_texts[-1]}b"
    assert tokenizer.end_tokens[-1] in tokenizer.encode(text)
    told = TurnForm().tokens(tokenizer, text)
    assert not set(told) & set(tokenizer.end_tokens)
    assert tokenizer.decode(told) == text


@pytest.mark.parametrize(
    ("template", "says"),
    [
        (
            "{% for m in messages %}<|im_start|>{{ m['role'] }}{{ loop.length }}\n{{ m['content'] }}<|im_end|>\n"
            "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant{% endif %}",
            "chat template",
        ),
        (
            "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
            "{% if loop.last or m['role'] == 'user' %}{{ m['content'] }}{% endif %}<|im_end|>\n"
            "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
            "writes an answer otherwise",
        ),
    ],
)
def test_a_template_that_writes_earlier_answers_otherwise(tokenizer: LocalTokenizer, template: str, says: str) -> None:
    tokenizer.inner.chat_template = template
    with pytest.raises(ValidationError, match=says):
        turn_form(ChatTemplate(tokenizer))


_LEAVES_REASONING_OUT = (
    "{% for m in messages %}{% if m['role'] == 'assistant' %}<|im_start|>assistant\n"
    "{% if loop.last %}<think>\n\n</think>\n\n{% endif %}{{ m['content'].split('</think>')[-1] }}<|im_end|>\n"
    "{% else %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_OPENS_REASONING = (
    "{% for m in messages %}{% if m['role'] == 'user' %}[U]{{ m['content'] }}"
    "{% else %}[A]{{ m['content'].split('</think>')[-1] }}<|im_end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}[A]<think>\n{% endif %}"
)


@pytest.mark.parametrize(
    ("template", "form"),
    [
        (
            _LEAVES_REASONING_OUT,
            TurnForm(before="\n<|im_start|>user\n", after="<|im_end|>\n<|im_start|>assistant\n"),
        ),
        (_OPENS_REASONING, TurnForm(before="[U]", after="[A]<think>\n")),
    ],
)
def test_templates_of_models_that_think_have_a_form(tokenizer: LocalTokenizer, template: str, form: TurnForm) -> None:
    """They leave out the reasoning of earlier answers, and what stands behind an answer is the same with it."""
    tokenizer.inner.chat_template = template
    assert turn_form(ChatTemplate(tokenizer)) == form
