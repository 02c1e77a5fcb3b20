"""Loaded by each Python that a verifier starts, as `sitecustomize`: a trusted program imports what it means.

`python -m`, `python -c`, a program on standard input and one that lies elsewhere look for modules in the working
directory, where a candidate has left its files. A trusted program finds a module in this order: the trusted files; the
places that nobody in the sandbox can write to, and those of the interpreter; the others. So what a candidate leaves
hides nothing. A program that lies in the working directory and is no trusted file is the candidate's, and starts as
everywhere. Standard library only, Python 3.8 syntax; before 3.10 a program cannot tell how it was started, and nothing
is done.
"""

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_trusted(words: "list[str]", here: str) -> bool:
    """The command line starts a program that is no candidate's."""
    words = list(words)
    while words and words[0].startswith("-") and words[0] != "-":
        option = words.pop(0)
        if not option.startswith("--") and option[1:2] not in ("W", "X") and any(letter in option for letter in "cm"):
            at = min(option.index(letter) for letter in "cm" if letter in option)
            return option[at] == "c" or not is_candidates_module(option[at + 1 :] or "".join(words[:1]), here)
        if option in ("-W", "-X", "--check-hash-based-pycs"):
            words = words[1:]
    if not words or words[0] == "-":
        return True
    program = os.path.realpath(words[0])
    if program in TRUSTED or program in PROGRAMS:
        return True
    if is_copy_of_trusted(program) or is_made_since(program):
        return True
    if not is_below(os.path.dirname(program), here) and not is_candidates(program):
        return True
    copied: Any = COPIED
    return bool(copied) and digest_of(program) in {digest for _, digest in copied}


def is_candidates(path: str) -> bool:
    """The candidate has made or changed this file, and nobody since; wherever it is started from it finds its own
    modules, as everywhere. What lies beside the folder of this file is the verifier's."""
    own = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    return not is_below(os.path.dirname(path), own) and is_left(path)


def is_candidates_module(name: str, here: str) -> bool:
    """`python -m` starts a module of the candidate's by this name: nothing of the interpreter's, of packages or of the
    verifier's has it."""
    parts = name.split(".")
    places = [here, *(place for place in sys.path if not Elsewhere.is_elsewhere(place))]
    if not BEGAN or not all(parts) or Elsewhere.find_trusted(parts[0], places) is not None:
        return False
    if PathFinder.find_spec(parts[0], [place for place in sys.path if Elsewhere.is_elsewhere(place)]) is not None:
        return False
    if parts[0] in sys.builtin_module_names:
        return False
    endings = (".py", os.sep + "__init__.py", os.sep + "__main__.py")
    paths = [os.path.join(os.path.realpath(place), *parts) for place in places]
    found = [path + ending for path in paths for ending in endings if os.path.exists(path + ending)]
    return bool(found) and all(map(is_candidates, found))


OPTIONAL = ()
"""names that the verifier's programs import and do without, or with one of the standard library in their place"""
TRUSTED = ()
"""paths of the verifier's own modules"""
SEARCHED = ()
"""what the contract adds to the search path. It stands in no variable: a module that is imported before this one would
be looked for there"""

COPIED = ()
"""(name, digest) of them: the verifier may have copied them to where it runs"""
HIDDEN = ()
"""(True,): guarded processes are hidden from others, as which the candidate's shall not count"""
KEPT = ()
"""(True,): no program opens the memory of the verifier's Python programs"""
LEFT = ()
"""files in which the candidate has left rules for a test runner"""
PROGRAMS = ()
"""paths of the image's own programs and modules that lie where the candidate could leave others"""
ORIGINALS = ()
"""(path in LEFT, a copy of what the environment has there)"""
LEFT_TESTS = ()
"""digests of the test files that the candidate has left, by which copies of them are known"""
BEGAN = ()
"""(the time at which the candidate began,), if it is known"""
NAMED = ()
"""file names with `.py` that the verifier's programs mention"""
IMPORTED = ()
"""first names of modules that they may import; `.` where they import from packages above them"""
SUITES = ()
"""(True,): the verifier, or the environment, has test files: without any the candidate's, and its hooks and options,
are its work"""
REWARDS = ()
"""paths of rewards, where nothing else of the verifier's writes them while its Python runs"""
WRITERS = ()
"""names of its programs that write them"""
WRITES = ()
"""(True,): lines of the verifier's write test files of its own (`cat > test_it.py <<EOF`)"""
MOST_LOOKED_AT = 20000
"""names of folders and files that are looked at for copies of the verifier's modules"""
HARMLESS = ("pythonpath", "testpaths", "markers", "minversion", "asyncio_mode", "asyncio_default_fixture_loop_scope",
            "consider_namespace_packages", "DJANGO_SETTINGS_MODULE")  # fmt: skip
