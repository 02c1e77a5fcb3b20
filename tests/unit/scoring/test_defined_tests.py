# ruff: noqa: E501 (programs are text, not code of ours)
"""What the definitions of a suite's tests depend on, as its text tells."""

from __future__ import annotations

import pytest

from harena.scoring.scorers.defined_tests import Dependence, dependence

HEAD = "import os, pytest, sys, unittest\nimport numpy as np\nimport solution\nfrom solution import Vec, add\n"
TEST = "    def test_b(): pass\n"


def _found(text: str, *, is_beside: bool = False, **more: str) -> Dependence:
    return dependence({"test_it.py": HEAD + text, **more}, {"pytest", "numpy"}, is_beside=is_beside)


THE_SAME = {
    "tests": "def test_a(): assert vars(add(1, 2))\nclass T(unittest.TestCase):\n    def setUp(self): self.x = Vec()\n    def test_b(self): pass\nif __name__ == '__main__':\n    unittest.main()\n",
    "objects as it is read": "S = solution.Stack()\nS.push(1)\n@pytest.fixture\ndef s(): return Vec(S)\ndef test_a(s): pass\n",
    "a table of objects": "CASES = [(Vec(1), 1), (Vec(2), add(1, 1))]\n@pytest.mark.parametrize('v, n', CASES)\ndef test_a(v, n): pass\n",
    "objects in a loop": "@pytest.mark.parametrize('v', [Vec(n) for n in range(3) if n % 2])\ndef test_a(v): pass\n",
    "classes": "@pytest.mark.parametrize('c', (solution.A, solution.B))\ndef test_a(c): pass\n",
    "an array": "@pytest.mark.parametrize('n', np.arange(3))\ndef test_a(n): pass\n",
    "words": "@pytest.mark.parametrize('n', 'a b'.split())\ndef test_a(n): pass\n",
    "a platform": "if sys.platform == 'win32':\n" + TEST,
    "a skipped file": "if add(2, 2) != 4: pytest.skip('no', allow_module_level=True)\ndef test_b(): pass\n",
    "a mark": "pytestmark = pytest.mark.skipif(not hasattr(solution, 'm'), reason='no')\n@pytest.mark.skipif(not hasattr(solution, 'm'), reason='no')\ndef test_b(): pass\n",
    "another way": "try:\n    from solution import more\nexcept ImportError:\n    more = None\ndef test_b(): assert more\n",
    "names of a body": "def test_a():\n    for i in add(1, 2): pass\n@pytest.mark.parametrize('i', [i for i in range(9) if i > 2])\ndef test_b(i): pass\n",
    "what a library gives each class": "class M(unittest.case.Machine):\n    def __init__(self): self.v = Vec()\nTestM = M.TestCase\n",
    "a base of its own": "class Base(unittest.TestCase):\n    def test_a(self): pass\nclass TestMore(Base):\n    pass\nclass Node(Vec):\n    def value(self): pass\n",
}  # fmt: skip
BY_PRESENCE = {
    "hasattr": "if hasattr(solution, 'mul'):\n" + TEST,
    "dir": "if 'mul' not in dir(solution):\n" + TEST,
    "vars": "if 'mul' in vars(solution) or 'mul' in solution.__dict__:\n" + TEST,
    "a flag": "HAS = hasattr(solution, 'mul') and not hasattr(solution, 'x')\nif HAS:\n" + TEST,
    "an alias": "s = solution\nif hasattr(s, 'mul'):\n" + TEST,
    "a missing module": "try:\n    import extra\nexcept ImportError:\n    extra = None\nif extra is not None:\n" + TEST,
    "within a try": "try:\n    solution.mul\n    def test_b(): pass\nexcept AttributeError: pass\n",
    "a deletion": "def test_b(): pass\nif not hasattr(solution, 'mul'):\n    del test_b\n",
    "a file": "if os.path.exists('extra.py'):\n" + TEST,
}  # fmt: skip
COUNTED = {
    "__test__": "class TestX:\n    __test__ = hasattr(solution, 'mul')\n    def test_b(self): pass\n",
    "a name that is taken": "def test_b(): pass\nif not hasattr(solution, 'mul'):\n    test_b = None\n",
    "parameters": "NAMES = [n for n in ('a', 'b') if hasattr(solution, n)]\n@pytest.mark.parametrize('n', NAMES)\ndef test_b(n): pass\n",
    "names": "for n in solution.__all__:\n    globals()['test_' + n] = lambda: None\n",
    "a function that sets": "def define(t, n): setattr(t, n, lambda self: solution.f())\nclass T(unittest.TestCase): pass\nif hasattr(solution, 'f'): define(T, 'test_f')\n",
}  # fmt: skip
BY_CONTENT = {
    "types": "if type(solution.a) is not type(solution.b):\n" + TEST,
    "a value": "if add(1, 1) == 2:\n" + TEST,
    "a function of its own": "def has(n): return hasattr(solution, n)\nif has('mul'):\n" + TEST,
    "a decorator": "@solution.decorated\ndef test_b(): pass\n",
    "a base": "class TestX(solution.Base):\n    def test_b(self): pass\n",
    "a context": "with solution.context():\n" + TEST,
    "a case": "match solution.KIND:\n    case 'a':\n        def test_b(): pass\n",
    "a star": "from solution import *\nif mul:\n" + TEST,
}  # fmt: skip
UNCOUNTABLE = {
    "what a class of the candidate's gives": "class M(solution.Machine):\n    def __init__(self): self.v = Vec()\nTestM = M.TestCase\n",
    "what a class has been given": "class M(unittest.TestCase):\n    def make(self): return Vec()\nsetattr(M, 'Case', solution.Case)\nTestM = M.Case\n",
    "cases": "@pytest.mark.parametrize('n', solution.CASES)\ndef test_b(n): pass\n",
    "names that begin alike": "@pytest.mark.parametrize('n', [n for n in dir(solution) if n.startswith('f')])\ndef test_b(n): pass\n",
    "lines": "@pytest.mark.parametrize('n', open('cases.txt').read().split())\ndef test_b(n): pass\n",
    "lines in a loop": "from pathlib import Path\nfor n in Path('cases.txt').read_text().split():\n    def test_b(): pass\n",
    "generated": "def pytest_generate_tests(metafunc): metafunc.parametrize('n', solution.CASES)\ndef test_b(n): pass\n",
    "grown": "CASES = []\nCASES.extend(solution.CASES)\n@pytest.mark.parametrize('n', CASES)\ndef test_b(n): pass\n",
    "all of them": "@pytest.mark.parametrize('n', [1, *solution.CASES])\ndef test_b(n): pass\n",
}  # fmt: skip


