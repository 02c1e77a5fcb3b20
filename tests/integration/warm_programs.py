"""The programs of the differential suite: each is run by a real start and by a warm one, and must not tell them apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import dedent


@dataclass(frozen=True)
class Case:
    """One program and how it is started: as main.py unless `command` says otherwise ("{python}" = the interpreter)."""

    name: str
    program: str | bytes = ""
    command: tuple[str, ...] = ("python3", "main.py")
    stdin: bytes | None = None
    files: dict[str, str | bytes] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    warm: bool = True
    """False: the plan itself sends it to a real start"""
    before: tuple[int, int] = (9, 9)
    """versions of Python from this one on differ here (listed in docs/explanation/warm-exec.md)"""


CASES: list[Case] = []


def case(name: str, program: str | bytes = "", **rest: object) -> None:
    if isinstance(program, str):
        program = dedent(program).lstrip("\n")
    CASES.append(Case(name, program, **rest))  # type: ignore[arg-type]


def code(name: str, program: str, *arguments: str, **rest: object) -> None:
    case(name, "", command=("python3", "-c", dedent(program).strip("\n"), *arguments), **rest)


# -- the command line and __main__ -------------------------------------------------------------------------------------

ARGV = "import sys; print(sys.argv, sys.orig_argv, sys.path, sys.executable, sys.flags, sys.warnoptions, sys._xoptions)"
MAIN = """
    print([(k, v) for k, v in globals().items() if k not in ("__builtins__", "__loader__")])
    print(__builtins__, type(__loader__), getattr(__loader__, "path", None), getattr(__loader__, "name", None))
    import sys
    print(sys.modules["__main__"], __name__, vars(sys.modules["__main__"]) is globals())
    print(dir())
