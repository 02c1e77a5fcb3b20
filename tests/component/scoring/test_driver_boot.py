"""The driver's way into an interpreter: as code, and as source where the interpreters differ."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harena.scoring import codec
from harena.scoring.guest import driver as guest_driver
from harena.scoring.scorers.driver_boot import BOOT, code_frame, compiled, frame, known_program, source_frame
from harena.scoring.values import Bag, from_python

TOKEN = b"0123456789abcdef"
NO_KEYWORDS = Bag("dict", ())
ASKED = (
    frame(b"L" + TOKEN + codec.encode(("", "def f(x): return [x, 'a']", "/f.py", "f", "f"))),
    frame(b"C" + TOKEN + codec.encode(((7,), NO_KEYWORDS, None, False))),
)
ANSWERS = (frame(b"H"), frame(TOKEN + b"o"), frame(TOKEN + b"v" + codec.encode(from_python([7, "a"]))))


# what a template does with a known program, and then a fork of it
AHEAD = """
import marshal, sys
known = KNOWN
namespace = {"__name__": known.namespace}
modules = set(sys.modules)
for code in known.preparation:
    exec(marshal.loads(code), namespace)
assert set(sys.modules) == modules, set(sys.modules) - modules
exec(marshal.loads(known.program), {"__name__": "__main__", known.namespace: namespace})
"""


def said(given: bytes, program: str = BOOT) -> bytes:
    """By a plain interpreter that boots, is given this, and is told no more."""
    done = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def test_an_interpreter_like_ours_runs_the_code() -> None:
    """One frame, and the conversation begins."""
    assert said(code_frame() + b"".join(ASKED)) == b"".join(ANSWERS)


def test_a_template_that_knows_the_driver_answers_the_same() -> None:
    """And its preparation leaves no module behind, and says nothing."""
    known = known_program()
    fields = f"type('Known', (), dict({', '.join(f'{name}={value!r}' for name, value in asdict(known).items())}))"
    ahead = AHEAD.replace("KNOWN", fields)
    assert known.text == BOOT
    assert said(code_frame() + b"".join(ASKED), ahead) == said(code_frame() + b"".join(ASKED)) == b"".join(ANSWERS)
    assert said(code_frame()[:-1], ahead) == b""


def test_what_a_candidate_patches_as_it_loads_is_seen_at_once() -> None:
    """Its first question has been read by then, so that the host need not wait for an answer that cannot come."""
    source = "import builtins\nbuiltins.len = lambda thing: 1\ndef f(x): return x"
    load = frame(b"L" + TOKEN + codec.encode(("", source, "/f.py", "f", "f")))
    begun = said(code_frame() + load + ASKED[1])
    assert begun.startswith(frame(b"H") + b"00000001" + TOKEN)


def test_another_interpreter_asks_for_the_source() -> None:
    """It says so first, leaves out what had followed the code, and is then asked again."""
    other = frame(b"\0\0\r\n" + code_frame()[12:])
    first = other + b"".join(ASKED)
    assert b"__future__" not in source_frame()  # which a file of the candidate's could be
    assert said(first + source_frame() + b"".join(ASKED)) == frame(b"S") + b"".join(ANSWERS)


def test_an_end_of_input_is_an_end() -> None:
    """Wherever it comes."""
    other = frame(b"\0\0\r\n" + code_frame()[12:])
    assert said(code_frame()[:-1]) == b""
    assert said(other) == frame(b"S")


def test_the_code_is_sent_without_its_one_import_of_a_file() -> None:
    """The import of `__future__` would be searched for and read in every fresh sandbox; the code behaves as with it."""
    source = Path(guest_driver.__file__).read_bytes()
    code = compiled(source)
    assert b"from __future__ import annotations" in source
    assert {name for name in code.co_names if name in ("os", "sys", "__future__")} == {"os", "sys"}
    made: dict[str, Any] = {"__name__": "driver"}
    exec(code, made)
    assert made["encode"].__annotations__ == made["main"].__annotations__ == {}
    assert made["encode"]([1, "a"]) == guest_driver.encode([1, "a"])


def test_an_interpreter_without_the_module_of_limits_runs_it() -> None:
    """As Debian's python3-minimal is: before, the import was a fault of the image."""
    code = "import os, sys\nsys.modules['resource'] = None\nfrom harena.scoring.guest.driver import out_of_reach\n"
    code += "print(len(out_of_reach(*os.pipe())))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("2\n", "")
