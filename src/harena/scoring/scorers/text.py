"""Scoring by the contracts for text: `string_check`, `text_similarity` and `regex`."""

from __future__ import annotations

from harena.core.results import Reason
from harena.core.threads import VERDICTS
from harena.scoring.contracts.similarity import MAX_CHARACTERS, similarity
from harena.scoring.contracts.templates import SampleError
from harena.scoring.contracts.text import RegexContract, StringCheckContract, TextContract, TextSimilarityContract
from harena.scoring.formats.answers import UNENDED, final_answer
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.python import matches_pattern
from harena.scoring.scorers.scorer_process import ScorerBrokenError, ScorerFailedError
from harena.scoring.slices import aside, sliced
from harena.scoring.verdict import Verdict, broken_contract, digest, failed, one_line


async def score_text(bench: Bench, contract: TextContract) -> Verdict:
    """The verdict. Raises PlatformError and SandboxError where a search could not be run."""
    source = bench.scenario.candidate.source
    answer = await aside(len(source), final_answer, source)
    if not answer:
        return failed(Reason.EMPTY_CANDIDATE, UNENDED, unjudged=True)
    try:
        text = await aside(len(answer) + len(contract.input), contract.filled, contract.input, answer)
        if isinstance(contract, RegexContract):
            return await _search(bench, contract, text)
        assert isinstance(contract, StringCheckContract | TextSimilarityContract)
        reference = await aside(len(answer) + len(contract.reference), contract.filled, contract.reference, answer)
    except SampleError as error:
        return failed(Reason.BAD_VALUE, one_line(str(error)), unjudged=True)
    if isinstance(contract, StringCheckContract):
        score = float(await aside(len(text) + len(reference), holds, text, reference, contract.operation))
        return await aside(len(text), _verdict, score, 1.0, text)
    if len(text) > MAX_CHARACTERS or len(reference) > MAX_CHARACTERS:
        detail = f"the answer is longer than the {MAX_CHARACTERS} characters that are compared"
        return failed(Reason.OUTPUT_LIMIT, detail, unjudged=True)
    # the longest texts take up to a third of a second by `fuzzy_match`, and other runs shall not wait for them
    score = await VERDICTS.run(similarity, text, reference, contract.evaluation_metric)
    return _verdict(score, contract.pass_mark, text)


def holds(text: str, reference: str, operation: str) -> bool:
    """What `string_check` says."""
    if operation in ("eq", "ne"):
        return (text == reference) is (operation == "eq")
    return reference in text if operation == "like" else _folded(reference) in _folded(text)


def _folded(text: str) -> str:
    return "".join(map(str.casefold, sliced(text)))


async def _search(bench: Bench, contract: RegexContract, text: str) -> Verdict:
    try:
        found = await matches_pattern(bench, contract.pattern, text, whole=contract.whole, multiline=contract.multiline)
    except ScorerFailedError:  # a search that the answer made too slow: its own doing
        return failed(Reason.BAD_VALUE, "the search for the pattern did not come to an end", unjudged=True)
    except ScorerBrokenError as error:
        return broken_contract(one_line(str(error)))
    return await aside(len(text), _verdict, float(found), 1.0, text)


def _verdict(score: float, pass_mark: float, text: str) -> Verdict:
    passed = score >= pass_mark
    return Verdict(
        score=score,
        passed=passed,
        reason=Reason.PASSED if passed else Reason.WRONG_ANSWER,
        checks_passed=int(passed),
        observations=(digest(text.encode("utf-8", "surrogatepass")), repr(score)),
    )