"""
case("argv of a file", ARGV, command=("python3", "main.py", "a", "b c", "", "-x", "é"))
case("argv of a file below", "", command=("python3", "sub/prog.py"), files={"sub/prog.py": ARGV})
case("argv of ./file", ARGV, command=("python3", "./main.py"))
case("argv of ../file", ARGV, command=("python3", "sub/../main.py"), files={"sub/x": ""})
case("argv of an absolute file", ARGV, command=("python3", "{cwd}/main.py", "z"))
case(
    "argv of a linked file",
    "",
    command=("python3", "link.py"),
    files={"link.py": b"->deep/real.py", "deep/real.py": ARGV},
)
case("a file without suffix", ARGV, command=("python3", "prog"), files={"prog": ARGV})
case("started as python3.x", ARGV, command=("{versioned}", "main.py"))
case("started as python", ARGV, command=("python", "main.py"))
case("started by its path", ARGV, command=("{python}", "main.py"))
case("unbuffered", ARGV + "; print(sys.stdout, sys.stdout.buffer, sys.stdout.write_through, sys.stderr.line_buffering)",
     command=("python3", "-u", "main.py"))  # fmt: skip
code("argv of -c", ARGV, "a", "-b", "--c=d")
code("main of -c", MAIN)
case("main of a file", MAIN)
case("main of a module", "", command=("python3", "-m", "mod"), files={"mod.py": MAIN + ARGV})
case("main of a package", "", command=("python3", "-m", "pkg", "x"),
     files={"pkg/__init__.py": "print('init', __name__)", "pkg/__main__.py": dedent(MAIN) + ARGV + "\nfrom . import a",
            "pkg/a.py": "print('a', __name__, __package__)"})  # fmt: skip
case(
    "a submodule as main", "", command=("python3", "-m", "pkg.tool"), files={"pkg/__init__.py": "", "pkg/tool.py": MAIN}
)
case("a package without main", "", command=("python3", "-m", "pkg"), files={"pkg/__init__.py": ""})
case("a missing module", "", command=("python3", "-m", "no_such_module"))
case("a module that fails", "", command=("python3", "-m", "mod"), files={"mod.py": "def f():\n    1 / 0\nf()\n"})
case("a module with a syntax error", "", command=("python3", "-m", "mod"), files={"mod.py": "x = (\n"})
case("a module that exits", "", command=("python3", "-m", "mod"), files={"mod.py": "raise SystemExit(9)"})
case("a module interrupted", "", command=("python3", "-m", "mod"), files={"mod.py": "raise KeyboardInterrupt"})
case("json.tool", "", command=("python3", "-m", "json.tool"), stdin=b'{"a":[1,2]}')
case("unittest as module", "", command=("python3", "-m", "unittest", "-q", "test_x"),
     files={"test_x.py": "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 2)\n"
            "    def test2(self): print('two')\n", "sitecustomize_not.py": ""}, env={"NO_COLOR": "1"})  # fmt: skip
case("frames of a module", "", command=("python3", "-m", "mod"),
     files={"mod.py": "import traceback; traceback.print_stack(); import sys\ndef d(n):\n    try: return d(n + 1)\n"
            "    except RecursionError: return n\nprint(d(0))"})  # fmt: skip
case("a directory", "", command=("python3", "app", "1"), files={"app/__main__.py": ARGV + "; print(__file__)"})
case("a directory without main", "", command=("python3", "app"), files={"app/x.py": ""})
case("a missing file", "", command=("python3", "nope.py"))
case("an unreadable name", "", command=("python3", "no\udcffpe.py"))
case("a zip", "", command=("python3", "app.pyz", "q"), files={"app.pyz": b"zip:" + ARGV.encode()})
case("a zip called .py", "", command=("python3", "app.py"), files={"app.py": b"zip:" + ARGV.encode()})
case("program on stdin", "", command=("python3",), stdin=b"import sys; print(sys.argv, __name__)", warm=False)
case("program on stdin, dash", "", command=("python3", "-", "a"), stdin=b"import sys; print(sys.argv)", warm=False)
case("optimised", "print(__debug__)", command=("python3", "-O", "main.py"), warm=False)
case("isolated", ARGV, command=("python3", "-I", "main.py"), warm=False)
case("warnings as errors", "import warnings; warnings.warn('x')", command=("python3", "-Werror", "main.py"), warm=False)
case("version", "", command=("python3", "--version"), warm=False)
case("double dash", "", command=("python3", "--", "main.py"), warm=False)
case("an empty file", "")
case("a comment only", "# nothing\n")
case("a docstring", '"""About it."""\nprint(__doc__)')
case("annotations", "x: int = 1\nprint(__annotations__)")
case("future import", "from __future__ import annotations\nx: undefined = 1\nprint(__annotations__)")
case("no future in effect", "x: int = 1\nprint(__annotations__['x'], compile('1/2', '', 'eval').co_flags)")
case(
    "main imported by name",
    "import __main__; print(__main__.__file__); X = 5; import sib",
    files={"sib.py": "import __main__; print(__main__.X)"},
)

# -- source text -------------------------------------------------------------------------------------------------------

case("syntax error", "def f(:\n    pass\n")
case("indentation error", "if 1:\nprint(1)\n")
case("tab error", "if 1:\n        a = 1\n\tb = 2\n")
case("unterminated string", 's = "abc\nprint(s)\n')
case("null byte", b"print(1)\n\0print(2)\n")
case("not UTF-8", b"print('\xe9')\n")
case("latin-1 cookie", b"# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))\n")
case("utf-8 cookie", "# -*- coding: utf-8 -*-\nprint(ascii('é'))\n".encode())
case("unknown cookie", b"# coding: klingon\nprint(1)\n")
case("byte order mark", b"\xef\xbb\xbfprint('bom')\n")
case("carriage returns", b"print(1)\r\nprint('''a\r\nb''' == 'a\\nb')\r\n")
case("lone carriage return", b"print(1)\rprint(2)\r\n")
case("form feed", b"\x0cprint(1)\n\x0c\nprint(2)\n")
case("no newline at the end", b"if 1:\n    print(1)")
case("syntax warning", "x = 1\nif x is 1: print('is')\nprint('\\d')\n")
case("syntax warning and error", "x = 1\nif x is 1: print('is')\ndef f(:\n")
code("syntax error in -c", "print('never')\nfor\n")
code("multi-line -c", "def f():\n    raise ValueError('in f')\n\nf()\n")
code("empty -c", "")
code("non-ascii -c", "print(ascii('é€😀'))")
code("assertion in -c", "assert 1 == 2, 'no'")
case(
    "bytecode as program",
    "",
    command=("python3", "main.pyc"),
    files={"main.pyc": b"pyc:print('from bytecode')"},
    warm=False,
)
case("bytecode without suffix", "", command=("python3", "prog"), files={"prog": b"pyc:print('from bytecode')"})
case("deep nesting", "x = " + "(" * 150 + "1" + ")" * 150)
case("deep expression", "x = " + "+".join(["1"] * 3000) + "\nprint(x)")
case("long program", "\n".join(f"def f{i}(x):\n    return x + {i}" for i in range(1500)) + "\nprint(f1499(1))")

# -- ways out ----------------------------------------------------------------------------------------------------------

for value in ("", "None", "0", "1", "3", "256", "-1", "2**31", "2**40 + 7", "2**70", "-2**70", "True", "1.5", "'bye'", "''",
              "b'x'", "('a', 1)", "object", "[]", "1, 2", "'é€'"):  # fmt: skip
    case(f"exit({value})", f"import sys\nprint('out')\nsys.exit({value})" if value != "1, 2" else "raise SystemExit(1, 2)",
         before=(3, 12) if "70" in value else (9, 9))  # fmt: skip
case("exit of an exit", "import sys\nsys.exit(SystemExit(4))")
case("exit class", "raise SystemExit")
case("exit with bad str", "class E:\n    def __str__(self): raise ValueError\nraise SystemExit(E())", before=(3, 12))
case("exit with own str", "class E:\n    def __str__(self): return 'mine'\nraise SystemExit(E())")
case(
    "exit with int subclass",
    "class I(int):\n    def __and__(self, o): return 9\n    def __index__(self): return 8\nraise SystemExit(I(5))",
)
case("exit subclass", "class E(SystemExit):\n    pass\nraise E(6)")
case("exit whose code fails", "class E(SystemExit):\n    @property\n    def code(self): raise ValueError\nraise E(6)")
case("exit without stderr", "import sys\nsys.stderr = None\nsys.exit('to nobody')")
case("exit with stderr deleted", "import sys\ndel sys.stderr\nsys.exit('to nobody')")
case("exit() of site", "exit(5)")
case("quit() of site", "quit()")
case("os._exit", "import os\nprint('lost')\nos._exit(7)")
case("os.abort", "import os, resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\nos.abort()")
case("exit in a nested call", "import sys\ndef f():\n    try: sys.exit(3)\n    finally: print('finally')\nf()")
case("exit in except", "import sys\ntry: 1/0\nexcept ZeroDivisionError: sys.exit('after')")
case("exit swallowed", "import sys\ntry: sys.exit(3)\nexcept BaseException as e: print(repr(e))")
for number in ("SIGTERM", "SIGKILL", "SIGINT", "SIGHUP", "SIGPIPE", "SIGUSR1", "SIGALRM", "SIGXFSZ", "SIGCHLD"):
    case(
        f"killed by {number}",
        f"import os, signal, time\nprint('x', flush=True)\nos.kill(os.getpid(), signal.{number})\ntime.sleep(.01)\nprint('alive')",
    )
case(
    "segfault",
    "import os, resource, signal\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\nos.kill(os.getpid(), signal.SIGSEGV)",
)

# -- uncaught errors ---------------------------------------------------------------------------------------------------

case("uncaught", "def f(x):\n    return 1 / x\n\ndef g():\n    f(0)\n\ng()\n")
case("uncaught class", "raise KeyError")
case("uncaught with cause", "try:\n    1/0\nexcept Exception as e:\n    raise ValueError('v') from e\n")
case("uncaught with context", "try:\n    {}['k']\nexcept KeyError:\n    undefined\n")
case("uncaught from None", "try:\n    1/0\nexcept Exception:\n    raise ValueError('v') from None\n")
case("uncaught with notes", "e = ValueError('v')\ne.add_note('one')\ne.add_note('two\\nlines')\nraise e\n")
case("uncaught group", "raise ExceptionGroup('g', [ValueError(1), ExceptionGroup('h', [TypeError(2)])])\n")
case("uncaught own class", "class Odd(Exception):\n    def __str__(self): return 'odd ' + 'text'\nraise Odd\n")
case("uncaught with bad str", "class Odd(Exception):\n    def __str__(self): raise RuntimeError\nraise Odd\n")
case("uncaught, did you mean", "import os\nos.getcwdd()\n")
case("uncaught name, did you mean", "lenght = 1\nprint(lenth)\n")
case("uncaught BaseException", "class B(BaseException): pass\nraise B('b')")
case("uncaught GeneratorExit", "raise GeneratorExit")
case("uncaught StopIteration", "next(iter([]))")
case("KeyboardInterrupt", "print('a')\nraise KeyboardInterrupt")
case("KeyboardInterrupt with text", "raise KeyboardInterrupt('text')")
case("KeyboardInterrupt subclass", "class K(KeyboardInterrupt): pass\nraise K")
code("KeyboardInterrupt in -c", "raise KeyboardInterrupt")
case("KeyboardInterrupt and atexit", "import atexit\natexit.register(print, 'bye')\nraise KeyboardInterrupt")
case("uncaught SyntaxError in import", "import bad", files={"bad.py": "x = = 1\n"})
case("uncaught in import", "import bad", files={"bad.py": "def f():\n    raise OSError(2, 'x', 'f')\nf()\n"})
case("uncaught in eval", "eval('1 +')")
case("uncaught in exec", "exec(compile('\\n\\n1/0', 'made-up', 'exec'))")
case("uncaught recursion", "def f(n):\n    return f(n + 1)\nf(0)\n")
case("uncaught mutual recursion", "def f(n):\n    return g(n + 1)\ndef g(n):\n    return f(n + 1)\nf(0)\n")
case("uncaught MemoryError", "x = bytearray(1 << 62)")
case("uncaught after output", "print('partial', end='')\n1/0")
case("uncaught in generator", "def g():\n    yield 1\n    1/0\nlist(g())")
case("uncaught in comprehension", "[1/x for x in (1, 0)]")
case("uncaught in class body", "class C:\n    x = 1/0\n")
case("uncaught in lambda", "(lambda: 1/0)()")
case("uncaught in __del__", "class C:\n    def __del__(self): 1/0\nC()\nprint('on')")
case("uncaught multi-line", "x = [\n    1,\n    1/0,\n]\n")
case(
    "uncaught deep, other file",
    "import sib\nsib.f()",
    files={"sib.py": "def f():\n    g()\ndef g():\n    raise LookupError('deep')\n"},
)
case("long message", "raise ValueError('x' * 100000)")
case("non-ascii message", "raise ValueError('é€😀\\udcff')")
case(
    "own excepthook",
    "import sys\ndef hook(*a): print('hook', a[0], a[1], a[2].tb_lineno, sys.exc_info())\nsys.excepthook = hook\n1/0",
)
case("excepthook that fails", "import sys\ndef hook(*a): {}['x']\nsys.excepthook = hook\n1/0")
case("excepthook that exits", "import sys\nsys.excepthook = lambda *a: sys.exit(5)\n1/0")
case("excepthook None", "import sys\nsys.excepthook = None\n1/0")
case("excepthook deleted", "import sys\ndel sys.excepthook\n1/0")
case(
    "excepthook and frames", "import sys, traceback\ndef hook(*a): traceback.print_stack()\nsys.excepthook = hook\n1/0"
)
case(
    "excepthook looks at last",
    "import sys\ndef hook(*a): print(sys.last_type, sys.last_value)\nsys.excepthook = hook\nprint(hasattr(sys, 'last_value'))\n1/0",
)
case("stderr None", "import sys\nsys.stderr = None\n1/0")
case(
    "stderr replaced",
    "import sys, io\nclass W(io.StringIO):\n    def write(self, s): return sys.stdout.write('[' + s + ']')\nsys.stderr = W()\n1/0",
)
case(
    "traceback printed",
    "import traceback\ntry:\n    1/0\nexcept Exception:\n    traceback.print_exc()\n    print(traceback.format_exc())",
)
case("tracebacklimit", "import sys\nsys.tracebacklimit = 1\ndef f(): g()\ndef g(): 1/0\nf()")

# -- standard streams --------------------------------------------------------------------------------------------------

STREAMS = """
    import sys
    for s in (sys.stdin, sys.stdout, sys.stderr):
        print(s, s.name, s.mode, s.encoding, s.errors, s.newlines, s.line_buffering, s.write_through, s.buffer,
              s.buffer.raw, s.fileno(), s.isatty(), s.closed, s.seekable() if s is sys.stdin else "")
    print(sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)