@pytest.mark.parametrize("name", THE_SAME)
def test_most_suites_define_the_same_tests_for_all(name: str) -> None:
    assert not _found(THE_SAME[name])


@pytest.mark.parametrize("name", BY_PRESENCE)
def test_what_is_there_under_a_condition_is_named(name: str) -> None:
    found = _found(BY_PRESENCE[name])
    assert (found.conditional, found.is_by_content, found.uncountable) == ({"test_b"}, False, "")


@pytest.mark.parametrize("name", COUNTED)
def test_what_is_defined_without_its_name_is_counted(name: str) -> None:
    found = _found(COUNTED[name])
    assert (found.is_counted, found.is_by_content, found.uncountable) == (True, False, "")


@pytest.mark.parametrize("name", BY_CONTENT)
def test_what_nobody_can_show_is_told(name: str) -> None:
    found = _found(BY_CONTENT[name])
    assert (found.conditional, found.is_by_content) == ({"test_b"}, True)


@pytest.mark.parametrize("name", UNCOUNTABLE)
def test_a_number_that_the_candidate_chooses_is_told(name: str) -> None:
    assert _found(UNCOUNTABLE[name]).uncountable


def test_helpers_and_hooks_are_looked_at() -> None:
    """A trusted module that imports nothing of the candidate's has nothing of it; a hook that drops tests has."""
    test = "from cases import CASES\n@pytest.mark.parametrize('n', CASES)\ndef test_b(n): pass\n"
    assert not _found(test, **{"cases.py": "import math\nCASES = [math.pi]\n"})
    assert _found(test, **{"cases.py": "import solution\nCASES = solution.CASES\n"}).uncountable
    hook = "import sys\ndef pytest_collection_modifyitems(items):\n    if not hasattr(sys.modules['solution'], 'f'): items[:] = []\n"
    assert _found("def test_b(): pass\n", **{"conftest.py": hook}).is_counted


@pytest.mark.parametrize(
    "text",
    [
        "from shop import queue\nif hasattr(queue, 'mul'):\n",
        "import shop.queue\nif hasattr(shop.queue, 'mul'):\n",
        "from app.utils import mul\nif mul:\n",
        "from app import utils\nif hasattr(utils, 'mul'):\n",
        "from .solution import mul\nif mul:\n",
        "import queue_of_mine\nif hasattr(queue_of_mine, 'mul'):\n",
    ],
)
def test_a_module_is_known_by_its_whole_name(text: str) -> None:
    """Not by its last part: a candidate's `shop.queue` is no library's, its `app.utils` not the suite's `utils`."""
    utils = {"tests/utils.py": "def check(): pass\n"}
    found = dependence({"tests/test_it.py": text + TEST, **utils}, {"pytest"}, folders={"tests"})
    assert found.conditional == {"test_b"}


