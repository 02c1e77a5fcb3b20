"""What a `python` scorer is shown of a candidate: its text, and what its program did."""

from __future__ import annotations

from typing import Any

from harena.core.models import ExecOutcome
from harena.core.results import Reason
from harena.scoring.contracts.contract import PythonContract
from harena.scoring.formats.answers import final_answer
from harena.scoring.scorers.program import Bench, output_file, put_files, run_candidate
from harena.scoring.slices import aside, text_of
from harena.scoring.verdict import program_failure


async def observed(bench: Bench, contract: PythonContract) -> tuple[dict[str, Any], tuple[Reason, str] | None]:
    """(the run that the scorer is shown, why the program failed, if it did). Raises PlatformError and SandboxError for
    what is not the program's doing."""
    source = bench.scenario.candidate.source
    seen: dict[str, Any] = {
        "scenario_id": bench.scenario.id,
        "candidate": dict(bench.scenario.candidate.files),
        "entry": bench.scenario.candidate.entry,
        "answer": await aside(len(source), final_answer, source),
        "metadata": dict(bench.scenario.metadata),
        "stdout": "",
        "stderr": "",
        "exit_code": None,
        "outcome": None,
        "timed_out": False,
        "files": {},
    }
    failure = await _note_run(bench, contract, seen) if contract.run_candidate else None
    return seen, failure


async def _note_run(bench: Bench, contract: PythonContract, seen: dict[str, Any]) -> tuple[Reason, str] | None:
    """Run the candidate and note what it did in `seen`; why it failed, if it did."""
    async with bench.sandbox() as sandbox:
        await put_files(sandbox, bench.files())
        result = await run_candidate(
            bench, sandbox, args=contract.args, stdin=contract.stdin, timeout_seconds=bench.timeout_seconds
        )
        failure = program_failure(result)
        seen.update(
            stdout=await aside(len(result.stdout), text_of, result.stdout),
            stderr=await aside(len(result.stderr), text_of, result.stderr),
            exit_code=result.returncode,
            outcome=result.outcome.value,
            timed_out=result.outcome is ExecOutcome.TIMEOUT,
        )
        if result.outcome is not ExecOutcome.MEMORY:  # the sandbox may be gone
            for path in contract.output_files:
                text = await output_file(sandbox, path)
                if text is not None:
                    seen["files"][path] = text
    return failure