"""
case("the streams", STREAMS)
case("the streams, stdin a file", STREAMS, stdin=b"x")
case("input()", "a = input('name? ')\nb = input()\nprint(a, b)\ninput()", stdin=b"one\ntwo")
case("input() at the end", "input('> ')")
case("read all of stdin", "import sys\nprint(sys.stdin.read())", stdin=b"a\r\nb\rc\n")
case("iterate stdin", "import sys\nfor line in sys.stdin: print(repr(line))", stdin=b"1\n2\n\n3")
case("binary stdin", "import sys\nprint(sys.stdin.buffer.read())", stdin=bytes(range(256)))
case("undecodable stdin", "import sys\nprint(ascii(sys.stdin.read()))", stdin=b"a\xffb")
case("map of stdin", "n = int(input())\nprint(sum(map(int, input().split())), n)", stdin=b"3\n1 2 3\n")
case("open(0)", "print(open(0).read())", stdin=b"zero")
case("stdin closed", "import sys\nsys.stdin.close()\nprint(sys.stdin.closed)\ninput()")
case("stdout closed", "import sys\nprint('a')\nsys.stdout.close()\nprint('b')")
case("stdout closed quietly", "import sys\nprint('a')\nsys.stdout.close()")
case("descriptor 1 closed", "import os\nprint('lost')\nos.close(1)")
case("descriptor 2 closed", "import os, sys\nsys.stderr.write('x')\nos.close(2)\n1/0")
case("stdout None", "import sys\nprint('a')\nsys.stdout = None\nprint('b')")
case("stdout deleted", "import sys\nprint('a')\ndel sys.stdout\nprint('b')")
case("stdout replaced", "import sys, io\nprint('first')\nsys.stdout = io.StringIO()\nprint('second')")
case("stdout replaced by a file", "import sys\nsys.stdout = open('out.txt', 'w')\nprint('kept')")
case(
    "stdout rewrapped",
    "import sys, io\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='latin-1')\nprint('é')",
)
case("stdout detached", "import sys\nb = sys.stdout.detach()\nb.write(b'raw')\n")
case("stdout reconfigured", "import sys\nsys.stdout.reconfigure(encoding='utf-16')\nprint('x')")
case(
    "stdout flush fails",
    "import sys\nclass W:\n    closed = False\n    def write(self, s): pass\n    def flush(self): raise OSError('no')\nsys.stdout = W()\nprint(1)",
)
case(
    "stderr flush fails",
    "import sys\nclass W:\n    def write(self, s): pass\n    def flush(self): raise OSError('no')\nsys.stderr = W()\n",
)
case("full device", "import os\nos.dup2(os.open('/dev/full', os.O_WRONLY), 1)\nprint('x')")
case("full device, exit 3", "import os, sys\nos.dup2(os.open('/dev/full', os.O_WRONLY), 1)\nprint('x')\nsys.exit(3)")
case("broken pipe", "import os\nr, w = os.pipe()\nos.dup2(w, 1)\nos.close(r)\nos.close(w)\nprint('x')")
case(
    "broken pipe at once",
    "import os\nr, w = os.pipe()\nos.dup2(w, 1)\nos.close(r)\nos.close(w)\nprint('x', flush=True)",
)
case(
    "broken pipe, much",
    "import os\nr, w = os.pipe()\nos.dup2(w, 1)\nos.close(r)\nos.close(w)\nfor i in range(10**5): print(i)",
)
case("no newline at exit", "print('a', end='')")
case(
    "interleaved",
    "import sys\nprint('o1')\nprint('e1', file=sys.stderr)\nprint('o2', flush=True)\nsys.stderr.write('e2')",
)
case("binary stdout", "import sys\nsys.stdout.buffer.write(bytes(range(256)))\nprint('text')")
case("os.write and print", "import os\nprint('buffered')\nos.write(1, b'direct\\n')")
case("second writer on 1", "f = open(1, 'w', closefd=False)\nf.write('unflushed')")
case("big output", "for i in range(200000): print(i)")
case("one big write", "print('x' * 5_000_000)")
case("surrogates to stdout", "print('\\udcff')")
case("surrogates to stderr", "import sys\nprint('\\udcff é', file=sys.stderr)")
case("C's stdout", "import ctypes\nprint('python')\nctypes.CDLL(None).printf(b'c %d\\n', ctypes.c_int(5))")
case("file not closed", "f = open('out.txt', 'w')\nf.write('text that must arrive')\nprint('done')")
case("file not closed, functions", "f = open('out.txt', 'w')\ndef w(s): f.write(s)\nw('text that must arrive')\n")
case(
    "file not closed in a cycle",
    "class A: pass\na = A()\na.me = a\na.f = open('out.bin', 'wb')\na.f.write(b'123')\ndel a",
)
case(
    "file not closed after error",
    "def main():\n    f = open('out.txt', 'w')\n    f.write('kept')\n    raise ValueError\nmain()",
)
case(
    "file not closed in a module",
    "import sib",
    files={"sib.py": "f = open('out.txt', 'w')\nf.write('kept')\ndef g(): return f\n"},
)
case("gzip not closed", "import gzip\nf = gzip.GzipFile('o.gz', 'wb', mtime=0)\nf.write(b'x')")
case("csv not closed", "import csv\nf = open('o.csv', 'w')\nw = csv.writer(f)\nw.writerow([1, 2])")

# -- the end -----------------------------------------------------------------------------------------------------------

case("atexit order", "import atexit\nfor i in range(3): atexit.register(print, 'bye', i)\nprint('end')")
case(
    "atexit fails",
    "import atexit\n@atexit.register\ndef a(): print('a')\n@atexit.register\ndef b(): 1/0\n@atexit.register\ndef c(): print('c')",
)
case("atexit exits", "import atexit, sys\natexit.register(print, 'still')\natexit.register(sys.exit, 5)\n")
case("atexit raises KeyboardInterrupt", "import atexit\n@atexit.register\ndef a(): raise KeyboardInterrupt\n")
case("atexit registers", "import atexit\natexit.register(lambda: atexit.register(print, 'late'))")
case("atexit after error", "import atexit\natexit.register(print, 'bye')\n1/0")
case("atexit after exit", "import atexit, sys\natexit.register(print, 'bye')\nsys.exit(3)")
case("atexit os._exit", "import atexit, os\natexit.register(os._exit, 9)\nprint('x')")
case("atexit and __file__", "import atexit\natexit.register(lambda: print(sorted(globals())))")
case(
    "atexit and __file__ after exit",
    "import atexit\natexit.register(lambda: print(sorted(globals())))\nraise SystemExit",
)
case("atexit and __file__ after error", "import atexit\natexit.register(lambda: print(sorted(globals())))\n1/0")
case("atexit prints stack", "import atexit, traceback\natexit.register(traceback.print_stack)")
case(
    "atexit unregistered",
    "import atexit\natexit.register(print, 1)\natexit.unregister(print)\nprint(atexit._ncallbacks())",
)
case(
    "unraisablehook in atexit",
    "import atexit, sys\nsys.unraisablehook = lambda u: print(u.exc_type, u.err_msg, u.exc_traceback.tb_lineno)\n@atexit.register\ndef b(): 1/0",
)
case(
    "__del__ at exit",
    "class C:\n    def __init__(self, n): self.n = n\n    def __del__(self): print('del', self.n)\na = C(1)\nb = C(2)\nprint('end')",
)
case("__del__ at exit, no methods alive", "class C:\n    def __del__(self): print('del')\nc = C()\nC = None")
case(
    "__del__ in a cycle at exit", "class C:\n    def __del__(self): print('del')\na = C()\na.x = a\ndel a\nprint('end')"
)
case(
    "__del__ in a list at exit",
    "class C:\n    def __init__(self, n): self.n = n\n    def __del__(self): print('del', self.n)\nL = [C(i) for i in range(5)]",
)
case("__del__ and error", "class C:\n    def __del__(self): print('del')\ndef f():\n    c = C()\n    1/0\nf()")
case("__del__ and globals", "x = 5\nclass C:\n    def __del__(self): print('x is', x)\nc = C()")
case(
    "__del__ of an import",
    "import sib",
    files={"sib.py": "class C:\n    def __del__(self): print('sib del')\nc = C()\n"},
)
case(
    "__del__ with signal handler",
    "import signal\nclass C:\n    def __del__(self): print('del')\nc = C()\nsignal.signal(signal.SIGTERM, lambda *a: c)",
)
case("generator finally at exit", "def g():\n    try: yield 1\n    finally: print('finally')\nx = g()\nnext(x)")
case(
    "with in a generator at exit",
    "import contextlib\n@contextlib.contextmanager\ndef m():\n    print('in')\n    try: yield\n    finally: print('out')\nc = m()\nc.__enter__()",
)
case(
    "weakref.finalize", "import weakref\nclass C: pass\nc = C()\nweakref.finalize(c, print, 'finalized')\nprint('end')"
)
case(
    "weakref callback",
    "import weakref\nclass C: pass\nc = C()\nr = weakref.ref(c, lambda r: print('gone'))\ndel c\nprint('end')",
)
case(
    "logging at exit",
    "import logging\nlogging.basicConfig(level=logging.INFO)\nlogging.info('one')\nlogging.getLogger('x').warning('two')",
)
case(
    "logging to a file",
    "import logging\nlogging.basicConfig(filename='log.txt', format='%(message)s')\nlogging.error('kept')",
)
case(
    "memory handler at exit",
    "import logging, logging.handlers, sys\nh = logging.handlers.MemoryHandler(10, target=logging.StreamHandler(sys.stdout))\nlogging.getLogger().addHandler(h)\nlogging.warning('kept')",
)
case("tempfile at exit", "import tempfile, os\nd = tempfile.TemporaryDirectory(dir='.')\nprint(os.path.isdir(d.name))")
case(
    "thread at exit",
    "import threading, time\ndef f():\n    time.sleep(.05)\n    print('thread')\nthreading.Thread(target=f).start()\nprint('main')",
)
case(
    "threads at exit after error",
    "import threading, time\nthreading.Thread(target=lambda: (time.sleep(.05), print('thread'))).start()\n1/0",
)
case(
    "daemon thread at exit",
    "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint('main')",
)
case(
    "daemon thread in a loop",
    "import threading\ndef f():\n    while True: pass\nthreading.Thread(target=f, daemon=True).start()\nprint('main')",
)
case(
    "error in a thread",
    "import threading\nt = threading.Thread(target=lambda: 1/0, name='T')\nt.start()\nt.join()\nprint('on')",
)
case(
    "exit in a thread",
    "import threading, sys\nt = threading.Thread(target=sys.exit, args=(5,))\nt.start()\nt.join()\nprint('on')",
)
case(
    "os._exit in a thread",
    "import threading, os, time\nthreading.Thread(target=os._exit, args=(5,)).start()\ntime.sleep(5)",
)
case(
    "low-level thread",
    "import _thread, time\nl = _thread.allocate_lock()\nl.acquire()\n_thread.start_new_thread(lambda: (print('t'), l.release()), ())\nl.acquire()\nprint('m')",
)
case("low-level thread fails", "import _thread, time\n_thread.start_new_thread(lambda: 1/0, ())\ntime.sleep(.1)")
case(
    "main thread",
    "import threading, os\nm = threading.main_thread()\nprint(m.name, m is threading.current_thread(), m.ident == threading.get_ident(), threading.get_native_id() == os.getpid(), m.native_id == os.getpid(), threading.active_count())",
)
case(
    "thread pool",
    "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as p: print(sum(p.map(len, ['a', 'bb'] * 50)))",
)
case(
    "thread pool left open",
    "from concurrent.futures import ThreadPoolExecutor\nimport time\np = ThreadPoolExecutor(2)\np.submit(lambda: (time.sleep(.05), print('late')))\nprint('main')",
)
case("timer at exit", "import threading\nthreading.Timer(.02, print, ('tick',)).start()\nprint('main')")
case(
    "interrupt while joining",
    "import threading, signal, time, os\nthreading.Thread(target=time.sleep, args=(.3,)).start()\nsignal.setitimer(signal.ITIMER_REAL, .1)\nsignal.signal(signal.SIGALRM, signal.default_int_handler)",
)
case(
    "trace left on",
    "import sys\nn = []\nsys.settrace(lambda f, e, a: n.append(f.f_code.co_name))\ndef g(): pass\ng()\nsys.settrace(None)\nprint(n)",
)
case(
    "trace at exit",
    "import sys\ndef t(f, e, a):\n    if f.f_code.co_filename.endswith('main.py'): print(e, f.f_code.co_name)\n    return t\ndef g():\n    return 1\nsys.settrace(t)\ng()",
)
case(
    "trace of module end",
    "import sys\ndef t(f, e, a):\n    if f.f_code.co_filename.endswith('main.py'): print(e, f.f_lineno)\n    return t\nsys._getframe().f_trace = t\nsys.settrace(t)\nx = 1\ny = 2\n",
)
case(
    "profile",
    "import sys\nL = []\nsys.setprofile(lambda f, e, a: L.append((e, f.f_code.co_name)))\nlen([])\nsys.setprofile(None)\nprint(L)",
)
case(
    "cProfile",
    "import cProfile, pstats\np = cProfile.Profile()\np.runcall(sum, [1, 2])\nprint(sorted(k[2] for k in pstats.Stats(p).stats))",
)

# -- frames, recursion, introspection ----------------------------------------------------------------------------------

DEPTH = "def d(n):\n    try: return d(n + 1)\n    except RecursionError: return n\n"
case("recursion depth", DEPTH + "print(d(0))")
code("recursion depth in -c", DEPTH + "print(d(0))")
case(
    "recursion depth of a class",
    "class A:\n    def __getattr__(self, n): return getattr(self, n + 'x')\ntry: A().q\nexcept RecursionError as e: print(e)",
)
case("recursion of repr", "L = []\nfor i in range(100000): L = [L]\ntry: repr(L)\nexcept RecursionError as e: print(e)")
case(
    "recursion limit set",
    "import sys\nprint(sys.getrecursionlimit())\nsys.setrecursionlimit(5000)\n" + DEPTH + "print(d(0))",
)
case(
    "recursion limit low",
    "import sys\nfor n in range(1, 12):\n    try: sys.setrecursionlimit(n); break\n    except RecursionError as e: print(e)\nsys.setrecursionlimit(1000)\nprint(n)",
)
case(
    "recursion limit 30",
    "import sys\nsys.setrecursionlimit(30)\n" + DEPTH + "x = d(0)\nsys.setrecursionlimit(1000)\nprint(x)",
)
case(
    "recursion in a thread",
    "import threading\n" + DEPTH + "t = threading.Thread(target=lambda: print(d(0)))\nt.start()\nt.join()",
)
case(
    "deep recursion raised",
    "import sys, threading\nsys.setrecursionlimit(100000)\ndef s(n): return 0 if n == 0 else 1 + s(n - 1)\nprint(s(20000))",
)
case(
    "the stack",
    "import sys, inspect, traceback\nprint(sys._getframe().f_back, len(inspect.stack()))\ntraceback.print_stack()\ntry: sys._getframe(1)\nexcept ValueError as e: print(e)\ndef f(): return [x.function for x in inspect.stack()]\nprint(f())\nprint(traceback.extract_stack())",
)
case(
    "warn at the top",
    "import warnings\nwarnings.warn('one')\nwarnings.warn('two', stacklevel=2)\nwarnings.warn('three', stacklevel=9)\ndef f(): warnings.warn('four', stacklevel=2)\nf()\nwarnings.warn('five', DeprecationWarning)\nf()",
)
case("warn once", "import warnings\nfor i in range(3): warnings.warn('again')\nprint(list(__warningregistry__))")
case("warning filters", "import warnings, sys\nprint(warnings.filters, sys.warnoptions)")
case(
    "DeprecationWarning in main",
    "import re\nimport warnings\nwarnings.warn('old', DeprecationWarning)\nwarnings.warn('pending', PendingDeprecationWarning)\nwarnings.warn('res', ResourceWarning)",
)
case("simplefilter error", "import warnings\nwarnings.simplefilter('error')\nwarnings.warn('boom')")
case(
    "frame of the module",
    "import sys\nf = sys._getframe()\nprint(f.f_code.co_name, f.f_code.co_filename, f.f_lineno, f.f_locals is f.f_globals, f.f_builtins is __builtins__.__dict__, f.f_trace)",
)
case("exc_info", "import sys\nprint(sys.exc_info())\ntry: raise\nexcept RuntimeError as e: print(e, e.__context__)")
case(
    "context of an error",
    "try: 1/0\nexcept Exception as e: print(e.__context__, e.__cause__, e.__traceback__.tb_next, e.__traceback__.tb_frame.f_back)",
)
case(
    "inspect.getsource",
    "import inspect\ndef f():\n    return 1  # here\nclass K:\n    pass\nprint(inspect.getsource(f), inspect.getsource(K), inspect.getfile(f), inspect.getmodule(f))",
)
code(
    "inspect.getsource in -c",
    "import inspect\ndef f(): pass\ntry: print(inspect.getsource(f))\nexcept OSError as e: print(e)",
)
case(
    "namedtuple's module",
    "from collections import namedtuple\nP = namedtuple('P', 'x')\nprint(P, P.__module__)\nimport enum\nE = enum.Enum('E', 'a b')\nprint(E.__module__, E.a)",
)
case(
    "dataclass",
    "from dataclasses import dataclass, field\n@dataclass(order=True)\nclass P:\n    x: int\n    y: list = field(default_factory=list)\nprint(P(1), P(1) < P(2), P.__module__)",
)
case(
    "pickle of main",
    "import pickle\nclass C:\n    def __init__(self): self.x = 1\nd = pickle.dumps(C())\nprint(d, pickle.loads(d).x)\ndef f(): pass\nprint(pickle.loads(pickle.dumps(f)) is f)",
)
case(
    "typing hints", "import typing\nclass C:\n    a: 'C'\n    b: typing.Optional[int]\nprint(typing.get_type_hints(C))"
)
case(
    "runpy",
    "import runpy\nprint(sorted(runpy.run_path('other.py')))",
    files={"other.py": "import sys; print(__name__, sys.argv)"},
)
case(
    "runpy module as main",
    "import runpy\nrunpy.run_module('other', run_name='__main__', alter_sys=True)",
    files={"other.py": "import sys; print(__name__, sys.argv, __file__)"},
)
case(
    "unittest.main",
    "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\nif __name__ == '__main__':\n    r = unittest.main(exit=False, argv=['x']).result\n    print(r)",
)
case("doctest.testmod", "'''\n>>> 1 + 1\n3\n'''\nimport doctest\nprint(doctest.testmod())")
case("pdb from stdin", "import pdb\nx = 1\npdb.set_trace()\nx = 2\nprint(x)", stdin=b"p x\nw\nn\nc\n")
case("breakpoint()", "x = 5\nbreakpoint()\nprint('end')", stdin=b"w\np x\nq\n")
case("code.interact", "import code\ncode.interact(local={})", stdin=b"1+1\n")
case(
    "argparse usage",
    "import argparse\np = argparse.ArgumentParser()\np.add_argument('n', type=int)\nprint(p.parse_args())",
    command=("python3", "main.py", "x"),
)
case(
    "argparse help",
    "import argparse\np = argparse.ArgumentParser()\np.add_argument('n', type=int)\nprint(p.parse_args())",
    command=("python3", "main.py", "-h"),
)
case("ast of itself", "import ast\nprint(ast.dump(ast.parse(open(__file__).read())))")
case("symtable, dis", "import dis\ndef f(x): return x + 1\ndis.dis(f)")
case("globals are clean", "import builtins\nprint(sorted(vars(builtins))[-60:])\nimport sys\nprint(sorted(vars(sys)))")
case("loaded modules", "import sys\nprint(sorted(m for m in sys.modules))")
case(
    "attributes of packages",
    "import importlib, os, collections\nprint(sorted(vars(importlib)), sorted(vars(collections)))\nimport encodings\nprint(sorted(vars(encodings)))",
)
case(
    "import machinery",
    "import sys\nprint(sys.meta_path, sys.path_hooks[1].__name__, sorted(sys.path_importer_cache), sys.dont_write_bytecode, sys.pycache_prefix)",
)
case(
    "hooks",
    "import sys\nprint(sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, sys.unraisablehook is sys.__unraisablehook__, sys.gettrace(), sys.getprofile(), sys.getswitchinterval(), sys.get_int_max_str_digits())",
)
case(
    "gc",
    "import gc\nprint(gc.isenabled(), gc.get_threshold(), gc.callbacks, gc.garbage, gc.get_debug())\nclass C:\n    def __del__(self): print('del')\na = C()\na.a = a\ndel a\nprint(gc.collect() > 0)",
)
case(
    "gc disabled",
    "import gc\ngc.disable()\nclass C:\n    def __del__(self): print('del')\na = C()\na.a = a\ndel a\nprint('end')",
)
case("decimal", "import decimal\nprint(decimal.getcontext())\nprint(decimal.Decimal(1) / 3)")
case(
    "contextvars",
    "import contextvars\nprint(list(contextvars.copy_context()))\nv = contextvars.ContextVar('v', default=3)\nv.set(4)\nprint(v.get())",
)
case("faulthandler", "import faulthandler\nprint(faulthandler.is_enabled())")
case("tracemalloc", "import tracemalloc\nprint(tracemalloc.is_tracing())")
case("hash of strings", "print(hash('a'), hash(b'b'), {'x', 'y', 'z'}, hash((1, 'q')))")
case("big int text", "print(len(str(10**4000)))\ntry: str(10**5000)\nexcept ValueError as e: print(e)")
case("float and complex", "import math\nprint(math.pi, 1e308 * 10, complex(1, -0.0), math.nan, 0.1 + 0.2)")

# -- signals -----------------------------------------------------------------------------------------------------------

case(
    "handlers",
    "import signal\nprint([(n, signal.getsignal(n)) for n in sorted(signal.valid_signals()) if signal.getsignal(n) != signal.SIG_DFL and n != 2], signal.getsignal(2) is signal.default_int_handler, signal.pthread_sigmask(0, []), signal.getitimer(0))",
)
case(
    "alarm",
    "import signal, time\ndef h(*a): print('alarm', a[0])\nsignal.signal(signal.SIGALRM, h)\nsignal.setitimer(signal.ITIMER_REAL, .02)\ntime.sleep(.1)\nprint('end')",
)
case(
    "alarm that raises",
    "import signal, time\ndef h(n, f): raise TimeoutError('too slow')\nsignal.signal(signal.SIGALRM, h)\nsignal.setitimer(signal.ITIMER_REAL, .02)\nwhile True: pass",
)
case(
    "own SIGTERM",
    "import signal, os, sys\nsignal.signal(signal.SIGTERM, lambda *a: sys.exit(143))\nos.kill(os.getpid(), 15)\nimport time\ntime.sleep(1)",
)
case(
    "SIGINT caught",
    "import os, signal, time\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(1)\nexcept KeyboardInterrupt: print('caught')",
)
case(
    "SIGINT ignored",
    "import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nos.kill(os.getpid(), signal.SIGINT)\nprint('alive')",
)
case("wakeup fd", "import signal\nprint(signal.set_wakeup_fd(-1))")
case(
    "SIGCHLD",
    "import signal, subprocess, time\nsignal.signal(signal.SIGCHLD, lambda *a: print('child'))\nsubprocess.run(['true'])\nprint('end')",
)
case(
    "interrupted read",
    "import os, signal\nsignal.signal(signal.SIGALRM, lambda *a: os.write(w, b'x'))\nr, w = os.pipe()\nsignal.setitimer(signal.ITIMER_REAL, .02)\nprint(os.read(r, 1))",
)
case(
    "cpu limit",
    "import resource, signal\nprint(signal.getsignal(signal.SIGXCPU))\nresource.setrlimit(resource.RLIMIT_CPU, (1, 2))\nprint(resource.getrlimit(resource.RLIMIT_CPU))",
)
case(
    "dispositions in the kernel",
    "print([l for l in open('/proc/self/status') if l.startswith(('SigBlk', 'SigIgn', 'SigCgt', 'SigPnd'))])",
)

# -- processes ---------------------------------------------------------------------------------------------------------

case(
    "subprocess",
    "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'import sys; print(sys.argv, sys.path[0])', 'x'], capture_output=True, text=True))",
)
case(
    "subprocess inherits",
    "import subprocess, sys\nprint('before', flush=True)\nsubprocess.run(['echo', 'child'])\nsubprocess.run('exit 3', shell=True, check=True)",
)
case(
    "subprocess stdin",
    "import subprocess\nprint(subprocess.run(['cat'], input=b'abc', capture_output=True).stdout)\nprint(subprocess.check_output(['head', '-c', '2']))",
    stdin=b"xyz",
)
case(
    "subprocess env", "import subprocess, os\nos.environ['NEW'] = '1'\nprint(subprocess.check_output(['env']).decode())"
)
case(
    "children's signals",
    "import subprocess\nprint(subprocess.check_output(['grep', 'Sig[BCI]', '/proc/self/status']).decode())",
)
case("children's descriptors", "import subprocess\nprint(subprocess.check_output(['ls', '/proc/self/fd']).decode())")
case(
    "fork",
    "import os, sys\nprint('a', flush=True)\np = os.fork()\nif p == 0:\n    print('child')\n    sys.exit(3)\nprint(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))",
)
case("fork, both end", "import os\np = os.fork()\nif p:\n    os.waitpid(p, 0)\nprint('parent' if p else 'child')")
case("fork with unflushed text", "import os\nprint('twice')\np = os.fork()\nif p:\n    os.waitpid(p, 0)")
case("fork and error", "import os\np = os.fork()\nif p == 0: 1/0\nprint(os.waitpid(p, 0)[1])")
case("fork and atexit", "import os, atexit\natexit.register(print, 'bye')\np = os.fork()\nif p: os.waitpid(p, 0)")
case("exec", "import os\nprint('gone', flush=True)\nos.execvp('echo', ['echo', 'replaced'])")
case(
    "exec of python",
    "import os, sys\nos.execv(sys.executable, ['python3', '-c', 'import sys; print(sys.argv, sys.executable)'])",
)
case(
    "os.system",
    "import os\nprint(os.system('echo hi; exit 4'), flush=True)\nprint(os.popen('pwd').read() == os.getcwd() + '\\n')",
)
case(
    "multiprocessing fork",
    "import multiprocessing as m\ndef f(x): return x * x\nif __name__ == '__main__':\n    with m.get_context('fork').Pool(2) as p: print(p.map(f, range(5)))",
)
case(
    "multiprocessing spawn",
    "import multiprocessing as m\nprint(__name__)\ndef f(q): q.put(__name__)\nif __name__ == '__main__':\n    c = m.get_context('spawn')\n    q = c.SimpleQueue()\n    p = c.Process(target=f, args=(q,))\n    p.start()\n    print(q.get())\n    p.join()\n    print(p.exitcode)",
)
case(
    "process exit code",
    "import multiprocessing as m, sys\nif __name__ == '__main__':\n    p = m.get_context('fork').Process(target=sys.exit, args=(4,))\n    p.start()\n    p.join()\n    print(p.exitcode)",
)
case(
    "process pool",
    "from concurrent.futures import ProcessPoolExecutor\nimport multiprocessing as m\nif __name__ == '__main__':\n    with ProcessPoolExecutor(2, m.get_context('fork')) as p: print(list(p.map(abs, [-1, -2])))",
)
case(
    "process facts",
    "import os\nprint(os.getsid(0) == os.getpid(), os.getpgrp() == os.getpid(), os.umask(0), os.getpriority(0, 0), os.nice(0), os.getgroups(), os.getuid(), len(os.sched_getaffinity(0)))",
)
case(
    "descriptors",
    "import os\nprint(sorted(os.listdir('/proc/self/fd')), os.open('/dev/null', 0), [os.get_inheritable(i) for i in range(3)])",
)
case(
    "limits",
    "import resource\nprint([resource.getrlimit(getattr(resource, n)) for n in sorted(dir(resource)) if n.startswith('RLIMIT')])",
)
case(
    "usage starts low",
    "import resource\nu = resource.getrusage(resource.RUSAGE_SELF)\nprint(u.ru_utime + u.ru_stime < 2, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)",
)
case(
    "clocks",
    "import time\na = time.process_time()\nprint(a < 2, time.perf_counter() > 0, time.monotonic() > 0, time.thread_time() < 2, abs(time.time() - __import__('datetime').datetime.now().timestamp()) < 1)",
)
case("timezone", "import time\nprint(time.tzname, time.timezone, time.daylight, time.localtime(0))")
case(
    "memory limit",
    "import resource\nresource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))\ntry: x = bytearray(1 << 30)\nexcept MemoryError: print('MemoryError')\nx = [0] * 10**9",
)

# -- environment, locale, directories ----------------------------------------------------------------------------------

ENVIRONMENT = (
    "import os\nprint(list(os.environ.items()), os.environb[b'PATH'], os.getenv('EXTRA'))\nos.system('echo $EXTRA')"
)
case("environment", ENVIRONMENT)
case("environment with more", ENVIRONMENT, env={"EXTRA": "é \udcff x", "A": ""})
case("environment with less", ENVIRONMENT, env={"LANG": "-", "EXTRA": "1"}, warm=False)
case("PYTHON variable", ARGV, env={"PYTHONPATH": "/tmp"}, warm=False)
case("hash seed", "print(hash('a'))", env={"PYTHONHASHSEED": "7"}, warm=False)
case("PYTHONUNBUFFERED", STREAMS, env={"PYTHONUNBUFFERED": "1"}, warm=False)
case("PYTHONIOENCODING", STREAMS, env={"PYTHONIOENCODING": "latin-1:replace"}, warm=False)
case("other locale", STREAMS, env={"LC_ALL": "C"}, warm=False)
case("other home", "import os\nprint(os.path.expanduser('~'))", env={"HOME": "/tmp"}, warm=False)
case("other time zone", "import time\nprint(time.tzname)", env={"TZ": "Asia/Tokyo"}, warm=False)
case("another PATH", ARGV, env={"PATH": "{bin}:/usr/bin"})
case("a PATH without python", ARGV, command=("{python}", "main.py"), env={"PATH": "/nowhere"})
case("python of one's own", "", command=("python3", "main.py"), env={"PATH": "{cwd}/bin:/usr/bin:/bin"},
     files={"bin/python3": "#!/bin/sh\necho mine\n"}, warm=False)  # fmt: skip
case(
    "working directory",
    "import os\nprint(os.getcwd(), os.listdir(), os.path.abspath('x'))\nos.chdir('/')\nprint(os.getcwd(), __file__)",
)
case("relative open", "print(open('data.txt').read())\nopen('out.txt', 'w').write('x')", files={"data.txt": "content"})
case(
    "locale",
    "import locale, sys\nprint(locale.getlocale(), locale.setlocale(locale.LC_ALL), locale.getpreferredencoding(), sys.getfilesystemencoding(), sys.getfilesystemencodeerrors(), locale.localeconv()['decimal_point'])\nlocale.setlocale(locale.LC_ALL, '')\nprint(locale.setlocale(locale.LC_ALL))",
)
case(
    "encoding of open()",
    "print(open('x', 'w').encoding)\nopen('é', 'w').close()\nimport os\nprint(sorted(os.listdir()))",
)
case(
    "terminal size",
    "import shutil, os\nprint(shutil.get_terminal_size())\ntry: os.get_terminal_size()\nexcept OSError as e: print(e)",
)
case(
    "user and site",
    "import site, sys, sysconfig\nprint(site.getsitepackages(), site.ENABLE_USER_SITE, sys.prefix, sys.base_prefix, sys.exec_prefix, sysconfig.get_path('purelib'), sys.platlibdir, sys._base_executable)",
)

# -- imports -----------------------------------------------------------------------------------------------------------

case(
    "sibling import",
    "import sib, sys\nprint(sib.X, sib.__file__, sib.__name__, sib.__spec__.origin, sib.__cached__)\nimport os\nprint(sorted(os.listdir('.')))",
    files={"sib.py": "X = 1\nprint('loading')"},
)
case("sibling of -c", "", command=("python3", "-c", "import sib; print(sib.__file__)"), files={"sib.py": ""})
case(
    "sibling package",
    "from pkg.a import b\nprint(b)",
    files={"pkg/__init__.py": "", "pkg/a.py": "from . import c\nb = c.d", "pkg/c.py": "d = 4"},
)
case("namespace package", "import ns.m\nprint(ns, ns.m.__package__)", files={"ns/m.py": ""})
case("sibling shadows the library", "import colorsys\nprint(colorsys.__file__)", files={"colorsys.py": "pass"})
case("sibling shadows json", "import json\nprint(json.__file__)", files={"json.py": "pass"})
case("sibling shadows a loaded module", "import os\nprint(os.__file__)", files={"os.py": "pass"})
case("sibling called ctypes", "import ctypes\nprint(ctypes.X)", files={"ctypes.py": "X = 1"})
case("missing import", "import not_there")
case("missing name", "from os import not_there")
case("circular import", "import a", files={"a.py": "import b\nX = 1", "b.py": "from a import X"})
case(
    "importlib",
    "import importlib\nm = importlib.import_module('sib')\nimportlib.reload(m)\ntry: importlib.util\nexcept AttributeError as e: print(e)",
    files={"sib.py": "print('load')"},
)
case("module written at run time", "open('made.py', 'w').write('Y = 3')\nimport made\nprint(made.Y)")
case(
    "import of everything",
    "import socket, struct, ctypes, signal, select, errno, fcntl, mmap, array, json, re, threading, asyncio, typing, inspect, logging, unittest, decimal, fractions, heapq, bisect, itertools, functools, collections, string, random, statistics, hashlib, zlib, sqlite3, csv, datetime, calendar\nprint(socket.AF_INET, signal.SIGTERM, struct.pack('>I', 7), ctypes.sizeof(ctypes.c_long))",
)
case(
    "ctypes",
    "import ctypes\nl = ctypes.CDLL(None)\ncmp = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))\na = (ctypes.c_int * 4)(3, 1, 2, 0)\nl.qsort(a, 4, 4, cmp(lambda x, y: x[0] - y[0]))\nprint(list(a))\nclass S(ctypes.Structure): _fields_ = [('x', ctypes.c_int)]\nprint(S(5).x, ctypes.string_at(b'abc'), ctypes.pythonapi.Py_IsInitialized())\nprint(ctypes.py_object(5), ctypes.cast(a, ctypes.c_void_p).value != 0)",
)
case(
    "socket",
    "import socket\na, b = socket.socketpair()\na.sendall(b'x')\nprint(b.recv(1), a.family, socket.gethostname() != '', repr(socket.SOCK_STREAM))\ntry: socket.create_connection(('127.0.0.1', 1), 1)\nexcept OSError as e: print(type(e), e)",
)
case(
    "select",
    "import select, selectors, os\nr, w = os.pipe()\ns = selectors.DefaultSelector()\ns.register(r, selectors.EVENT_READ)\nos.write(w, b'x')\nprint(len(s.select(1)), select.select([r], [], [], 0)[0] == [r])",
)
case(
    "signal enumeration",
    "import signal\nprint(repr(signal.SIGINT), repr(signal.getsignal(signal.SIGPIPE)), signal.Signals(15).name, repr(signal.Handlers.SIG_IGN))",
)

# -- libraries ---------------------------------------------------------------------------------------------------------

case(
    "asyncio",
    "import asyncio\nasync def f(n):\n    await asyncio.sleep(.01)\n    return n\nasync def main(): print(await asyncio.gather(*map(f, range(5))))\nasyncio.run(main())",
)
case("asyncio uncaught", "import asyncio\nasync def main():\n    raise ValueError('a')\nasyncio.run(main())")
case(
    "asyncio subprocess",
    "import asyncio\nasync def main():\n    p = await asyncio.create_subprocess_exec('echo', 'hi', stdout=-1)\n    print(await p.communicate())\nasyncio.run(main())",
)
case("coroutine never awaited", "async def f(): pass\nf()")
case(
    "async generator",
    "import asyncio\nasync def g():\n    try: yield 1\n    finally: print('closed')\nasync def main():\n    async for x in g():\n        print(x)\n        break\nasyncio.run(main())",
)
case(
    "asyncio interrupted",
    "import asyncio, os, signal\nasync def main():\n    os.kill(os.getpid(), signal.SIGINT)\n    await asyncio.sleep(5)\nasyncio.run(main())",
)
case("random seeded", "import random\nrandom.seed(5)\nprint(random.random(), random.sample(range(100), 5))")
case(
    "sqlite",
    "import sqlite3\nc = sqlite3.connect('db')\nc.execute('create table t (x)')\nc.execute('insert into t values (1)')\nc.commit()\nprint(c.execute('select * from t').fetchall())",
)
case("readline", "import readline\nprint(readline.get_current_history_length())")
case("shelve not closed", "import shelve\ns = shelve.open('sh')\ns['a'] = [1]\n")
case("zipfile not closed", "import zipfile\nz = zipfile.ZipFile('z.zip', 'w')\nz.writestr(zipfile.ZipInfo('a'), 'x')\n")
case("timeit", "import timeit\nprint(timeit.timeit('x', 'x = 1', number=10) > 0)")
case("getpass, user", "import getpass, os, pwd\nprint(pwd.getpwuid(os.getuid()).pw_name)")
case("uuid and secrets", "import uuid, secrets\nprint(len(str(uuid.uuid4())), len(secrets.token_hex()))")
case(
    "functools cache",
    "from functools import lru_cache\n@lru_cache\ndef fib(n): return n if n < 2 else fib(n-1) + fib(n-2)\nprint(fib(80), fib.cache_info())",
)
case(
    "turtle of text",
    "import textwrap, pprint, string\npprint.pprint({i: 'x' * i for i in range(20)})\nprint(textwrap.fill('word ' * 40))",
)
case(
    "platform",
    "import platform, sys\nprint(platform.python_version(), sys.version, sys.implementation, platform.system(), sys.hexversion, sys.api_version, sys.byteorder)",
)
case(
    "input in a thread",
    "import threading\nt = threading.Thread(target=lambda: print(input()))\nt.start()\nt.join()",
    stdin=b"x\n",
)
case(
    "eval of user code",
    "ns = {}\nexec('def f():\\n    return __name__', ns)\ntry: print(ns['f']())\nexcept NameError as e: print(e)\nprint(eval('__name__'))",
)
case("sys.exit in finally", "import sys\ntry:\n    1/0\nfinally:\n    sys.exit(2)")
case(
    "print to closed pipe with head",
    "import subprocess\nprint(subprocess.run('yes | head -1', shell=True, capture_output=True))",
)
case("time limit by setitimer", "import signal\nsignal.setitimer(signal.ITIMER_VIRTUAL, .05)\nwhile True: pass")