@pytest.mark.parametrize(
    "text",
    [
        "from utils import mul\nif mul:\n",
        "from tests.utils import mul\nif mul:\n",
        "from tests import utils\nif utils.mul:\n",
        "from . import utils\nif utils.mul:\n",
        "from .utils import mul\nif mul:\n",
        "import os.path\nif os.path.sep == '/':\n",
        "import xml.etree.ElementTree as tree\nif hasattr(tree, 'indent'):\n",
        "from concurrent import futures\nif futures:\n",
    ],
)
def test_a_module_of_the_suites_is_known_by_each_of_its_names(text: str) -> None:
    """From its folder, from the working directory and beside the test."""
    utils = {"tests/utils.py": "mul = 1\n"}
    assert not dependence({"tests/test_it.py": text + TEST, **utils}, {"pytest"}, folders={"tests"})


def test_a_star_beside_the_suite_may_bring_anything() -> None:
    """`__test__`, for instance; stand-ins bring no such name."""
    star = "from solution import *\ndef test_b(): assert mul(1, 2) == 2\n"
    assert not _found(star)
    assert _found(star, is_beside=True).conditional == {"test_b"}


CONDITIONAL = "import solution\nif hasattr(solution, 'mul'):\n    def test_more(): pass\n"
LOADED = {
    "nothing": ("def test_a(): pass\n", {}, False),
    "the module": ("import test_more\n", {}, True),
    "a name of the module": ("from test_more import *\n", {}, True),
    "the module by another": ("import helper\n", {"helper.py": "from test_more import test_more\n"}, True),
    "the module by conftest.py": ("def test_a(): pass\n", {"conftest.py": "import test_more\n"}, True),
    "a name that is told later": ("import importlib\nimportlib.import_module('test_' + 'more')\n", {}, True),
    "what is skipped without": ("import pytest\ntest_it = pytest.importorskip('test_more').test_more\n", {}, True),
    "a package that is skipped without": ("import pytest\nnumpy = pytest.importorskip('numpy')\n", {}, False),
    "a name of it that is computed": ("import pytest\nX = pytest.importorskip('test_' + 'more')\n", {}, True),
    "a plugin": ("def test_a(): pass\n", {"conftest.py": "pytest_plugins = ['test_more']\n"}, True),
}  # fmt: skip


@pytest.mark.parametrize("case", LOADED)
def test_a_file_that_is_not_loaded_decides_nothing(case: str) -> None:
    """Else nobody would be paid for one file's tests because of a condition in another."""
    text, more, is_loaded = LOADED[case]
    files = {"test_it.py": text, "test_more.py": CONDITIONAL, **more}
    assert bool(dependence(files, {"pytest"}, started={"test_it.py"}).conditional) is is_loaded
    assert dependence(files, {"pytest"}).conditional == {"test_more"}
    assert dependence(files, {"pytest"}, started={"test_gone.py"}).conditional == {"test_more"}


def test_packages_and_relative_imports_are_followed() -> None:
    """A package is loaded with each of its modules."""
    files = {
        "tests/__init__.py": "",
        "tests/test_it.py": "from . import test_more\n",
        "tests/test_more.py": CONDITIONAL,
    }
    assert dependence(files, {"pytest"}, started={"tests/test_it.py"}).conditional == {"test_more"}
    files["tests/test_it.py"] = "def test_a(): pass\n"
    assert not dependence(files, {"pytest"}, started={"tests/test_it.py"})
    star = {**files, "test_all.py": "from tests import *\n", "tests/__init__.py": "__all__ = ['test_more']\n"}
    assert dependence(star, {"pytest"}, started={"test_all.py"}).conditional == {"test_more"}
    files["tests/__init__.py"] = "from tests.test_more import test_more\n"
    assert dependence(files, {"pytest"}, started={"tests/test_it.py"}).conditional == {"test_more"}


def test_a_method_is_not_taken_for_the_function_of_its_name() -> None:
    """Nearly every suite compiles a pattern."""
    files = {"test_it.py": "import re\nP = re.compile('a')\ndef test_a(): pass\n", "test_more.py": CONDITIONAL}
    assert not dependence(files, {"pytest"}, started={"test_it.py"})
    files["test_it.py"] += "exec('import test_more')\n"
    assert dependence(files, {"pytest"}, started={"test_it.py"}).conditional == {"test_more"}


