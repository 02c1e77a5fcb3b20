"""The programs of the differential suite: a real start and a warm one run each, and nobody may tell them apart.

Those that are a main.py and nothing else stand in warm_programs.txt, each below a line `=== its name`. Here are the
others: with arguments, input, other files, an environment, odd bytes.
"""
# ruff: noqa: E501
# (a program or a file's content on one line is easier to see as one than broken into pieces)

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent


@dataclass(frozen=True)
class Case:
    """One program and how it is started: as main.py unless `command` says otherwise ("{python}" = the interpreter)."""

    name: str
    program: str | bytes = ""
    command: tuple[str, ...] = ("python3", "main.py")
    stdin: bytes | None = None
    files: dict[str, str | bytes] = field(default_factory=dict)
    """beside main.py; b"->x" = a link, b"zip:..." and b"pyc:..." = that program packed or compiled"""
    env: dict[str, str] = field(default_factory=dict)
    """"-" = without this variable"""
    warm: bool = True
    """False: the plan itself sends it to a real start"""
    before: tuple[int, int] = (9, 9)
    """versions of Python from this one on differ here (listed in docs/explanation/warm-exec.md)"""


CASES: list[Case] = []


def case(name: str, program: str | bytes = "", **rest: object) -> None:
    """Add one."""
    if isinstance(program, str):
        program = dedent(program).lstrip("\n")
    CASES.append(Case(name, program, **rest))  # type: ignore[arg-type]


for part in Path(__file__).with_suffix(".txt").read_text().split("=== ")[1:]:
    title, _, text = part.partition("\n")
    case(title, text.rstrip("\n") + "\n")

ARGV = "import sys; print(sys.argv, sys.orig_argv, sys.path, sys.executable, sys.flags, sys.warnoptions, sys._xoptions)"
MAIN = """\
print([(k, v) for k, v in globals().items() if k not in ("__builtins__", "__loader__")])
print(__builtins__, type(__loader__), getattr(__loader__, "path", None), getattr(__loader__, "name", None))
import sys
print(sys.modules["__main__"], __name__, vars(sys.modules["__main__"]) is globals())
print(dir())
"""