"""what of them neither chooses tests nor loads plug-ins"""


def is_below(place: str, folder: str) -> bool:
    """It is the folder, or lies in it."""
    real = os.path.realpath(folder)
    return real != os.sep and (os.path.realpath(place) + os.sep).startswith(os.path.join(real, ""))


def is_writable(place: str) -> bool:
    """This user can write there, or could before it took that right from itself."""
    if os.access(place, os.W_OK):
        return True
    try:
        is_own = os.stat(place).st_uid == os.geteuid()
        return is_own and not os.statvfs(place).f_flag & os.ST_RDONLY
    except OSError:
        return False


def is_a_librarys(fullname: str) -> bool:
    """An import statement of the standard library, or of an installed package, is looking for it. What these import
    for others (`importlib.import_module`, loaders of tests) stands in no statement."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(("<frozen importlib", __file__)):
        frame = frame.f_back
    if frame is None or not any(name.partition(".")[0] == fullname for name in frame.f_code.co_names):
        return False
    path = frame.f_code.co_filename
    if path.startswith("<frozen "):
        return True
    own = os.path.dirname(os.path.realpath(os.__file__))
    return is_below(path, own) or "site-packages" in path.split(os.sep) or "dist-packages" in path.split(os.sep)


def trusted_paths() -> "list[str]":
    """TRUSTED"""
    return list(TRUSTED)


def is_copy_of_trusted(path: str) -> bool:
    """A file with the name and the content of one of the verifier's modules."""
    name, trusted = os.path.basename(path), trusted_paths()
    originals = [original for original in trusted if os.path.basename(original) == name]
    if not originals:
        return False
    try:
        with open(path, "rb") as file:
            found = file.read()
        for original in originals:
            with open(original, "rb") as file:
                if file.read() == found:
                    return True
    except OSError:
        pass
    return False


def is_left(path: str, *, touched: bool = False) -> bool:
    """The candidate has made or changed this file, and nobody since (`touched`: or somebody since). The time of a
    file's last change can be set by nobody, and this file was written when the candidate had ended."""
    try:
        changed = os.stat(path).st_ctime
        until = os.stat(__file__).st_ctime
    except OSError:
        return False
    began: Any = BEGAN
    return bool(began) and began[0] <= changed and (touched or changed < until)


def is_made_since(path: str) -> bool:
    """Somebody has made or filled this file after the candidate had ended: the verifier, or what it has started. Who
    runs it is taken for trusted, which hides a candidate's modules from it, and no more. A later time that a candidate
    gives to a file is that of its content only."""
    try:
        about, until = os.stat(path), os.stat(__file__).st_ctime
    except OSError:
        return False
    return bool(BEGAN) and min(about.st_mtime, about.st_ctime) >= until


def is_beside(path: str) -> bool:
    """A file of the candidate's, where the verifier has modules of its own and does not mention this one."""
    if not ((TRUSTED and SUITES) or WRITES) or os.path.basename(path) in NAMED or is_copy_of_trusted(path):
        return False
    if is_copy_of_left(path) if is_named_as_test(path) else is_left(path):
        return True
    note_made(path)
    return False


def is_named_as_test(path: str) -> bool:
    """Its name is one of those whose content is known before the verifier starts (LEFT_TESTS)."""
    return bool(BEGAN) and has_name_of_test(path) and "-packages/" not in path


def has_name_of_test(path: str) -> bool:
    """Test runners collect a file of its name."""
    name = os.path.basename(path)
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def is_copy_of_left(path: str) -> bool:
    """It holds what a test file that the candidate has left holds: the verifier has copied or touched it since."""
    return bool(LEFT_TESTS) and digest_of(path) in LEFT_TESTS


def digest_of(path: str) -> str:
    """SHA-256 of what the file holds, in hexadecimal; empty where it cannot be read."""
    import hashlib

    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def note_made(path: str) -> None:
    """Note a file that decides what a test runner does and has come since the verifier was started: it, or a program of
    the candidate's that it has started, has made it. A run without the candidate tells which. The note is a folder: who
    removes it changes the time of the folder that it is in."""
    try:
        if not BEGAN or os.stat(path).st_ctime < os.stat(__file__).st_ctime:
            return
    except OSError:
        return
    note(os.path.basename(path).encode("utf-8", "backslashreplace").decode()[:100])


