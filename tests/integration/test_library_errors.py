# ruff: noqa: E501 (programs are text, not code of ours)
"""An exception of a library's is itself where it crosses, with what it holds: both sides have its class."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED

ERRORS = {
    "json.JSONDecodeError('a', 'doc', 0)": "json", "subprocess.CalledProcessError(2, ['ls', '-l'], b'o')": "subprocess",
    "subprocess.TimeoutExpired('ls', 3)": "subprocess", "queue.Empty()": "queue", "sqlite3.OperationalError('x')": "sqlite3",
    "urllib.error.URLError('r')": "urllib.error", "urllib.error.HTTPError('u', 404, 'nf', {}, None)": "urllib.error",
    "socket.gaierror(1, 'x')": "socket", "zipfile.BadZipFile('x')": "zipfile", "decimal.InvalidOperation('x')": "decimal",
    "struct.error('x')": "struct", "re.error('bad', 'p', 1)": "re", "configparser.NoSectionError('s')": "configparser",
    "dataclasses.FrozenInstanceError('x')": "dataclasses", "asyncio.QueueFull()": "asyncio", "pickle.PicklingError('x')": "pickle",
    "concurrent.futures.CancelledError()": "concurrent.futures", "xml.etree.ElementTree.ParseError('x')": "xml.etree.ElementTree",
    "FileNotFoundError(2, 'No such file', 'f.txt')": "math", "ModuleNotFoundError('m', name='m')": "math",
    "UnicodeDecodeError('utf-8', b'a', 0, 1, 'bad')": "math", "statistics.StatisticsError('x')": "statistics",
    "ExceptionGroup('g', [ValueError(1)])": "math",
}  # fmt: skip
HANDLING = "import MODULE\ndef f(g):\n    try: g()\n    except CLASS as e: return type(e).__name__, str(e)\n    except BaseException as e: return 'other', type(e).__name__\n"
RAISING = "import MODULE\ndef f(): raise ERROR\n"
SUITE = "import MODULE\nfrom unittest import mock\nfrom solution import f\ndef test_a():\n    def g(): raise ERROR\n    told = type(ERROR).__name__, str(ERROR)\n    assert f(g) == told\n    assert f(mock.Mock(side_effect=ERROR)) == told\n"
SUITE_OF_RAISED = "import MODULE\nimport pytest\nfrom solution import f\ndef test_a():\n    with pytest.raises(CLASS) as i: f()\n    want = ERROR\n    assert type(i.value) is type(want) and str(i.value) == str(want) and i.value.args[:1] == want.args[:1]\n"


def _of(text: str, error: str) -> str:
    return text.replace("MODULE", ERRORS[error]).replace("ERROR", error).replace("CLASS", error.partition("(")[0])


@pytest.mark.parametrize("error", ERRORS)
async def test_it_is_itself_on_either_side(error: str) -> None:
    """A right program catches it by its class, and raises it as the suite's own."""
    found = await scored(_of(HANDLING, error), _of(SUITE, error), "pytest")
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE), found.detail
    found = await scored(_of(RAISING, error), _of(SUITE_OF_RAISED, error), "pytest")
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE), found.detail


@pytest.mark.parametrize("error", [*ERRORS][:6])
async def test_a_program_that_catches_another_one_is_wrong(error: str) -> None:
    for wrong in ("except ImportError as e", "except (CLASS, OSError) as e: raise\n    except KeyError as e"):
        program = HANDLING.replace("except CLASS as e", wrong)
        found = await scored(_of(program, error), _of(SUITE, error), "pytest")
        assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail
    for wrong in ("Exception('x')", "type('JSONDecodeError', (ValueError,), {})('a')", "None"):
        found = await scored(_of(RAISING.replace("ERROR", wrong), error), _of(SUITE_OF_RAISED, error), "pytest")
        assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


