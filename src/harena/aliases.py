"""Importing this makes `aviato`, `cwsandbox`, `runloop` and `dreadnode` importable as other names of harena.

A name that a really installed package has is left alone, with a warning; `harena.install_aliases` can force it.
"""

from __future__ import annotations

import warnings

from harena.alias_modules import NAMES, install_aliases, is_really_installed

installed: list[str] = []
"""the names that now mean harena"""

for _name in NAMES:
    if is_really_installed(_name):
        warnings.warn(
            f"a package named {_name!r} is installed and stays what it is: install_aliases({_name!r}, force=True) "
            "puts harena in its place",
            stacklevel=2,
        )
    else:
        installed.extend(install_aliases(_name))
