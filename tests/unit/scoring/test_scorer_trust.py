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
    "templates of its own": "T = '{:>8}|'\nU = T + '%s'\nfor t in ('{}', '%d'):\n    t.format(run.stdout)\n"
    "return T.format(run.stdout), U % (run.stdout,), f'{run.stdout:>{len(T)}}'",
    "widths of its own": "W = 8\nreturn '{a:{w}}'.format(a=run.stdout, w=W), f'{run.stdout:{W}}', '%*d' % (W, 1)",
    "a template that a function is given": "def show(form, *, end='%s'): return form.format(run.stdout) + end % 1\n"
    "return show('{}') + show(form='{}!')",
    "patterns": "import re\nP = re.compile('a')\ndef up(m): return m[0].upper()\n"
    "return re.sub(r'\\s+', ' ', run.stdout), P.sub('', run.answer), re.subn('a', up, run.stdout), "
    "P.sub(lambda m: '', '')",
    "a form of bytes of its own": "import struct\nfrom struct import unpack\n"
    "return unpack('<d', struct.pack('<d', float(run.stdout))), struct.calcsize('d')",
    "variables named as methods": "count = run.stdout.count('a')\nindex = 'abc'.index('b')\n"
    "return count % 2, index % 3, sum(range(3)) % 2, round(1.5) % 2, abs(-1) % 2",
    "imports in two functions": "def g():\n    import re\n    return re.sub(' ', '', run.stdout)\n"
    "def h():\n    import re\n    return re.sub('a', lambda m: '', run.stdout)\nreturn g(), h()",
    "a variable named format": "import datetime\nfor format in ('%Y', '%d'):\n"
    "    datetime.datetime.strptime(run.stdout, format)\nreturn 1",
    "remainders": "def even(n): return n % 2 == 0\ndef gcd(a: int, b: int):\n    while b: a, b = b, a % b\n"
    "    return a\n"
    "def prime(n): return all(n % d for d in range(2, n))\nx = int(run.stdout)\nM = 10 ** 9 + 7\n"
    "return even(x), gcd(x, 3), prime(x), (x * 2 + 1) % x, len(run.stdout) % x, sum([1]) % x, run.a % M, -x % x\n",
    "remainders in loops": "for i, x in enumerate(map(int, run.stdout.split())):\n    i %= x\n    x %= i\nreturn i",
    "a calculator": "import ast, operator\nreturn {ast.Add: operator.add, ast.Sub: operator.sub}",
    "dates": "import time, datetime\nfrom string import Template\nT = Template('$a')\n"
    "return time.strftime('%Y'), datetime.date(1, 1, 1).strftime('%d'), T.substitute(a=run.stdout)",
    "numbers as they are shown": "return format(run.stdout), format(1.5, '.1f'), f'{run.stdout!r:>10}'",
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
    "a template": "return run.stdout.format(run=run)",
    "a template, by a table": "return run.stdout.format_map(run.metadata)",
    "a template, by a function": "return str.format(run.stdout, run)",
    "a template, by a value": "f = run.stdout.format\nreturn f(run)",
    "a template, by a name": "t = '{}'\nif run.a:\n    t = run.stdout\nreturn t.format(run)",
    "a template, added to": "t = '{}'\nt += run.stdout\nreturn t.format(run)",
    "a template, in a list": "t = ['{}']\nt.append(run.stdout)\nreturn t[1].format(run)",
    "a template, in a loop": "for t in run.stdout.split():\n    t.format(run)\nreturn 1",
    "a template, by a comprehension": "return [t.format(run) for t in run.stdout.split()]",
    "a template, by a parameter": "def show(t): return t.format(run)\nshow('{}')\nreturn show(run.stdout)",
    "a template, by an unseen call": "def show(t='{}'): return t.format(run)\nreturn list(map(show, [run.stdout]))",
    "a template, by a constant program": "t = '{}'\nexec('t = score.run')\nreturn t.format(run)",
    "a template, by with": "with run as t:\n    return t.format(run)",
    "a template, by match": "match run.stdout:\n    case t:\n        return t.format(run)",
    "a template, in an f-string": "return f'{{{run.stdout}}}'.format(run)",
    "a specification": "return f'{1:{run.stdout}}'",
    "a specification, by format": "return format(1, run.stdout)",
    "a specification, by a value": "return list(map(format, [1], [run.stdout]))",
    "a specification, by a template": "return '{:{}}'.format(1, run.stdout)",
    "a specification, by a template and a name": "return '{:{w}}'.format(1, w=run.stdout)",
    "a specification, by a template's name": "t = '{:{w}}'\nreturn t.format(1, w=run.stdout)",
    "a specification, by a template's value": "return list(map('{:{}}'.format, [1], [run.stdout]))",
    "percent": "return run.stdout % run.metadata",
    "percent, in place": "t = run.stdout\nt %= run.metadata\nreturn t",
    "percent, of a number": "return run.stdout % int(run.metadata['a'])",
    "percent, by a count": "return [run.stdout % i for i in range(run.metadata['a'])]",
    "percent, by a product": "return (run.stdout * 2) % run.metadata",
    "percent, by operator": "import operator\nreturn operator.mod(run.stdout, run.metadata)",
    "percent, by from": "from operator import mod\nreturn mod(run.stdout, run.metadata)",
    "a template of string": "import string\nreturn string.Template(run.stdout).substitute(run.metadata)",
    "a template of string, renamed": "from string import Template as T\nreturn T(run.stdout).substitute(a=1)",
    "a class of templates": "import string\nclass T(string.Template): pass\nreturn T(run.stdout).substitute(a=1)",
    "a replacement": "import re\nreturn re.sub('.*', run.stdout, run.metadata['a'])",
    "a replacement, by name": "import re as r\nreturn r.sub('.*', string='a', repl=run.stdout)",
    "a replacement, renamed": "import re as r\nreturn r.sub('.*', run.stdout, 'a')",
    "a replacement, by from": "from re import sub as s\nreturn s('.*', run.stdout, 'a')",
    "a replacement, by a pattern": "import re\nreturn re.compile('.*').sub(run.stdout, run.metadata['a'])",
    "a replacement, by a match": "import re\nreturn re.match('.*', 'a').expand(run.stdout)",
    "a replacement, by stars": "import re\nreturn re.sub('.*', *[run.stdout, 'a'])",
    "a replacement, by a parameter named as a function": "import re\ndef up(m): return m[0]\n"
    "def show(text, up): return re.sub('(.*)', up, text)\nreturn show(run.metadata['a'], run.stdout)",
    "a replacement, by a variable named as a function": "import re\ndef g():\n    def up(m): return m[0]\n"
    "up = run.stdout\nreturn re.sub('.*', up, run.metadata['a'])",
    "a replacement, by a decorated function": "import re\ndef swap(f): return run.stdout\n"
    "@swap\ndef up(m): return m[0]\nreturn re.sub('.*', up, run.metadata['a'])",
    "a replacement, by a function that is bound elsewhere": "import re\ndef up(m): return m[0]\n"
    "exec('up = made')\nreturn re.sub('.*', up, run.metadata['a'])",
    "a replacement, by a pattern named as a module": "import re\ndef g(re): return re.sub(run.stdout, 'secret')\n"
    "return g(re.compile('s(.*)'))",
    "a replacement, by a pattern named as another module": "import operator, re\n"
    "def g(operator): return operator.sub(run.stdout, 'secret')\nreturn g(re.compile('s(.*)'))",
    "a replacement, by a name that is imported twice": "def g():\n    from re import sub\n"
    "    return sub('.*', run.stdout, 'secret')\ndef h():\n    from operator import sub\nreturn g()",
    "a specification beside a variable named format": "def g(format): return format\nreturn format(1, run.stdout)",
    "percent, by a method named as a function": "class A:\n    def g(self, form='%s'): return form % {}\n"
    "    def h(self): return g('%s')\nreturn A().g(run.stdout)",
    "percent, by a sum": "t = sum([['a'], [run.stdout]], [])\nreturn t % run.metadata",
    "percent, by a sum that is imported": "from numpy import sum\nreturn sum([run.stdout]) % run.metadata",
    "percent, by a method named count": "class A:\n    def count(self, x): return x\n"
    "return A().count(run.stdout) % run.metadata",
    "percent, by a field named count": "from collections import namedtuple\nA = namedtuple('A', ['count'])\n"
    "return A(str).count(run.stdout) % run.metadata",
    "percent, by an operator of its own": "class A:\n    def __rsub__(self, x): return x\n"
    "return (run.stdout - A()) % run.metadata",
    "percent, by rounding of its own": "class A(str):\n    def __round__(self): return self\n"
    "return round(A(run.stdout)) % run.metadata",
    "a form of bytes": "import struct\nreturn struct.pack(run.stdout, 3)",
    "a form of bytes, by from": "from struct import unpack as u\nreturn u(run.stdout, b'secret')",
    "a form of time": "import time\nreturn time.strftime(run.stdout)",
    "a form of a date": "import datetime\nreturn datetime.date(1, 2, 3).strftime(run.stdout)",
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