case(
    "argv of a file",
    ARGV,
    command=(
        "python3",
        "main.py",
        "a",
        "b c",
        "",
        "-x",
        "é",
    ),
)
case("order of loaded modules, as text", command=("python", "-c", "import sys; print(list(sys.modules))"))
case(
    "argv of a file below",
    command=(
        "python3",
        "sub/prog.py",
    ),
    files={"sub/prog.py": ARGV},
)
case(
    "argv of ./file",
    ARGV,
    command=(
        "python3",
        "./main.py",
    ),
)
case(
    "argv of ../file",
    ARGV,
    command=(
        "python3",
        "sub/../main.py",
    ),
    files={"sub/x": ""},
)
case(
    "argv of an absolute file",
    ARGV,
    command=(
        "python3",
        "{cwd}/main.py",
        "z",
    ),
)
case(
    "argv of a linked file",
    command=(
        "python3",
        "link.py",
    ),
    files={"link.py": b"->deep/real.py", "deep/real.py": ARGV},
)
case(
    "a file without suffix",
    ARGV,
    command=(
        "python3",
        "prog",
    ),
    files={"prog": ARGV},
)
case(
    "started as python3.x",
    ARGV,
    command=(
        "{versioned}",
        "main.py",
    ),
)
case(
    "started as python",
    ARGV,
    command=(
        "python",
        "main.py",
    ),
)
case(
    "started by its path",
    ARGV,
    command=(
        "{python}",
        "main.py",
    ),
)
case(
    "unbuffered",
    "import sys; print(sys.argv, sys.orig_argv, sys.path, sys.executable, sys.flags, sys.warnoptions, sys._xoptions); print(sys.stdout, sys.stdout.buffer, sys.stdout.write_through, sys.stderr.line_buffering)",
    command=(
        "python3",
        "-u",
        "main.py",
    ),
)
case(
    "argv of -c",
    command=(
        "python3",
        "-c",
        ARGV,
        "a",
        "-b",
        "--c=d",
    ),
)
case(
    "main of -c",
    command=(
        "python3",
        "-c",
        MAIN,
    ),
)
case(
    "main of a module",
    command=(
        "python3",
        "-m",
        "mod",
    ),
    files={
        "mod.py": '\n    print([(k, v) for k, v in globals().items() if k not in ("__builtins__", "__loader__")])\n    print(__builtins__, type(__loader__), getattr(__loader__, "path", None), getattr(__loader__, "name", None))\n    import sys\n    print(sys.modules["__main__"], __name__, vars(sys.modules["__main__"]) is globals())\n    print(dir())\nimport sys; print(sys.argv, sys.orig_argv, sys.path, sys.executable, sys.flags, sys.warnoptions, sys._xoptions)'
    },
)
case(
    "main of a package",
    command=(
        "python3",
        "-m",
        "pkg",
        "x",
    ),
    files={
        "pkg/__init__.py": "print('init', __name__)",
        "pkg/__main__.py": '\nprint([(k, v) for k, v in globals().items() if k not in ("__builtins__", "__loader__")])\nprint(__builtins__, type(__loader__), getattr(__loader__, "path", None), getattr(__loader__, "name", None))\nimport sys\nprint(sys.modules["__main__"], __name__, vars(sys.modules["__main__"]) is globals())\nprint(dir())\nimport sys; print(sys.argv, sys.orig_argv, sys.path, sys.executable, sys.flags, sys.warnoptions, sys._xoptions)\nfrom . import a',
        "pkg/a.py": "print('a', __name__, __package__)",
    },
)
case(
    "a submodule as main",
    command=(
        "python3",
        "-m",
        "pkg.tool",
    ),
    files={"pkg/__init__.py": "", "pkg/tool.py": MAIN},
)
case(
    "a package without main",
    command=(
        "python3",
        "-m",
        "pkg",
    ),
    files={"pkg/__init__.py": ""},
)
case(
    "a missing module",
    command=(
        "python3",
        "-m",
        "no_such_module",
    ),
)
case(
    "a module that fails",
    command=(
        "python3",
        "-m",
        "mod",
    ),
    files={"mod.py": "def f():\n    1 / 0\nf()\n"},
)
case(
    "a module with a syntax error",
    command=(
        "python3",
        "-m",
        "mod",
    ),
    files={"mod.py": "x = (\n"},
)
case(
    "a module that exits",
    command=(
        "python3",
        "-m",
        "mod",
    ),
    files={"mod.py": "raise SystemExit(9)"},
)
case(
    "a module interrupted",
    command=(
        "python3",
        "-m",
        "mod",
    ),
    files={"mod.py": "raise KeyboardInterrupt"},
)
case(
    "json.tool",
    command=(
        "python3",
        "-m",
        "json.tool",
    ),
    stdin=b'{"a":[1,2]}',
)
case(
    "unittest as module",
    command=(
        "python3",
        "-m",
        "unittest",
        "-q",
        "test_x",
    ),
    files={
        "test_x.py": "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 2)\n    def test2(self): print('two')\n",
        "sitecustomize_not.py": "",
    },
    env={"NO_COLOR": "1"},
)
case(
    "frames of a module",
    command=(
        "python3",
        "-m",
        "mod",
    ),
    files={
        "mod.py": "import traceback; traceback.print_stack(); import sys\ndef d(n):\n    try: return d(n + 1)\n    except RecursionError: return n\nprint(d(0))"
    },
)
case(
    "a directory",
    command=(
        "python3",
        "app",
        "1",
    ),
    files={
        "app/__main__.py": "import sys; print(sys.argv, sys.orig_argv, sys.path, sys.executable, sys.flags, sys.warnoptions, sys._xoptions); print(__file__)"
    },
)
case(
    "a directory without main",
    command=(
        "python3",
        "app",
    ),
    files={"app/x.py": ""},
)
case(
    "a missing file",
    command=(
        "python3",
        "nope.py",
    ),
)
case(
    "an unreadable name",
    command=(
        "python3",
        "no\udcffpe.py",
    ),
)
case(
    "a zip",
    command=(
        "python3",
        "app.pyz",
        "q",
    ),
    files={"app.pyz": b"zip:" + ARGV.encode()},
)
case(
    "a zip called .py",
    command=(
        "python3",
        "app.py",
    ),
    files={"app.py": b"zip:" + ARGV.encode()},
)
case("program on stdin", command=("python3",), stdin=b"import sys; print(sys.argv, __name__)", warm=False)
case(
    "program on stdin, dash",
    command=(
        "python3",
        "-",
        "a",
    ),
    stdin=b"import sys; print(sys.argv)",
    warm=False,
)
case(
    "optimised",
    "print(__debug__)",
    command=(
        "python3",
        "-O",
        "main.py",
    ),
    warm=False,
)
case(
    "isolated",
    ARGV,
    command=(
        "python3",
        "-I",
        "main.py",
    ),
    warm=False,
)
case(
    "warnings as errors",
    "import warnings; warnings.warn('x')",
    command=(
        "python3",
        "-Werror",
        "main.py",
    ),
    warm=False,
)
case(
    "version",
    command=(
        "python3",
        "--version",
    ),
    warm=False,
)
case(
    "double dash",
    command=(
        "python3",
        "--",
        "main.py",
    ),
    warm=False,
)
case("an empty file")
case(
    "main imported by name",
    "import __main__; print(__main__.__file__); X = 5; import sib",
    files={"sib.py": "import __main__; print(__main__.X)"},
)
case("null byte", b"print(1)\n\x00print(2)\n")
case("not UTF-8", b"print('\xe9')\n")
case("latin-1 cookie", b"# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))\n")
case("utf-8 cookie", b"# -*- coding: utf-8 -*-\nprint(ascii('\xc3\xa9'))\n")
case("unknown cookie", b"# coding: klingon\nprint(1)\n")
case("byte order mark", b"\xef\xbb\xbfprint('bom')\n")
case("carriage returns", b"print(1)\r\nprint('''a\r\nb''' == 'a\\nb')\r\n")
case("lone carriage return", b"print(1)\rprint(2)\r\n")
case("form feed", b"\x0cprint(1)\n\x0c\nprint(2)\n")
case("no newline at the end", b"if 1:\n    print(1)")
case(
    "syntax error in -c",
    command=(
        "python3",
        "-c",
        "print('never')\nfor",
    ),
)
case(
    "multi-line -c",
    command=(
        "python3",
        "-c",
        "def f():\n    raise ValueError('in f')\n\nf()",
    ),
)
case(
    "empty -c",
    command=(
        "python3",
        "-c",
        "",
    ),
)
case(
    "non-ascii -c",
    command=(
        "python3",
        "-c",
        "print(ascii('é€😀'))",
    ),
)
case(
    "assertion in -c",
    command=(
        "python3",
        "-c",
        "assert 1 == 2, 'no'",
    ),
)
case(
    "bytecode as program",
    command=(
        "python3",
        "main.pyc",
    ),
    files={"main.pyc": b"pyc:print('from bytecode')"},
    warm=False,
)
case(
    "bytecode without suffix",
    command=(
        "python3",
        "prog",
    ),
    files={"prog": b"pyc:print('from bytecode')"},
)
case(
    "exit with bad str",
    """
        class E:
            def __str__(self): raise ValueError
        raise SystemExit(E())
    """,
    before=(3, 12),
)
case(
    "KeyboardInterrupt in -c",
    command=(
        "python3",
        "-c",
        "raise KeyboardInterrupt",
    ),
)
case("uncaught SyntaxError in import", "import bad", files={"bad.py": "x = = 1\n"})
case("uncaught in import", "import bad", files={"bad.py": "def f():\n    raise OSError(2, 'x', 'f')\nf()\n"})
case(
    "uncaught deep, other file",
    """
        import sib
        sib.f()
    """,
    files={"sib.py": "def f():\n    g()\ndef g():\n    raise LookupError('deep')\n"},
)
case(
    "the streams, stdin a file",
    """
        import sys
        for s in (sys.stdin, sys.stdout, sys.stderr):
            print(s, s.name, s.mode, s.encoding, s.errors, s.newlines, s.line_buffering, s.write_through, s.buffer,
                  s.buffer.raw, s.fileno(), s.isatty(), s.closed, s.seekable() if s is sys.stdin else "")
        print(sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)
    """,
    stdin=b"x",
)
case(
    "input()",
    """
        a = input('name? ')
        b = input()
        print(a, b)
        input()
    """,
    stdin=b"one\ntwo",
)
case(
    "read all of stdin",
    """
        import sys
        print(sys.stdin.read())
    """,
    stdin=b"a\r\nb\rc\n",
)
case(
    "iterate stdin",
    """
        import sys
        for line in sys.stdin: print(repr(line))
    """,
    stdin=b"1\n2\n\n3",
)
case(
    "binary stdin",
    """
        import sys
        print(sys.stdin.buffer.read())
    """,
    stdin=b"\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\x7f\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x90\x91\x92\x93\x94\x95\x96\x97\x98\x99\x9a\x9b\x9c\x9d\x9e\x9f\xa0\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xab\xac\xad\xae\xaf\xb0\xb1\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xbb\xbc\xbd\xbe\xbf\xc0\xc1\xc2\xc3\xc4\xc5\xc6\xc7\xc8\xc9\xca\xcb\xcc\xcd\xce\xcf\xd0\xd1\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xdb\xdc\xdd\xde\xdf\xe0\xe1\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xeb\xec\xed\xee\xef\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff",
)
case(
    "undecodable stdin",
    """
        import sys
        print(ascii(sys.stdin.read()))
    """,
    stdin=b"a\xffb",
)
case(
    "map of stdin",
    """
        n = int(input())
        print(sum(map(int, input().split())), n)
    """,
    stdin=b"3\n1 2 3\n",
)
case("open(0)", "print(open(0).read())", stdin=b"zero")
case(
    "file not closed in a module",
    "import sib",
    files={"sib.py": "f = open('out.txt', 'w')\nf.write('kept')\ndef g(): return f\n"},
)
case(
    "__del__ of an import",
    "import sib",
    files={"sib.py": "class C:\n    def __del__(self): print('sib del')\nc = C()\n"},
)
case(
    "recursion depth in -c",
    command=(
        "python3",
        "-c",
        "def d(n):\n    try: return d(n + 1)\n    except RecursionError: return n\nprint(d(0))",
    ),
)
case(
    "inspect.getsource in -c",
    command=(
        "python3",
        "-c",
        "import inspect\ndef f(): pass\ntry: print(inspect.getsource(f))\nexcept OSError as e: print(e)",
    ),
)
case(
    "runpy",
    """
        import runpy
        print(sorted(runpy.run_path('other.py')))
    """,
    files={"other.py": "import sys; print(__name__, sys.argv)"},
)
case(
    "runpy module as main",
    """
        import runpy
        runpy.run_module('other', run_name='__main__', alter_sys=True)
    """,
    files={"other.py": "import sys; print(__name__, sys.argv, __file__)"},
)
case(
    "pdb from stdin",
    """
        import pdb
        x = 1
        pdb.set_trace()
        x = 2
        print(x)
    """,
    stdin=b"p x\nw\nn\nc\n",
)
case(
    "breakpoint()",
    """
        x = 5
        breakpoint()
        print('end')
    """,
    stdin=b"w\np x\nq\n",
)
case(
    "code.interact",
    """
        import code
        code.interact(local={})
    """,
    stdin=b"1+1\n",
)
case(
    "argparse usage",
    """
        import argparse
        p = argparse.ArgumentParser()
        p.add_argument('n', type=int)
        print(p.parse_args())
    """,
    command=(
        "python3",
        "main.py",
        "x",
    ),
)
case(
    "argparse help",
    """
        import argparse
        p = argparse.ArgumentParser()
        p.add_argument('n', type=int)
        print(p.parse_args())
    """,
    command=(
        "python3",
        "main.py",
        "-h",
    ),
)
case(
    "subprocess stdin",
    """
        import subprocess
        print(subprocess.run(['cat'], input=b'abc', capture_output=True).stdout)
        print(subprocess.check_output(['head', '-c', '2']))
    """,
    stdin=b"xyz",
)
case(
    "environment with more",
    """
        import os
        print(list(os.environ.items()), os.environb[b'PATH'], os.getenv('EXTRA'))
        os.system('echo $EXTRA')
    """,
    env={"EXTRA": "é \udcff x", "A": ""},
)
case(
    "environment with less",
    """
        import os
        print(list(os.environ.items()), os.environb[b'PATH'], os.getenv('EXTRA'))
        os.system('echo $EXTRA')
    """,
    env={"LANG": "-", "EXTRA": "1"},
    warm=False,
)
case("PYTHON variable", ARGV, env={"PYTHONPATH": "/tmp"}, warm=False)
case("hash seed", "print(hash('a'))", env={"PYTHONHASHSEED": "7"}, warm=False)
case(
    "PYTHONUNBUFFERED",
    """
        import sys
        for s in (sys.stdin, sys.stdout, sys.stderr):
            print(s, s.name, s.mode, s.encoding, s.errors, s.newlines, s.line_buffering, s.write_through, s.buffer,
                  s.buffer.raw, s.fileno(), s.isatty(), s.closed, s.seekable() if s is sys.stdin else "")
        print(sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)
    """,
    env={"PYTHONUNBUFFERED": "1"},
    warm=False,
)
case(
    "PYTHONIOENCODING",
    """
        import sys
        for s in (sys.stdin, sys.stdout, sys.stderr):
            print(s, s.name, s.mode, s.encoding, s.errors, s.newlines, s.line_buffering, s.write_through, s.buffer,
                  s.buffer.raw, s.fileno(), s.isatty(), s.closed, s.seekable() if s is sys.stdin else "")
        print(sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)
    """,
    env={"PYTHONIOENCODING": "latin-1:replace"},
    warm=False,
)
case(
    "other locale",
    """
        import sys
        for s in (sys.stdin, sys.stdout, sys.stderr):
            print(s, s.name, s.mode, s.encoding, s.errors, s.newlines, s.line_buffering, s.write_through, s.buffer,
                  s.buffer.raw, s.fileno(), s.isatty(), s.closed, s.seekable() if s is sys.stdin else "")
        print(sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)
    """,
    env={"LC_ALL": "C"},
    warm=False,
)
case(
    "other home",
    """
        import os
        print(os.path.expanduser('~'))
    """,
    env={"HOME": "/tmp"},
    warm=False,
)
case(
    "other time zone",
    """
        import time
        print(time.tzname)
    """,
    env={"TZ": "Asia/Tokyo"},
    warm=False,
)
case("another PATH", ARGV, env={"PATH": "{bin}:/usr/bin"})
case(
    "a PATH without python",
    ARGV,
    command=(
        "{python}",
        "main.py",
    ),
    env={"PATH": "/nowhere"},
)
case(
    "python of one's own",
    files={"bin/python3": "#!/bin/sh\necho mine\n"},
    env={"PATH": "{cwd}/bin:/usr/bin:/bin"},
    warm=False,
)
case(
    "relative open",
    """
        print(open('data.txt').read())
        open('out.txt', 'w').write('x')
    """,
    files={"data.txt": "content"},
)
case(
    "sibling import",
    """
        import sib, sys
        print(sib.X, sib.__file__, sib.__name__, sib.__spec__.origin, sib.__cached__)
        import os
        print(sorted(os.listdir('.')))
    """,
    files={"sib.py": "X = 1\nprint('loading')"},
)
case(
    "sibling of -c",
    command=(
        "python3",
        "-c",
        "import sib; print(sib.__file__)",
    ),
    files={"sib.py": ""},
)
case(
    "sibling package",
    """
        from pkg.a import b
        print(b)
    """,
    files={"pkg/__init__.py": "", "pkg/a.py": "from . import c\nb = c.d", "pkg/c.py": "d = 4"},
)
case(
    "namespace package",
    """
        import ns.m
        print(ns, ns.m.__package__)
    """,
    files={"ns/m.py": ""},
)
case(
    "sibling shadows the library",
    """
        import colorsys
        print(colorsys.__file__)
    """,
    files={"colorsys.py": "pass"},
)
case(
    "sibling shadows json",
    """
        import json
        print(json.__file__)
    """,
    files={"json.py": "pass"},
)
case(
    "sibling shadows a loaded module",
    """
        import os
        print(os.__file__)
    """,
    files={"os.py": "pass"},
)
case(
    "sibling called ctypes",
    """
        import ctypes
        print(ctypes.X)
    """,
    files={"ctypes.py": "X = 1"},
)
case("circular import", "import a", files={"a.py": "import b\nX = 1", "b.py": "from a import X"})
case(
    "importlib",
    """
        import importlib
        m = importlib.import_module('sib')
        importlib.reload(m)
        try: importlib.util
        except AttributeError as e: print(e)
    """,
    files={"sib.py": "print('load')"},
)
case(
    "input in a thread",
    """
        import threading
        t = threading.Thread(target=lambda: print(input()))
        t.start()
        t.join()
    """,
    stdin=b"x\n",
)

for value in ("", "None", "0", "1", "3", "256", "-1", "2**31", "2**40 + 7", "True", "1.5", "'bye'", "''", "b'x'", "('a', 1)",
              "object", "[]", "'é€'"):  # fmt: skip
    case(f"exit({value})", f"import sys\nprint('out')\nsys.exit({value})")
for value in ("2**70", "-2**70"):
    case(f"exit({value})", f"import sys\nsys.exit({value})", before=(3, 12))
case("exit() of site", "exit(5)")
case("exit with two values", "raise SystemExit(1, 2)")
for number in ("SIGTERM", "SIGKILL", "SIGINT", "SIGHUP", "SIGPIPE", "SIGUSR1", "SIGALRM", "SIGXFSZ", "SIGCHLD"):
    case(
        f"killed by {number}",
        f"import os, signal, time\nprint('x', flush=True)\nos.kill(os.getpid(), signal.{number})\ntime.sleep(.01)\nprint('on')",
    )
case("deep expression", "x = " + "+".join(["1"] * 3000) + "\nprint(x)")
case("long program", "\n".join(f"def f{i}(x):\n    return x + {i}" for i in range(1500)) + "\nprint(f1499(1))")