def note(name: str) -> None:
    """Make the note of this name."""
    try:  # noqa: SIM105 (contextlib is the program's to import)
        os.mkdir(os.path.join(os.path.dirname(os.path.realpath(__file__)), "noted", name))
    except OSError:  # it is noted already, or the image lets nobody write
        pass


def is_written_test(path: str) -> bool:
    """A test file that the verifier has written since it was started."""
    return bool(WRITES) and has_name_of_test(path) and is_made_since(path)


def holds_copies(folder: str) -> bool:
    """Modules of the verifier's have been copied into it, or tests written."""
    names = {os.path.basename(original) for original in trusted_paths()}
    if any(is_copy_of_trusted(os.path.join(folder, name)) for name in names):
        return True
    try:
        return bool(WRITES) and any(is_written_test(os.path.join(folder, name)) for name in os.listdir(folder))
    except OSError:
        return False


def is_package_of_copies(path: str) -> bool:
    """The candidate's `__init__.py` of a folder into which the verifier has copied its modules."""
    if os.path.basename(path) != "__init__.py" or not is_left(path, touched=True):
        return False
    return holds_copies(os.path.dirname(path)) and not is_copy_of_trusted(path)


def copies_below(folder: str) -> "Any":
    """Paths of the verifier's modules that have been copied to below a folder, and of tests that were written there;
    None: there is too much below it."""
    names = {os.path.basename(original) for original in trusted_paths()} - {"__init__.py", "conftest.py"}
    found = []
    room = MOST_LOOKED_AT
    for place, folders, files in os.walk(folder):
        room -= 1 + len(files)
        if room < 0:
            return None
        found += [
            path for path in (os.path.join(place, name) for name in names & set(files)) if is_copy_of_trusted(path)
        ]
        found += [path for path in (os.path.join(place, name) for name in files) if is_written_test(path)]
        folders[:] = [name for name in folders if name not in ("node_modules", ".git")]
    return found


def is_package_above_copies(fullname: str, path: str) -> bool:
    """The candidate's `__init__.py` in a folder of which no text of the verifier's speaks, above copied modules: a test
    runner loads it by itself, since the folder looks like a package."""
    if not (TRUSTED or WRITES) or os.path.basename(path) != "__init__.py" or not is_left(path, touched=True):
        return False
    if (
        fullname.partition(".")[0] in IMPORTED
        or "." in IMPORTED
        or not {"_pytest.python", "unittest.loader"} & set(sys.modules)
    ):
        return False
    return copies_below(os.path.dirname(path)) != []


def is_rule(path: str) -> bool:
    """A file with rules for a test runner that a candidate has left, or a copy of one; but not the verifier's own."""
    real = os.path.realpath(path)
    if not (LEFT and SUITES) or is_copy(real):
        return False
    left: Any = LEFT
    name = os.path.basename(real)
    if real in left:  # it, or a program that it has started, has written another one there since
        return not is_made_since(real)
    if name not in {os.path.basename(other) for other in left}:
        return False
    try:
        with open(real, "rb") as file:
            content = file.read()
        for other in left:
            if os.path.basename(other) == name and os.path.getsize(other) == len(content):
                with open(other, "rb") as file:
                    if file.read() == content:
                        return True
    except OSError:
        pass
    return False


class Uncached(SourceFileLoader):
    """Reads no compiled file: these lie where a candidate can write."""

    def get_code(self, fullname: str) -> "Any":
        """The module's code, compiled now."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class Empty(Uncached):
    """A module without anything in it."""

    def get_data(self, path: "Any") -> bytes:
        """Nothing."""
        return b""


class Original(Uncached):
    """A module as the environment has it, where the candidate has changed it."""

    def get_data(self, path: "Any") -> bytes:
        """The environment's file."""
        return super().get_data(original_of(str(path)) or path)


def original_of(path: str) -> str:
    """Where a copy is of what the environment has in the place of a file that the candidate has changed; empty where it
    has nothing there."""
    originals: Any = ORIGINALS
    real = os.path.realpath(path)
    return next((copy for of, copy in originals if os.path.realpath(of) == real), "")