MANY = "+".join(["1"] * 2000)
DEEP = {
    "a mark": f"@pytest.mark.skipif(os.environ.get('A') == str({MANY}), reason='no')\ndef test_b(): assert add(1, 2) == 3\n",
    "a skip": f"X = {MANY}\ndef test_b():\n    if sys.platform == 'win32' and X == {MANY}: pytest.skip('no')\n    assert add(1, 2) == {MANY}\n",
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
def test_a_sum_of_many_terms_is_followed(name: str) -> None:
    """As one of two is."""
    found = _found(DEEP[name])
    assert found == _found(DEEP[name].replace(MANY, "1+1"))
    assert not found
    assert found.skips or found.marked


def test_what_is_nested_too_deeply_to_be_followed_is_untold() -> None:
    """It is no fault of the platform's."""
    text = f"def test_b():\n    assert add(1){'.b()' * 300}\n    pytest.skip(solution{'.b()' * 300})\n"
    assert _found(text).uncountable


PATHS = "import csv, glob, json, os\nfrom pathlib import Path\nimport pytest\nfrom solution import dbl\n"
EACH = "@pytest.mark.parametrize('a, b', CASES)\ndef test_a(a, b): assert dbl(a) == b\n"
OF_FILE = "@pytest.mark.parametrize('p', FILES)\ndef test_a(p): assert dbl(p)\n"
BESIDE = {"cases.json": "[[1, 2]]", "data/one.txt": "1 2", "data/two.txt": "2 4"}
OWN_FILES = {
    "a file beside": "CASES = json.loads((Path(__file__).parent / 'cases.json').read_text())\n" + EACH,
    "by its folder": "HERE = os.path.dirname(os.path.abspath(__file__))\nCASES = json.load(open(os.path.join(HERE, 'cases.json')))\n" + EACH,
    "by a function": "def load(): return json.loads((Path(__file__).parent / 'cases.json').read_text())\nCASES = load()\n" + EACH,
    "by a hook": "def pytest_generate_tests(metafunc):\n    with open(Path(__file__).parent / 'cases.json') as f: metafunc.parametrize('a, b', json.load(f))\ndef test_a(a, b): assert dbl(a) == b\n",
    "files of a folder": "FILES = sorted((Path(__file__).parent / 'data').glob('*.txt'))\n" + OF_FILE,
    "files of its own folder": "HERE = Path(__file__).parent\nFILES = sorted(HERE.glob('*.json'))\n" + OF_FILE,
    "files by glob": "FILES = glob.glob(os.path.join(os.path.dirname(__file__), 'data', '*.txt'))\n" + OF_FILE,
    "all of a folder": "FILES = list((Path(__file__).parent / 'data').iterdir())\n" + OF_FILE,
    "a table of a helper": "from helper import CASES\n" + EACH,
}  # fmt: skip
OTHERS_FILES = {
    "a file that is not there": "CASES = json.loads((Path(__file__).parent / 'mine.json').read_text())\n" + EACH,
    "a file where it runs": "CASES = json.loads(open('cases.json').read())\n" + EACH,
    "a file of the candidate's": "CASES = json.loads((Path(__file__).parent / 'solution.py').read_text())\n" + EACH,
    "a name of the candidate's": "import solution\nCASES = json.loads((Path(__file__).parent / solution.N / 'cases.json').read_text())\n" + EACH,
    "its modules": "FILES = sorted(Path(__file__).parent.glob('*.py'))\n" + OF_FILE,
    "any file": "FILES = sorted(Path(__file__).parent.iterdir())\n" + OF_FILE,
    "what is beside or not": "FILES = sorted(Path(__file__).parent.glob('*.yaml'))\n" + OF_FILE,
    "what the candidate makes of it": "CASES = dbl(json.loads((Path(__file__).parent / 'cases.json').read_text()))\n" + EACH,
    "a table that a helper changes": "from changing import CASES\n" + EACH,
    "a table that a helper makes": "from making import CASES\n" + EACH,
}  # fmt: skip
HELPERS = {
    "helper.py": "from solution import dbl\nCASES = [(1, 2), (2, 4)]\ndef twice(x): return dbl(dbl(x))\n",
    "changing.py": "import solution\nCASES = [(1, 2)]\nif hasattr(solution, 'x'): CASES.append((3, 6))\n",
    "making.py": "import solution\nCASES = [(1, 2)]\nCASES = solution.more(CASES)\n",
}


@pytest.mark.parametrize("name", [*OWN_FILES, *OTHERS_FILES])
def test_what_lies_beside_the_suite_is_its_own(name: str) -> None:
    """How many tests it makes does not depend on the candidate, unless the candidate's own files may be among them."""
    files = {"test_it.py": PATHS + {**OWN_FILES, **OTHERS_FILES}[name], **BESIDE, **HELPERS}
    found = dependence(files, {"pytest"}, started=["test_it.py"])
    assert bool(found.uncountable) is (name in OTHERS_FILES)
