"""Write the reference that is made from the code: python scripts/reference.py [FOLDER], by default docs/reference.

    sdk.md        public names of `harena`: signatures, fields and docstrings, from the source
    cli.md        every command with its arguments and options, from the parser
    settings.md   environment variables and limits, from harena.core.settings and harena.core.workspace
    errors.md     exceptions, reasons and exit codes, from harena.core.errors, .reasons and .problems
    http.md       every route, from the OpenAPI document
    openapi.json  that document itself

`make reference` runs it, and tests/unit/test_reference_pages.py fails when a file is not what it would write.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import reference_cli  # noqa: E402
import reference_errors  # noqa: E402
import reference_http  # noqa: E402
import reference_sdk  # noqa: E402
import reference_settings  # noqa: E402

from harena.server import document  # noqa: E402

PAGES: dict[str, Callable[[], str]] = {
    "sdk.md": reference_sdk.page,
    "cli.md": reference_cli.page,
    "settings.md": reference_settings.page,
    "errors.md": reference_errors.page,
    "http.md": reference_http.page,
    "openapi.json": document.text,
}
"""file -> what it holds"""


def main(words: Sequence[str]) -> int:
    """Write all of it."""
    folder = Path(words[0]) if words else ROOT / "docs" / "reference"
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