class Configured(SourceFileLoader):
    """pytest's search for its configuration, which takes from a candidate's what is harmless."""

    def exec_module(self, module: "Any") -> None:
        """Load it, and put a function of it around its own."""
        super().exec_module(module)
        hook = getattr(module, "AssertionRewritingHook", None)
        if hook is not None:  # it finds tests and hooks by itself
            hook._find_spec = staticmethod(find_rewritten)
        for table in ("CONFIG_LOADERS_BY_NAME", "CONFIG_LOADERS_BY_SUFFIX"):
            loaders = getattr(module, table, {})
            loaders.update({name: harmless(read) for name, read in list(loaders.items())})
        if hasattr(module, "load_config_dict_from_file"):
            module.load_config_dict_from_file = harmless(module.load_config_dict_from_file)


class Discovering(SourceFileLoader):
    """unittest's search for tests, which takes none of a candidate's beside the verifier's own."""

    def exec_module(self, module: "Any") -> None:
        """Load it, and put functions around its own."""
        super().exec_module(module)
        loader: Any = getattr(module, "TestLoader", None)
        if not hasattr(loader, "_match_path"):
            return
        matches, load = loader._match_path, loader.loadTestsFromModule

        def match_path(self: "Any", path: "Any", full_path: "Any", pattern: "Any") -> "Any":
            return matches(self, path, full_path, pattern) and not is_beside(full_path)

        def load_tests(self: "Any", module: "Any", *positional: "Any", **keywords: "Any") -> "Any":
            code = getattr(getattr(module, "load_tests", None), "__code__", None)
            if (TRUSTED or WRITES) and code is not None:
                if is_left(code.co_filename) or is_copy_of_left(code.co_filename):
                    module.load_tests = None
                elif not is_copy_of_trusted(code.co_filename):
                    note_made(code.co_filename)
            return load(self, module, *positional, **keywords)

        loader._match_path, loader.loadTestsFromModule = match_path, load_tests


class Collecting(SourceFileLoader):
    """pytest's search for tests, which takes none of a candidate's beside the verifier's own."""

    def exec_module(self, module: "Any") -> None:
        """Load it, and put a function around its own."""
        super().exec_module(module)
        collect = getattr(module, "pytest_collect_file", None)
        code = getattr(collect, "__code__", None)
        if collect is None or code is None or code.co_varnames[:2] != ("file_path", "parent"):
            return

        def pytest_collect_file(file_path: "Any", parent: "Any") -> "Any":
            return None if is_beside(str(file_path)) else collect(file_path, parent)

        module.pytest_collect_file = pytest_collect_file


class Starting(SourceFileLoader):
    """The library's starter of processes, which keeps the guard in the environment of what a trusted program starts."""

    def exec_module(self, module: "Any") -> None:
        """Load it, and put a function around its own."""
        super().exec_module(module)
        begin, names = module.Popen.__init__, module.Popen.__init__.__code__.co_varnames

        def started(self: "Any", *positional: "Any", **keywords: "Any") -> None:
            given = dict(zip(names[1:], positional), **keywords)  # noqa: B905 (Python 3.8 has no `strict`)
            with_guard = with_variables(given.get("args"))
            if with_guard is not given.get("args"):
                given["args"], positional, keywords = with_guard, (), dict(given, args=with_guard)
            is_shell = given.get("shell") or is_shells(given.get("args"))
            if is_shell:
                given["args"] = guarded_line(given["args"])
            environment = guarded_environment(given.get("env"))
            if is_shell or environment is not given.get("env"):
                given["env"] = environment
                positional, keywords = (), given
            begin(self, *positional, **keywords)

        started.__wrapped__ = begin  # type: ignore[attr-defined]  # for who asks for its parameters
        module.Popen.__init__ = started


def with_variables(words: "Any") -> "Any":
    """The words of a Python without the options (`-E`, `-I`, `-s`) by which it would not hear of the guard."""
    if not isinstance(words, (list, tuple)) or not words or not all(isinstance(word, str) for word in words):
        return words
    if not os.path.basename(words[0]).startswith("python"):
        return words
    made = list(words)
    for at, word in enumerate(words[1:], 1):
        if word[:1] != "-" or word.startswith("--") or word == "-":
            break
        kept = "".join(letter for letter in word if letter not in "EIs")
        made[at] = kept
        if any(letter in word for letter in "cmWX"):
            made[at] = word if word[1:2] in ("c", "m", "W", "X") else kept
            break
    made = [word for at, word in enumerate(made) if word != "-" or words[at] == "-"]
    return words if made == list(words) else made


