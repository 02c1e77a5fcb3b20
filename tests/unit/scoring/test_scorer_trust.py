"""A `python` scorer's trust: `separate` only where its source is known to execute no text."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.core.results import Trust
from harena.scoring import load_scenarios
from harena.scoring.contracts.contract import Contract
from harena.scoring.score import require

HARMLESS = {
    "numbers": "return min(1, len(run.stdout.split()) / 12)",
    "json": "import json\ntry:\n    return json.loads(run.stdout)['a'] == 1\nexcept ValueError:\n    return 0",
    "regular expression": "import re\nreturn bool(re.compile(r'a+').fullmatch(run.stdout))",
    "tree": "import ast\nreturn isinstance(ast.literal_eval(run.stdout), list)",
    "names": "from collections import Counter\nfrom collections.abc import Set\nreturn Counter('a')['a']",
    "classes": "class A:\n    def __init__(self): self.a = 1\n    def __eq__(self, other): return False\nreturn A().a",
    "file of the image": "return open('/data/right.txt', encoding='utf-8').read() == open('/a', 'rb').read()",
    "numpy": "import numpy as np\nreturn float(np.array([1]).sum() + np.random.default_rng(0).random())",
    "modules named alike": "import datetime, copy, random\nreturn random.random() + bool(datetime.datetime(1, 1, 1))",
    "numpy's modules": "import numpy as np\nfrom numpy import linalg\nreturn float(linalg.norm(np.linalg.inv(run)))",
    "table in a text": "import io\nimport numpy as np\nreturn float(np.loadtxt(io.StringIO(run.stdout)).sum())",
    "variables named as modules": "import time, string\ntime_is = time.time()\n"
    "def f(string, *time): return string.strip(), [time for time in time if time.any]\nreturn f('a')",
    "classes of trees": "import ast\nreturn any(isinstance(n, ast.For) for n in ast.walk(ast.parse(run.stdout)))",
    "tuples with names": "from collections import namedtuple\nreturn len(namedtuple('R', 'a b')(1, 2)._asdict())",
    "hidden names of its own": "class A:\n    def __init__(self): self._a = 1\nreturn A()._a",
    "kind of a value": "return type(run.stdout) is str",
    "a module below": "import collections.abc\nreturn isinstance(run.stdout, collections.abc.Sequence)",
    "zone": "from datetime import datetime\nimport zoneinfo\nreturn bool(datetime.now(zoneinfo.ZoneInfo('UTC')))",
    "a text of its own": "made = {}\nexec(compile('def g(x): return 1', 'g', 'exec'), made)\nreturn made['g'](run)",
}
DOUBTFUL = {
    "exec": "exec(run.candidate[run.entry])\nreturn 1",
    "exec, renamed": "do = exec\nreturn 1",
    "eval": "return eval(run.stdout)",
    "compile": "compile(run.stdout, 'a', 'exec')\nreturn 1",
    "import by name": "return __import__('solution').f()",
    "import of what lies there": "import solution\nreturn 1",
    "importlib": "import importlib\nreturn 1",
    "from importlib": "from importlib import import_module\nreturn 1",
    "relative import": "from . import a\nreturn 1",
    "pickle": "import pickle\nreturn pickle.loads(run.files['a'].encode())",
    "subprocess": "import subprocess\nreturn 1",
    "os": "import os\nreturn os.system(run.stdout)",
    "runpy": "import runpy\nreturn 1",
    "builtins": "import builtins\nreturn 1",
    "by a text": "return getattr(run, 'std' + 'out') == ''",
    "by a table": "return globals()['score']",
    "by a module in a module": "import re\nreturn re.sys.modules['builtins']",
    "by a module in a module, hidden": "import random\nreturn random._os.getpid()",
    "by a class": "return ().__class__.__base__.__subclasses__()",
    "by the builtins": "return __builtins__",
    "a file that is written": "open('re.py', 'w').write(run.stdout)\nimport re\nreturn 1",
    "a file whose mode is unknown": "open('re.py', run.stdout)\nreturn 1",
    "open by another name": "write = open\nreturn 1",
    "io.open": "import io\nio.open('re.py', 'w')\nreturn 1",
    "from io": "from io import FileIO\nreturn 1",
    "star": "from ast import *\nreturn 1",
    "numpy's pickles": "import numpy as np\nreturn np.load('a')",
    "numpy's pickles, by format": "import numpy as np\nreturn np.lib.format.read_array(run, allow_pickle=True).sum()",
    "numpy's pickles, by archive": "import numpy as np\nreturn np.lib.npyio.NpzFile(run)['a']",
    "numpy's pickles, by a module": "from numpy import lib\nreturn lib.format.read_array(run)",
    "numpy's pickles, by another name": "import numpy as np\nn = np\nreturn n.lib.format.read_array(run)",
    "allowed pickles": "return run.reader(allow_pickle=True)",
    "a module two levels below": "import numpy as np\nreturn np.core.numerictypes.sys.modules['os']",
    "a module among values": "import re\nreturn [re][0].sys",
    "a module that a constant program imports": "exec('import numpy')\nreturn numpy.lib.format.read_array(run)",
    "numpy's files": "import numpy as np\nnp.array([1]).tofile('re.py')\nreturn 1",
    "numpy's library": "import numpy as np\nreturn np.array([1]).ctypes._ctypes.pythonapi",
    "types that are evaluated, hidden": "import typing\nreturn typing._eval_type(typing.Optional[run.stdout], {}, {})",
    "a class by a text": "import dataclasses\nreturn dataclasses.dataclass(type('T', (), {'__annotations__': run}))",
    "fields by a text": "import string\nreturn string.Formatter().get_field(run.stdout, (), {})",
    "another function of a module": "import json\njson.loads = run.f\nreturn 1",
    "types that are evaluated": "import typing\nreturn typing.get_type_hints(run)",
    "code": "def f(): yield\nreturn f().gi_frame.f_builtins",
    "a text of its own that executes": "exec(compile('import os', 'g', 'exec'))\nreturn 1",
    "another module": "import sympy\nreturn sympy.sympify(run.stdout) == 1",
}


def contract(body: str, **fields: Any) -> Contract:
    scoring = {"type": "python", "source": "def score(run):\n" + textwrap.indent(body, "    "), **fields}
    return load_scenarios([{"id": "a", "candidate": "x", "scoring": scoring}]).scenarios[0].scoring


@pytest.mark.parametrize("name", HARMLESS)
def test_a_scorer_that_executes_no_text_is_separate(name: str) -> None:
    """What honest scorers import and call."""
    made = contract(HARMLESS[name])
    assert made.shared_because is None
    assert made.trust is Trust.SEPARATE
    require(made, Trust.SEPARATE)


@pytest.mark.parametrize("name", DOUBTFUL)
def test_any_doubt_makes_it_shared(name: str) -> None:
    """With the line that is in doubt; a job that demands `separate` refuses it."""
    made = contract(DOUBTFUL[name])
    assert made.trust is Trust.SHARED
    assert made.shared_because is not None
    assert "may execute what the candidate wrote: " in made.shared_because
    with pytest.raises(ValidationError, match=r"demands trust `separate`.*may execute"):
        require(made, Trust.SEPARATE)


def test_a_whole_is_as_its_parts() -> None:
    """And says which part it is."""
    part = {"type": "python", "source": "import os\ndef score(run): return 1"}
    scoring = {"type": "weighted", "parts": {"b": {"scoring": part}}}
    made = load_scenarios([{"id": "a", "candidate": "x", "scoring": scoring}]).scenarios[0].scoring
    assert (made.trust, made.shared_because) == (
        Trust.SHARED,
        "b: its scorer may execute what the candidate wrote: line 1 has `import os`",
    )
