"""Which commands a warm interpreter may run, and which only a real start does right.

The rule: where anything that a start looks at (flags, variables, packages, files beside the program) may differ from
what the template's own start has seen, a real start is taken.
"""

from __future__ import annotations

import os
import sys

from harena.runtime.guest.warm_state import Baseline, Plan

_FIXED_NAMES = frozenset({"HOME", "TZ", "TZDIR", "LANG", "LANGUAGE", "LOCPATH", "GLIBC_TUNABLES", "GCONV_PATH"})
_FIXED_PREFIXES = ("PYTHON", "LC_", "LD_", "MALLOC_")
_LIBRARY_PREFIXES = ("OMP_", "OPENBLAS_", "GOTO_", "MKL_", "BLIS_", "KMP_", "GOMP_", "NPY_", "NUMPY_", "NUMEXPR_",
                     "TORCH_", "PYTORCH_", "CUDA_", "NVIDIA_", "MPL", "TF_", "XLA_", "JAX_", "HF_")  # fmt: skip
_INTERPRETER_LETTERS = "0123456789."


def plan(found: Baseline, argv: list[str], env: dict[str, str], base_env: dict[str, str], cwd: str) -> Plan | None:
    """How to run this warm, or None where only a real start is right. Opens no file."""
    if not argv:
        return None
    planned = _read_command_line(argv)
    if planned is None:
        return None
    executable = found.executables.get((argv[0], env.get("PATH", ""))) or _executable(argv[0], env, found)
    if executable is None or not _is_same_environment(env, base_env, found):
        return None
    for directory, then in found.stamps:
        if stamp(directory) != then:
            return None  # packages were installed here, or .pth files: a start would see them
    if found.shadowable:
        beside = os.path.dirname(os.path.join(cwd, planned.target)) if planned.kind == "file" else cwd
        for directory in (beside, *found.early_directories):
            if _shadows(directory, found.shadowable):
                return None
    planned.unbuffered = planned.unbuffered or found.unbuffered
    planned.executable = executable
    planned.baseline = found
    planned.environment = env
    if found.added_to is not base_env:
        found.added_to = base_env
        found.added = {name: value for name, value in found.environment.items() if base_env.get(name) != value}
    for name in found.added:
        if env.get(name) != base_env.get(name):
            return None
    return planned


def _read_command_line(argv: list[str]) -> Plan | None:
    words = argv[1:]
    unbuffered = False
    while words and words[0] == "-u":
        unbuffered = True
        del words[0]
    if not words or not words[0]:
        return None
    if words[0] == "-c" and len(words) > 1:
        planned = Plan("code", words[1], argv, words[2:])
    elif words[0] == "-m" and len(words) > 1 and words[1]:
        planned = Plan("module", words[1], argv, words[2:])
    elif words[0][0] != "-" and not words[0].endswith(".pyc"):
        planned = Plan("file", words[0], argv, words[1:])
    else:
        return None
    planned.unbuffered = unbuffered
    return planned


def _executable(program: str, env: dict[str, str], found: Baseline) -> str | None:
    """What sys.executable would be, if that is the interpreter of this template under another name."""
    directory, _, name = program.rpartition("/")
    if not name.startswith("python") or name[6:].strip(_INTERPRETER_LETTERS):
        return None
    if not directory:
        for directory in env.get("PATH", "").split(":"):
            if directory[:1] != "/":
                return None
            if _is_program(directory + "/" + name):
                break
        else:
            return None
    path = directory + "/" + name
    if path == found.executable:
        return path
    if path[:1] != "/" or getattr(sys, "_base_executable", found.executable) != found.executable:
        return None  # in a virtual environment another name means another sys._base_executable
    if directory != os.path.dirname(found.executable):
        for place in (directory, os.path.dirname(directory)):
            if os.path.exists(place + "/pyvenv.cfg"):
                return None
    return path if os.path.realpath(path) == found.executable_real else None


def _is_program(path: str) -> bool:
    try:
        status = os.stat(path)
    except OSError:
        return False
    return status.st_mode & 0o170111 > 0o100000  # a regular file with an execute bit


def _is_same_environment(env: dict[str, str], base_env: dict[str, str], found: Baseline) -> bool:
    """Every variable that a start, or an import of a warm module, looks at has its value in the template."""
    if env is base_env or env == base_env:
        return True
    prefixes = _FIXED_PREFIXES + _LIBRARY_PREFIXES if found.shadowable else _FIXED_PREFIXES
    for name in {*env, *base_env}:
        matters = name in _FIXED_NAMES or name in found.observed or name.startswith(prefixes)
        if matters and env.get(name) != base_env.get(name):
            return False
    return True


def _shadows(directory: str, names: frozenset[str]) -> bool:
    try:
        return not names.isdisjoint([entry.partition(".")[0] for entry in os.listdir(directory)])
    except OSError:
        return False


def names_of_python(found: Baseline) -> dict[str, str]:
    """The names under which PATH leads to this interpreter, where no directory on the way can be written to."""
    names = {}
    major, minor = map(str, sys.version_info[:2])
    for name in ("python", "python" + major, "python" + major + "." + minor):
        path = _executable(name, found.environment, found)
        places = found.environment.get("PATH", "").split(":")
        if path and not any(map(_is_changeable, places[: places.index(os.path.dirname(path)) + 1])):
            names[name] = path
    return names


def _is_changeable(place: str) -> bool:
    while place not in ("", "/") and not os.path.lexists(place):
        place = os.path.dirname(place)
    return os.access(place, os.W_OK)


def stamp(directory: str) -> int:
    if not os.access(directory, os.F_OK):
        return 0  # asked first because an exception costs a warm child copies of twenty pages
    try:
        return os.stat(directory).st_mtime_ns
    except OSError:
        return 0