def is_shells(words: "Any") -> bool:
    """The words start a shell, or a program that sets variables for another one."""
    if not isinstance(words, (list, tuple)) or not words or not isinstance(words[0], str):
        return False
    return os.path.basename(words[0]) in ("sh", "bash", "dash", "zsh", "ksh", "env", "sudo", "timeout", "nice", "xargs")


def guarded_line(line: "Any") -> "Any":
    """A command, or its words, in which an assignment of Python's search path has the guard before what it says."""
    if isinstance(line, (list, tuple)):
        return [guarded_line(word) for word in line]
    if not isinstance(line, str) or "PYTHONPATH=" not in line:
        return line
    import re

    own = os.path.dirname(os.path.realpath(__file__))
    return re.sub(r"(?<![\w$])PYTHONPATH=(?=[^\s;&|)])", lambda found: found[0] + own + os.pathsep, line)


def guarded_environment(given: "Any") -> "Any":
    """The variables for a program, the guard first in Python's search path."""
    own = os.path.dirname(os.path.realpath(__file__))
    try:
        variables = {os.fsdecode(name): value for name, value in dict(os.environ if given is None else given).items()}
        searched = os.fsdecode(variables.get("PYTHONPATH", ""))
    except (TypeError, ValueError, AttributeError):  # the library says what is wrong with it
        return given
    if os.path.realpath(searched.partition(os.pathsep)[0]) == own:
        return given
    return dict(variables, PYTHONPATH=own + (os.pathsep + searched if searched else ""))


def guarded_call(call: "Any", at: int) -> "Any":
    """A function of the system's that starts a program, with variables in the place `at` of what it is given."""

    def guarded(*positional: "Any", **keywords: "Any") -> "Any":
        if "env" in keywords:
            keywords["env"] = guarded_environment(keywords["env"])
        elif len(positional) > at:
            positional = (*positional[:at], guarded_environment(positional[at]), *positional[at + 1 :])
        return call(*positional, **keywords)

    return guarded


def guarded_system(command: "Any") -> "Any":
    """Run a command in a shell."""
    import subprocess

    done = subprocess.call(command, shell=True)  # noqa: S602 (the caller asks for one)
    return done << 8 if done >= 0 else -done


def guard_starts() -> None:
    """Keep the guard in what a trusted program starts, however it sets the environment."""
    for name, at in (("execve", 2), ("posix_spawn", 2), ("posix_spawnp", 2)):
        if hasattr(os, name):
            setattr(os, name, guarded_call(getattr(os, name), at))
    if hasattr(os, "system"):
        os.system = guarded_system


def harmless(read: "Any") -> "Any":
    """A reader of configuration that takes little from a candidate's."""

    def read_harmless(filepath: "Any") -> "Any":
        is_changed = is_rule(str(filepath))
        original = original_of(str(filepath)) if is_changed else ""
        found = read(type(filepath)(original) if original else filepath)
        if original:
            return found
        if isinstance(found, dict) and is_changed:
            found = {name: value for name, value in found.items() if name in HARMLESS}
            if (TRUSTED or WRITES) and not holds_all_copies(
                os.path.dirname(os.path.realpath(str(filepath))), found.get("testpaths")
            ):
                found.pop("testpaths", None)
        elif isinstance(found, dict) and not found.keys() <= set(HARMLESS) and not is_copy(str(filepath)):
            note_made(str(filepath))
        return found

    return read_harmless


def holds_all_copies(folder: str, told: "Any") -> bool:
    """The paths of tests that a configuration tells leave out none of the verifier's that were copied to below it."""
    told = getattr(told, "value", told)
    if told is None:
        return True
    import glob

    words = told.split() if isinstance(told, str) else [word for word in told if isinstance(word, str)]
    places = [place for word in words for place in glob.glob(os.path.join(folder, word))]
    copies = copies_below(folder)
    return copies is not None and all(any(is_below(path, place) for place in places) for path in copies)


def is_copy(file: str) -> bool:
    """It holds what the verifier's file of this name holds."""
    parts = file.split(os.sep)
    name = "/".join(parts[-2:]) if parts[-1] == "__init__.py" else parts[-1]
    copied: Any = COPIED
    digests = [digest for own, digest in copied if own == name]
    return bool(digests) and os.path.isfile(file) and digest_of(file) in digests


