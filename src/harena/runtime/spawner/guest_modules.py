"""What is sent into a template: the few modules that run there, and the lines that load them.

Modules go compiled, without docstrings, if the image's interpreter is of the same version, and as source besides:
a template that compiles nothing is smaller, and every sandbox is a copy of it.
"""

from __future__ import annotations

import functools
import marshal
import os
from _frozen_importlib_external import MAGIC_NUMBER

from harena.core.kept_code import kept_code

MODULES = (
    "harena.runtime.guest.warm_state",  # imports nothing
    "harena.runtime.guest.warm",  # then this one: it notes which modules a program would find
    "harena.runtime.guest.warm_plan",
    "harena.runtime.guest.warm_frames",
    "harena.runtime.guest.warm_source",
    "harena.runtime.guest.warm_process",
    "harena.runtime.guest.warm_end",
    "harena.runtime.kernel.syscalls",
    "harena.runtime.kernel.proc_files",
    "harena.runtime.kernel.namespaces",
    "harena.runtime.kernel.numbers",
    "harena.runtime.kernel.machine_code",
    "harena.runtime.kernel.mappings",
    "harena.runtime.kernel.batch",
    "harena.runtime.kernel.mounts",
    "harena.runtime.kernel.privileges",
    "harena.runtime.kernel.seccomp",
    "harena.runtime.kernel.network",
    "harena.runtime.kernel.signals",
    "harena.runtime.guest.wire",
    "harena.runtime.guest.host_trees",
    "harena.runtime.guest.launch",
    "harena.runtime.fast_path.fast_path_code",
    "harena.runtime.fast_path.fast_path",
    "harena.runtime.guest.programs",
    "harena.runtime.guest.links",
    "harena.runtime.guest.files",
    "harena.runtime.guest.users",
    "harena.runtime.guest.trees",
    "harena.runtime.guest.init",
    "harena.runtime.guest.template",
)

# Descriptor 4 holds this text, then the modules. `harena` and its packages are empty modules here: nothing of the real
# package exists in an image.
LOADER = """\
def load():
    import marshal, os, sys
    import _frozen_importlib_external
    chunks = []
    while True:
        chunk = os.read(4, 1 << 20)
        if not chunk:
            break
        chunks.append(chunk)
    os.close(4)
    kind = type(sys)
    for room in ("", ".runtime", ".runtime.kernel", ".runtime.guest", ".runtime.fast_path"):
        name = "harena" + room
        package = kind(name)
        package.__path__ = []
        sys.modules[name] = package
        parent, _, leaf = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], leaf, package)
    magic, compiled, sources = marshal.loads(b"".join(chunks))
    same = magic == _frozen_importlib_external.MAGIC_NUMBER
    for name, code in marshal.loads(compiled if same else sources):
        module = kind(name)
        module.__file__ = "<" + name + ">"
        sys.modules[name] = module
        parent, _, leaf = name.rpartition(".")
        setattr(sys.modules[parent], leaf, module)
        if not same:
            code = compile(code, module.__file__, "exec", dont_inherit=True, optimize=2)
        exec(code, module.__dict__)
    return sys.modules["harena.runtime.guest.template"].serve, sys.modules["harena.runtime.guest.warm"].execute
serve, execute = load()
"""

# Runs at the top of `python3 -c`, so that a warm program has as few frames above it as can be. It is short because the
# interpreter lets go of what it has parsed when it comes back here, in each warm child: that writes to its pages.
BOOTSTRAP = f"import os\nexec(os.read(4, {len(LOADER)}))\nexecute(serve()())\n"


@functools.cache
def bundle() -> bytes:
    """The loader and the modules, as BOOTSTRAP reads them."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sources = []
    for name in MODULES:
        with open(os.path.join(package, *name.split(".")[1:]) + ".py", encoding="utf-8") as file:
            sources.append((name, file.read()))
    plain = marshal.dumps(sources, 2)
    compiled = kept_code(__file__, plain, lambda: _compiled(sources))
    return LOADER.encode() + marshal.dumps((MAGIC_NUMBER, compiled, plain), 2)


def _compiled(sources: list[tuple[str, str]]) -> bytes:
    made = [(name, compile(source, f"<{name}>", "exec", dont_inherit=True, optimize=2)) for name, source in sources]
    return marshal.dumps(made)
