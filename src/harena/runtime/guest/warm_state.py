"""What the parts of a warm template tell each other: what a start looks like, and how to run one program."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harena.runtime.guest.warm_process import Call


class Baseline:
    """What a program that was really started (and imported the warm modules) would find."""

    modules: frozenset[str] = frozenset()
    """names in sys.modules"""
    shadowable: frozenset[str] = frozenset()
    """top-level modules that only the warm list loaded; a file of that name beside a program would have won"""
    early_directories: tuple[str, ...] = ()
    """entries of sys.path that are searched before the standard library"""
    library_places: tuple[str, ...] = ()
    """the others, each with a slash at its end"""
    stamps: tuple[tuple[str, int], ...] = ()
    """(directory, mtime in ns; 0 = absent) for every directory that a start looks at"""
    executable = ""
    executable_real = ""
    environment: dict[str, str] = {}
    """os.environ as the start left it"""
    added: dict[str, str] = {}
    """variables that a start itself adds (C locale coercion, site hooks) to `added_to`"""
    added_to: dict[str, str] | None = None
    process: list[Call] = []
    """what the imports have set in their process (see warm_process)"""
    observed: frozenset[str] = frozenset()
    """environment variables that warm modules read while they were imported"""
    path: list[str] = []
    adds_directory = True
    """sys.path gets the program's directory (not so with PYTHONSAFEPATH)"""
    meta_path: list[object] = []
    path_hooks: list[object] = []
    caches: frozenset[str] = frozenset()
    hooks: dict[str, object] = {}
    """sys attributes that a program may find changed by site hooks"""
    streams: tuple[tuple[str, str], ...] = ()
    """(encoding, errors) of stdin, stdout, stderr"""
    unbuffered = False
    thresholds = (700, 10, 10)
    main_loader: object = None
    is_main_usual = False
    """a new module has the names of a start's `__main__`, in their order, but for the last two"""
    is_settled = False
    """`settle` has done ahead what it can; otherwise each child does it all"""
    ours: dict[str, object] = {}
    """modules that a program shall not find; kept, because taking one down touches all that was in it"""
    executables: dict[tuple[str, str], str] = {}
    """(program, PATH) -> sys.executable, for names that no program can give another meaning"""
    replaced: tuple[object, ...] = ()
    """the template's own streams; kept for the same reason"""
    ready: tuple[dict[int, object], ...] = ()
    """for each standard descriptor: what it is (see `_kind`) -> the stream made for it ahead"""
    collections: list[int] = []
    null = 0
    """kind (see `_kind`) of /dev/null"""
    is_ready = False
    """the standard streams are the program's already; this is how the others are kept:"""
    other_input: object = None
    module_count = 0
    plain: Plan
    """for `become_plain`"""
    plain_names: dict[str, str] = {}
    """name of the interpreter -> sys.executable"""


class Plan:
    """How to run one program."""

    def __init__(self, kind: str, target: str, argv: list[str], rest: list[str]) -> None:
        self.kind = kind
        """ "file", "code" or "module" """
        self.target = target
        self.argv = argv
        """the request's, as they are"""
        self.rest = rest
        """arguments of the program itself"""
        self.place = ""
        """directory of the program's file"""
        self.unbuffered = False
        self.executable = ""
        self.environment: dict[str, str] = {}
        """the request's, for a real start"""
        self.main: dict[str, object] = {}
        self.baseline = Baseline()
        self.collections: list[int] = []
        """by the garbage collector, before the program ran"""