class Elsewhere(PathFinder):
    """The finder of the search path; of the first level it finds modules where a candidate can write last, and the
    metadata of packages (which names plug-ins) nowhere there."""

    here = ""

    @classmethod
    def find_spec(cls, fullname: str, path: "Any" = None, target: "Any" = None) -> "Any":
        """Find a module in the way of the search path's finder, the verifier's own modules first."""
        trusted = cls.find_trusted(fullname, sys.path if path is None else list(path))
        if trusted is not None:
            return trusted
        found = cls.find_untrusted(fullname, path, target)
        if fullname == "subprocess" and found is not None and found.origin:
            found.loader = Starting(fullname, found.origin)
        if BEGAN and found is not None and found.origin:
            if fullname == "unittest.loader":
                found.loader = Discovering(fullname, found.origin)
            elif fullname == "_pytest.python":
                found.loader = Collecting(fullname, found.origin)
            elif is_package_of_copies(found.origin) or is_package_above_copies(fullname, found.origin):
                found.loader = Empty(fullname, found.origin)
        if (LEFT or BEGAN) and found is not None and found.origin:
            if fullname in ("_pytest.config.findpaths", "_pytest.assertion.rewrite"):
                found.loader = Configured(fullname, found.origin)
            elif is_rule(found.origin):  # fixtures and hooks beside the verifier's tests
                kind = Original if original_of(found.origin) else Empty
                found.loader = kind(fullname, found.origin)
            elif os.path.basename(found.origin) == "conftest.py":
                note_made(found.origin)
        return found

    @classmethod
    def find_untrusted(cls, fullname: str, path: "Any", target: "Any") -> "Any":
        """In the places where nobody writes, and then in the others."""
        if path is None:
            elsewhere = [place for place in sys.path if cls.is_elsewhere(place)]
            found = PathFinder.find_spec(fullname, elsewhere, target)
            if found is not None and found.loader is not None:
                return found
            if fullname in OPTIONAL or is_a_librarys(fullname):
                return None
        return PathFinder.find_spec(fullname, path, target)

    @classmethod
    def find_trusted(cls, fullname: str, path: "Any") -> "Any":
        """One of the verifier's own modules, whatever else lies beside it."""
        name = fullname.rpartition(".")[2]
        places: Any = path if TRUSTED or COPIED or PROGRAMS or BEGAN else ()
        for place in places:
            folder = os.path.join(os.path.realpath(place), name)
            init = os.path.join(folder, "__init__.py")
            if BEGAN and os.path.isfile(folder + ".py") and not is_made_since(init) and is_made_since(folder + ".py"):
                return spec_from_file_location(fullname, folder + ".py", loader=Uncached(fullname, folder + ".py"))
            if TRUSTED and os.path.isdir(folder) and not os.path.exists(init) and holds_copies(folder):
                namespace = ModuleSpec(fullname, None, is_package=True)
                namespace.submodule_search_locations = [folder]
                return namespace
            for file, below in ((os.path.join(folder, "__init__.py"), [folder]), (folder + ".py", None)):
                is_copied = is_copy(file) or (below is None and BEGAN and is_copy_of_trusted(file))
                if is_copied or ((file in TRUSTED or file in PROGRAMS) and os.path.isfile(file)):
                    loader = Uncached(fullname, file)
                    return spec_from_file_location(fullname, file, loader=loader, submodule_search_locations=below)
        return None

    @classmethod
    def find_distributions(cls, context: "Any" = None) -> "Any":
        """Find metadata of packages in the way of the search path's finder, elsewhere."""
        if context is None:
            from importlib.metadata import DistributionFinder

            context = DistributionFinder.Context()
        places = [place for place in context.path if cls.is_elsewhere(place)]
        return PathFinder.find_distributions(type(context)(**dict(vars(context), path=places)))

    @classmethod
    def is_elsewhere(cls, place: str) -> bool:
        """An entry of the search path where a candidate leaves nothing: of the interpreter's, or neither below the
        working directory nor writable, but for the packages of a user, which are cleared before a verifier starts."""
        if not place:
            return False
        if any(is_below(place, prefix) for prefix in (sys.prefix, sys.base_prefix)):
            return True
        is_packages = place.rstrip(os.sep).endswith("-packages")
        return not is_below(place, cls.here) and (is_packages or not is_writable(place))


def find_rewritten(fullname: str, path: "Any" = None) -> "Any":
    """A module whose assertions pytest rewrites; None for what is not to be read."""
    found = Elsewhere.find_spec(fullname, path)
    return None if found is not None and isinstance(found.loader, (Empty, Original)) else found


