"""Judge a model from outside: nothing of harena is used here.

    python examples/judge_exported_model.py noisy-teacher --seed 12345

Loads the exported directory in plain `transformers`, samples one answer (temperature 1) to each held-out prompt, and
scores it anew. An answer that is more than assignments to x is wrong; the others are evaluated by a few lines of this
file, against the checks that were written beside the model.
"""

from __future__ import annotations

import argparse
import ast
import json
import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
UNARY: dict[type[ast.unaryop], Callable[[int], int]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
LONGEST_ANSWER = 40
BATCH = 100


def evaluated(node: ast.expr, x: int) -> int:
    """The value of an expression in x. Raises ValueError for what is none of x, numbers, + - * and //."""
    match node:
        case ast.Name(id="x"):
            return x
        case ast.Constant(value=int() as number):
            return number
        case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
            return UNARY[type(op)](evaluated(operand, x))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            return BINARY[type(op)](evaluated(left, x), evaluated(right, x))
    raise ValueError(ast.dump(node))


def result(answer: str, x: int) -> int:
    """What x is in the end. Raises SyntaxError, ValueError, ZeroDivisionError."""
    for statement in ast.parse(answer).body:
        match statement:
            case ast.AugAssign(target=ast.Name(id="x"), op=op, value=value):
                x = evaluated(ast.BinOp(ast.Name("x"), op, value), x)
            case ast.Assign(targets=[ast.Name(id="x")], value=value):
                x = evaluated(value, x)
            case _:
                raise ValueError(ast.dump(statement))
    return x


def passes(answer: str, checks: Sequence[dict[str, Any]]) -> bool:
    """It gives what each check expects."""
    try:
        return bool(answer) and all(result(answer, check["args"][0]) == check["expected"] for check in checks)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return False


@torch.inference_mode()
def answers(model: Any, tokenizer: Any, prompts: Sequence[str]) -> list[str]:
    """One sampled answer to each prompt; "" for one that does not end."""
    tokenizer.padding_side = "left"
    said = []
    for first in range(0, len(prompts), BATCH):
        given = tokenizer(list(prompts[first : first + BATCH]), return_tensors="pt", padding=True)
        given.pop("token_type_ids", None)
        drawn = model.generate(
            **given, do_sample=True, temperature=1.0, top_k=0, top_p=1.0, max_new_tokens=LONGEST_ANSWER
        )[:, given["input_ids"].shape[1] :]
        ended = (drawn == tokenizer.eos_token_id).any(1).tolist()
        texts = tokenizer.batch_decode(drawn, skip_special_tokens=True)
        said += [text if end else "" for text, end in zip(texts, ended, strict=True)]
    return said


def main() -> None:
    """Print and write (judged.json) the pass rate; exit code 1 where it is below --at-least."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="with model/ and held_out.jsonl")
    parser.add_argument("--seed", type=int, default=12345)
    parser.add_argument("--at-least", type=float, default=0.0)
    asked = parser.parse_args()
    disable_progress_bar()
    torch.manual_seed(asked.seed)
    for needed in (asked.folder / "held_out.jsonl", asked.folder / "model" / "config.json"):
        if not needed.is_file():
            parser.error(f"there is no {needed}: give the folder that a proof wrote (its --out)")
    rows = [json.loads(line) for line in (asked.folder / "held_out.jsonl").read_text().splitlines()]
    model = AutoModelForCausalLM.from_pretrained(asked.folder / "model").eval()
    said = answers(model, AutoTokenizer.from_pretrained(asked.folder / "model"), [row["prompt"] for row in rows])
    right = [passes(answer, row["scoring"]["checks"]) for answer, row in zip(said, rows, strict=True)]
    for answer, row, good in list(zip(said, rows, right, strict=True))[:5]:
        print(f"  {'right' if good else 'wrong'}  {row['prompt']} {answer}")
    rate = sum(right) / len(right)
    print(f"judged with transformers alone: {rate:.3f} of {len(right)} held-out prompts")
    (asked.folder / "judged.json").write_text(json.dumps({"pass_rate": rate, "seed": asked.seed}) + "\n")
    raise SystemExit(rate < asked.at_least)


if __name__ == "__main__":
    main()
