"""What is wrong with a blueprint is said before anything is installed or recorded."""

from __future__ import annotations

import keyword
import posixpath
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from harena.core.checked import checked_text, encodable, quote
from harena.core.errors import ValidationError
from harena.core.images import parse_reference
from harena.core.profiles import Profile
from harena.core.snapshots import checked_snapshot, snapshot_in
from harena.runtime.host.blueprint_listings import NAME
from harena.runtime.host.blueprint_records import ID_PREFIX


def check_blueprint(
    name: str,
    image: str,
    files: Mapping[str, object],
    env: Mapping[str, object],
    warm: Sequence[str] | None,
    *,
    is_built_in: bool,
) -> None:
    """Everything that can be wrong before anything is done."""
    from harena.runtime.host.image import is_default

    if not isinstance(name, str) or not NAME.fullmatch(name) or name.startswith(ID_PREFIX):
        raise ValidationError(
            f"blueprint name {name!r}: use 1 to 64 letters, digits, dots, dashes and underscores, "
            f"a letter or digit first, and not {ID_PREFIX!r} at the start, which marks ids"
        )
    if is_built_in:
        raise ValidationError(f"blueprint {name!r} is built in and cannot be made anew: choose another name")
    has_read_only_places = is_default(checked_text(image, "image"))
    for path, content in files.items():
        if not path.startswith("/") or "\0" in path or path.endswith("/"):
            raise ValidationError(f"blueprint file {path!r}: give the absolute path of a file inside the sandbox")
        encodable(path, "blueprint file")
        if not isinstance(content, bytes):
            raise ValidationError(f"blueprint file {path!r}: give its content as bytes, not {type(content).__name__}")
        if has_read_only_places:
            _check_writable(path)
    for key, value in env.items():
        if not key or "=" in key or "\0" in key or not isinstance(value, str) or "\0" in value:
            raise ValidationError(f"blueprint environment variable {key!r}: names without '=', and text as values")
        encodable(key, "blueprint environment variable")
        encodable(value, f"blueprint environment variable {key}")
    if isinstance(warm, str):
        raise ValidationError(f"warm must be a list of module names, not the string {warm!r}")
    for module in warm or ():
        if not all(part.isidentifier() and not keyword.iskeyword(part) for part in module.split(".")):
            raise ValidationError(f"warm module {module!r} is not the name of a module, like 'numpy' or 'os.path'")


def check_image(image: str, packages: Sequence[str], warm: Sequence[str] | None, profile: Profile) -> None:
    """Whether the image can be had is told when the first sandbox is made: it may be pulled until then."""
    from harena.runtime.host.image import is_default

    if is_default(image):
        if profile == "machine":
            raise ValidationError(
                "profile: only blueprints of an image can be `machine`; name an image, or leave the profile out"
            )
        return
    snapshot = snapshot_in(image)
    if snapshot is None:
        parse_reference(image)
    else:
        checked_snapshot(snapshot)
    if packages:
        raise ValidationError(
            f"blueprint of image {image!r}: packages are installed beside the default image's interpreter only; leave "
            "them out, and use an image that has them"
        )
    if warm is not None:
        raise ValidationError(
            f"blueprint of image {image!r}: only programs of the default image's interpreter can be kept warm; leave "
            "`warm` out"
        )


def check_modules_exist(warm: Sequence[str], packages: Path | None, requested: Sequence[str]) -> None:
    """Modules that are kept warm are there, in the standard library or in packages. Raises ValidationError."""
    for module in warm:
        top = module.partition(".")[0]
        if not (top in sys.stdlib_module_names or (packages and _holds(packages, top)) or find_spec(top)):
            asked = ", ".join(requested) or "none"
            raise ValidationError(
                f"warm module {module!r} is neither in the standard library nor in the packages that were asked for "
                f"({asked}): add the package that has it"
            )


def kept_text(text: str, field: str, most: int) -> str:
    """A text that is kept with a blueprint. Raises ValidationError for one that is too long."""
    if not isinstance(text, str) or len(text) > most:
        raise ValidationError(f"{field}: must be a text of at most {most} characters")
    return encodable(text, field)


def _check_writable(path: str) -> None:
    """A blueprint's files are written when a sandbox starts, by a process that has no more rights than its programs."""
    from harena.runtime.guest.launch import WRITABLE_PLACES

    if not any(posixpath.normpath(path).startswith(f"{place}/") for place in WRITABLE_PLACES):
        raise ValidationError(
            f"blueprint file {quote(path)}: a sandbox can be written to below {', '.join(sorted(WRITABLE_PLACES))} "
            "only; put the file there"
        )


def _holds(packages: Path, module: str) -> bool:
    return (packages / module).is_dir() or any(
        (packages / f"{module}{suffix}").is_file() for suffix in (".py", *EXTENSION_SUFFIXES)
    )