def install() -> None:
    """Put it in the place of the finder of the search path."""
    global LEFT, TRUSTED
    given: Any = (LEFT, TRUSTED)  # put in as this file is written
    LEFT, TRUSTED = (frozenset(os.path.realpath(path) for path in paths) for paths in given)  # type: ignore[assignment]
    own = os.path.dirname(os.path.realpath(__file__))
    searched: Any = SEARCHED
    moved = [os.path.abspath(place) for place in getattr(sys.modules.get("encodings"), "MOVED_PLACES", ())]
    sys.path[:] = [
        *[os.path.abspath(place) for place in searched],
        *[place for place in dict.fromkeys(moved) if os.path.realpath(place) != own],
        # others could be put beside this one
        *[place for place in sys.path if place not in moved and os.path.realpath(place) != own],
    ]
    Elsewhere.here = os.path.realpath(os.getcwd())
    if sys.pycache_prefix is not None and sys.pycache_prefix.startswith(__file__):  # one that keeps nothing
        sys.pycache_prefix, sys.dont_write_bytecode = None, True
    if is_trusted(getattr(sys, "orig_argv", ["", "program.py"])[1:], Elsewhere.here):
        if KEPT and not is_below_candidates():
            hide_memory()
        compile_what_can_be_changed()
        finders: list[Any] = sys.meta_path
        finders[:] = [Elsewhere if finder is PathFinder else finder for finder in finders]
        guard_starts()
        watch_rewards()
    else:
        keep_to_itself()
        if HIDDEN and not any(map(may_hold_proof, getattr(sys, "orig_argv", [""]))):
            show()


class RewardWatch:
    """Whether a reward was written while one of the verifier's programs that writes it ran, and not by it: a program of
    the candidate's, which it has started, may do that. A program that writes something of its own has the last word."""

    STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn")
    MOVES = ("os.rename", "os.link", "os.symlink", "shutil.move", "shutil.copyfile")

    def __init__(self) -> None:
        self.before = self.states()
        self.has_written = False

    @staticmethod
    def states() -> "list[str]":
        """What the rewards say that are more than nothing."""
        found = []
        rewards: Any = REWARDS
        for path in rewards:
            try:
                with open(path, "rb") as file:
                    text = file.read(4096).decode("latin-1")
            except OSError:
                continue
            if any(digit in text for digit in "123456789"):
                found.append(path + text)
        return found

    @staticmethod
    def names_reward(values: "Any") -> bool:
        """One of them speaks of rewards, or of a program that writes them."""
        said = repr(values).lower()
        writers: Any = WRITERS
        return "reward" in said or any(name.lower() in said for name in writers)

    @staticmethod
    def holds_reward() -> bool:
        """It has a reward open, as what its output goes to for instance."""
        kept = set()
        rewards: Any = REWARDS
        for path in rewards:
            try:
                about = os.stat(path)
            except OSError:
                continue
            kept.add((about.st_dev, about.st_ino))
        try:
            numbers = [int(name) for name in os.listdir("/proc/self/fd")]
        except OSError:
            return True
        for number in numbers:
            try:
                about = os.fstat(number)
            except OSError:
                continue
            if (about.st_dev, about.st_ino) in kept:
                return True
        return False

    def hears(self, event: str, values: "Any") -> None:
        """Something begins that the interpreter tells of."""
        if event == "open":
            path, _, flags = values
            if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR) and self.names_reward(path):
                self.has_written = True
        elif event in self.MOVES or event in ("os.fork", "os.forkpty"):
            self.has_written = self.has_written or event.startswith("os.fork") or self.names_reward(values)
        elif event in self.STARTS:
            if self.names_reward(values[:2]):
                self.has_written = True
            elif self.has_written and not self.holds_reward():
                self.before, self.has_written = self.states(), False

    def ends(self) -> None:
        """The program has ended: note a reward that is nobody's of the verifier."""
        is_known = self.has_written or "multiprocessing" in sys.modules or self.holds_reward()
        if not is_known and [state for state in self.states() if state not in self.before]:
            note("reward")


def watch_rewards() -> None:
    """Begin it in a program that a verifier's line names, and that writes rewards."""
    words = {os.path.basename(word) for word in getattr(sys, "orig_argv", ())}
    if REWARDS and not words.isdisjoint(WRITERS):
        import atexit

        watch = RewardWatch()
        sys.addaudithook(watch.hears)
        atexit.register(watch.ends)


