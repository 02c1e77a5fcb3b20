"""Operations on builds of images."""

from __future__ import annotations

from harena.core.operations.operation import READ, WRITE, Operation
from harena.core.operations.sandboxes import OCTETS
from harena.core.ports.image_builds import ImageBuildOperations as Port
from harena.core.records.image_builds import ImageBuild

NOUN = "image builds"
_ALL = "/v1/image_builds"
_ONE = f"{_ALL}/{{build}}"
_UPSTREAM = frozenset({501, 502})
"""the disk, or what unpacks layers, is at fault"""

BUILD = Operation(
    NOUN, "build", "POST", _ALL, WRITE, Port.build_image, ImageBuild, body=OCTETS, starts_work=True, errors=_UPSTREAM
)
GET = Operation(
    NOUN,
    "get",
    "GET",
    _ONE,
    READ,
    Port.get_image_build,
    ImageBuild,
    waits=lambda port, build: port.wait_image_build(build),
)
CANCEL = Operation(NOUN, "cancel", "POST", f"{_ONE}/cancel", WRITE, Port.cancel_image_build, ImageBuild)
EVENTS = Operation(NOUN, "events", "GET", f"{_ONE}/events", READ, Port.image_build_events, "text/event-stream")
OPERATIONS = (BUILD, GET, CANCEL, EVENTS)
