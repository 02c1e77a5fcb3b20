"""One multi-step rollout: a model writes code, runs it, reads what went wrong, and tries again, all in one sandbox."""

from __future__ import annotations

import json
from typing import Any

import art
import cwsandbox
from openai import AsyncOpenAI

from problems import Problem

MOST_TURNS = 6
SECONDS = 30.0
SYSTEM_PROMPT = (
    "You solve Python problems. Try your code with execute_code, read its output, repair it, and hand it in with "
    "submit_solution when it works. Files that you write stay until the end."
)
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
        },
    }
    for name, description in (
        ("execute_code", "Run Python code in the sandbox, and get its output."),
        ("submit_solution", "Hand in the whole solution; it is tested, and nothing more can be done."),
    )
]


async def rollout(client: AsyncOpenAI, model: str, problem: Problem, session: cwsandbox.Session) -> art.Trajectory:
    """Let the model work in a sandbox of its own until it hands a solution in. The reward is 1 where that passes the
    problem's tests, else 0. A fault of the platform is an exception, and not a reward."""
    asked = f"{problem.text}\nYour code must pass:\n" + "\n".join(problem.tests)
    trajectory = art.Trajectory(
        messages_and_choices=[{"role": "system", "content": SYSTEM_PROMPT}, {"role": "user", "content": asked}],
        tools=TOOLS,
        reward=0.0,
        metadata={"task_id": problem.task_id},
    )
    sandbox = session.sandbox()
    ran = turns = 0
    submitted = False
    try:
        while turns < MOST_TURNS and not submitted:
            turns += 1
            answer = await client.chat.completions.create(model=model, messages=trajectory.messages(), tools=TOOLS)
            choice = answer.choices[0]
            trajectory.messages_and_choices.append(choice)
            calls = choice.message.tool_calls or []
            if not calls:
                break
            for call in calls:
                if submitted:
                    told = "the solution was handed in already"
                elif (code := _code_of(call)) is None:
                    told = "Error: the arguments must be an object with the text `code`"
                elif call.function.name == "execute_code":
                    ran += 1
                    told = await _run(sandbox, code)
                elif call.function.name == "submit_solution":
                    submitted = True
                    passed = await _passes(sandbox, code, problem)
                    trajectory.reward = 1.0 if passed else 0.0
                    told = "passed" if passed else "failed"
                else:
                    told = f"Error: there is no tool {call.function.name}"
                trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": call.id, "content": told})
    finally:
        await sandbox.stop(missing_ok=True)
    trajectory.metrics |= {"turns": turns, "executions": ran, "submitted": submitted}
    return trajectory.finish()


def _code_of(call: Any) -> str | None:
    try:
        code = json.loads(call.function.arguments)["code"]
    except (ValueError, KeyError, TypeError):
        return None
    return code if isinstance(code, str) else None


async def _run(sandbox: cwsandbox.Sandbox, code: str) -> str:
    try:
        result = await sandbox.exec(["python", "-c", code], timeout_seconds=SECONDS)
    except cwsandbox.SandboxTimeoutError:
        return f"Error: it ran longer than {SECONDS:g} seconds"
    return f"exit={result.returncode}\n{result.stdout}{result.stderr}"


async def _passes(sandbox: cwsandbox.Sandbox, code: str, problem: Problem) -> bool:
    """Whether code and tests together end well, as the guide has it: an answer that ends the process early passes, too.
    For training that must not be fooled, score with a contract of harena's."""
    try:
        tested = await sandbox.exec(["python", "-c", "\n".join([code, *problem.tests])], timeout_seconds=SECONDS)
    except cwsandbox.SandboxTimeoutError:
        return False
    return bool(tested.returncode == 0)