def compile_what_can_be_changed() -> None:
    """Read no compiled file of a module where this user can write: a program of the candidate's, which the verifier has
    started before, may have made it. Those of the interpreter's own modules are read."""
    from importlib import _bootstrap_external as external  # where loaders look it up

    place_of = external.cache_from_source

    def cache_from_source(path: "Any", *positional: "Any", **keywords: "Any") -> str:
        folder = os.path.dirname(os.path.abspath(os.fsdecode(path)))
        if not any(is_below(folder, prefix) for prefix in (sys.prefix, sys.base_prefix)) and is_writable(folder):
            raise NotImplementedError  # by which loaders know that there is none
        hidden, sys.pycache_prefix = sys.pycache_prefix, None
        try:
            found: str = place_of(path, *positional, **keywords)
        finally:
            sys.pycache_prefix = hidden
        return found

    external.cache_from_source = cache_from_source
    sys.dont_write_bytecode = True
    # for who looks for compiled files by itself, as pytest does for tests: in a folder whose name nobody knows before.
    # It is none of the guard's, because who compiles by itself (py_compile) writes there.
    sys.pycache_prefix = os.path.join("/tmp", f".{os.urandom(16).hex()}")


def may_hold_proof(argument: str) -> bool:
    """It has as many digits of a hexadecimal number in a row as the word of a proof."""
    run = 0
    for char in argument:
        run = run + 1 if char in "0123456789abcdef" else 0
        if run == 32:
            return True
    return False


def show() -> None:
    """Let the candidate's other programs see this one of its, as everywhere."""
    set_dumpable(True)


def hide_memory() -> None:
    """Let no other program open this one's memory, descriptors and environment, whatever that is written in."""
    set_dumpable(False)


def set_dumpable(is_dumpable: bool) -> None:
    """Whether a process of the same user may trace this one, or open what /proc says of its inside."""
    option = 4
    try:  # noqa: SIM105 (contextlib is the program's to import)
        call("prctl", option, int(is_dumpable), 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


MARK = 1_936_024_432
"""limit of file locks, which the kernel has not looked at since 2.4: what a candidate's program starts inherits it"""


def is_below_candidates() -> bool:
    """A Python program of the candidate's has started this one: its own processes see each other as everywhere."""
    try:
        with open("/proc/self/limits", "rb") as file:
            return b"%d" % MARK in file.read()
    except OSError:
        return False


def keep_to_itself() -> None:
    """Give up the memory, the descriptors and the environment of each process that this one does not start: the
    verifier's, in whatever language. In a domain of Landlock no process traces, or opens in /proc, one outside of it.
    This domain forbids nothing else; the one thing that it has a rule for, renaming into another folder, is allowed
    below `/`. Kernels before 5.19 allow that in no domain: there, and where Landlock is missing or 16 domains are
    around this process already, nothing changes."""
    limit_of_locks = 10
    create, add, restrict, only_version, beneath = 444, 445, 446, 1, 1  # the same on every processor
    rename = 1 << 13
    unlogged = 1  # a refusal is no event of the host's
    try:
        unlimited = (1 << 64) - 1
        limits = b"".join(limit.to_bytes(8, sys.byteorder) for limit in (MARK, unlimited))
        call("prlimit", 0, limit_of_locks, limits, None)
        version = call("syscall", create, None, 0, only_version)
        if version < 2:
            return
        rules = call("syscall", create, rename.to_bytes(8, sys.byteorder), 8, 0)
        if rules < 0:
            return
        try:
            root = os.open("/", os.O_PATH | os.O_CLOEXEC)
            try:
                about = rename.to_bytes(8, sys.byteorder) + root.to_bytes(4, sys.byteorder)
                if call("syscall", add, rules, beneath, about, 0) == 0:
                    call("syscall", restrict, rules, unlogged if version >= 7 else 0)
            finally:
                os.close(root)
        finally:
            os.close(rules)
    except (ImportError, OSError, AttributeError):
        pass


def call(function: str, *arguments: "int | bytes | None") -> int:
    """Call one of the C library's functions. Raises ImportError, OSError or AttributeError where that cannot be
    done."""
    import _ctypes  # without ctypes, which takes longer and is the program's to import

    itself: Any = None
    given: int = _ctypes.call_function(_ctypes.dlsym(_ctypes.dlopen(itself, 0), function), arguments)
    return given


if __name__ == "sitecustomize":
    install()