HELD = {
    "what it holds": ("import subprocess\ndef f(g):\n    try: g()\n    except subprocess.CalledProcessError as e: return e.returncode, e.cmd, e.output, e.stderr\n",
        "import subprocess\nfrom solution import f\ndef test_a():\n    def g(): raise subprocess.CalledProcessError(2, ['ls'], b'o', stderr='no')\n    assert f(g) == (2, ['ls'], b'o', 'no')\n"),
    "a response": ("import urllib.error\ndef f(g):\n    for _ in range(3):\n        try: return g()\n        except urllib.error.HTTPError as e:\n            if e.code != 503: return e.code, e.reason, e.response.json()\n",
        "import urllib.error\nfrom unittest import mock\nfrom solution import f\ndef test_a():\n    error = urllib.error.HTTPError('u', 404, 'nf', {}, None)\n    error.response = mock.Mock(**{'json.return_value': {'a': 1}})\n    again = urllib.error.HTTPError('u', 503, 'busy', {}, None)\n    assert f(mock.Mock(side_effect=[again, error])) == (404, 'nf', {'a': 1})\n"),
    "itself": ("import queue\ndef f(g):\n    try: g()\n    except queue.Empty as e: return e\ndef again(g):\n    try: g()\n    except queue.Empty: raise\n",
        "import pytest, queue\nfrom solution import f, again\ndef test_a():\n    error = queue.Empty('a')\n    def g(): raise error\n    assert f(g) is error\n    with pytest.raises(queue.Empty) as i: again(g)\n    assert i.value is error\n"),
    "as an argument": ("import json\ndef f(e): return isinstance(e, json.JSONDecodeError), e.pos, e.msg, e.lineno\n",
        "import json\nfrom solution import f\ndef test_a(): assert f(json.JSONDecodeError('m', 'ab', 1)) == (True, 1, 'm', 1)\n"),
    "a class of the suite's below it": ("import queue\ndef f(g):\n    try: g()\n    except queue.Empty as e: return str(e)\n",
        "import queue\nfrom solution import f\nclass Nothing(queue.Empty): pass\ndef test_a():\n    def g(): raise Nothing('n')\n    assert f(g) == 'n'\n"),
    "beside a module of that name": ("import queue\ndef f(g):\n    try: g()\n    except Exception as e: return str(e)\n",
        "import json\nfrom solution import f\ndef test_a():\n    def g(): raise json.JSONDecodeError('m', 'ab', 1)\n    assert f(g) == 'm: line 1 column 2 (char 1)'\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", HELD)
async def test_what_it_holds_goes_with_it(name: str) -> None:
    """Its attributes, and that it is the same one."""
    program, suite = HELD[name]
    files = (
        {"solution.py": program, "queue.py": "", "json.py": "import sys\n"}
        if name[:6] == "beside"
        else {"solution.py": program}
    )
    found = await scored({"files": files, "entry": "solution.py"}, suite, "pytest")
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE) or name[:6] == "beside", found.detail


async def test_no_error_of_a_library_s_passes_a_test() -> None:
    """A failed assertion of the suite's is no exception that a candidate may take for another, and an exception that it
    raises says nothing that it does not hold."""
    suite = "import json, pytest\nfrom solution import f\ndef test_a():\n    def g(x): assert x == 3\n    f(g)\n    with pytest.raises(json.JSONDecodeError) as i: f(None)\n    assert i.value.pos == 7 and str(i.value) == 'm: line 1 column 8 (char 7)'\n"
    for program in (
        "def f(g):\n    try: g(4)\n    except BaseException: raise ValueError\n",
        "import json\nclass P(int):\n    __eq__ = lambda s, o: True\n    __hash__ = None\nclass D(json.JSONDecodeError):\n    __str__ = lambda s: 'm: line 1 column 8 (char 7)'\n    pos = property(lambda s: P(3))\ndef f(g):\n    if g: return g(3)\n    raise D('a', 'b', 0)\n",
        "import json\nclass A:\n    __eq__ = lambda s, o: True\n    __hash__ = None\ndef f(g):\n    if g: return g(3)\n    e = json.JSONDecodeError('a', 'b', 0)\n    e.pos = A()\n    e.args = (A(),)\n    raise e\n",
    ):
        found = await scored(program, suite, "pytest")
        assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail
