"""What is sent into a template: the sources of the modules that run there, and the few lines that load them."""

from __future__ import annotations

import functools
import marshal
import os

MODULES = (
    "harena.runtime.warm",  # first: it notes which modules a program would find
    "harena.runtime.kernel.syscalls",
    "harena.runtime.kernel.namespaces",
    "harena.runtime.kernel.mounts",
    "harena.runtime.kernel.privileges",
    "harena.runtime.kernel.seccomp",
    "harena.runtime.kernel.network",
    "harena.runtime.kernel.signals",
    "harena.runtime.launch",
    "harena.runtime.files",
    "harena.runtime.trees",
    "harena.runtime.init",
    "harena.runtime.template",
)

# Runs at the top of `python3 -c`, so that a warm program has as few frames above it as can be. Descriptor 4 holds
# the sources. `harena` and its packages are empty modules here: nothing of the real package exists in an image.
BOOTSTRAP = """\
def load():
    import marshal, os, sys
    chunks = []
    while True:
        chunk = os.read(4, 1 << 20)
        if not chunk:
            break
        chunks.append(chunk)
    os.close(4)
    kind = type(sys)
    for name in ("harena", "harena.runtime", "harena.runtime.kernel"):
        package = kind(name)
        package.__path__ = []
        sys.modules[name] = package
    sys.modules["harena"].runtime = sys.modules["harena.runtime"]
    sys.modules["harena.runtime"].kernel = sys.modules["harena.runtime.kernel"]
    for name, source in marshal.loads(b"".join(chunks)):
        module = kind(name)
        module.__file__ = "<" + name + ">"
        sys.modules[name] = module
        parent, _, leaf = name.rpartition(".")
        setattr(sys.modules[parent], leaf, module)
        exec(compile(source, module.__file__, "exec", dont_inherit=True), module.__dict__)
    return sys.modules["harena.runtime.template"].serve, sys.modules["harena.runtime.warm"].execute
serve, execute = load()
execute(serve())
"""


@functools.cache
def bundle() -> bytes:
    """The sources, as what BOOTSTRAP reads."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sources = []
    for name in MODULES:
        with open(os.path.join(package, *name.split(".")[1:]) + ".py", encoding="utf-8") as file:
            sources.append((name, file.read()))
    return marshal.dumps(sources, 2)
