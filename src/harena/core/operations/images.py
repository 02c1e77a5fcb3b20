"""Operations on images."""

from __future__ import annotations

from harena.core.operations.operation import ADMIN, READ, WRITE, Operation
from harena.core.operations.sandboxes import OCTETS, TAR
from harena.core.ports.images import ImageOperations as Port
from harena.core.records.images import CollectedImages, Image, ImagePull, ImagesPage

NOUN = "images"
_ALL = "/v1/images"
_ONE = f"{_ALL}/{{image}}"
_PULLS = "/v1/image_pulls"
_PULL = f"{_PULLS}/{{pull}}"
_UPSTREAM = frozenset({501, 502})
"""skopeo is missing; the registry or the image is at fault"""

LIST = Operation(NOUN, "list_images", "GET", _ALL, READ, Port.list_images, ImagesPage, errors=_UPSTREAM)
IMPORT = Operation(
    NOUN, "import_image", "POST", _ALL, WRITE, Port.import_image, Image, body=OCTETS, starts_work=True, errors=_UPSTREAM
)
COLLECT = Operation(
    NOUN, "collect", "POST", f"{_ALL}/collect", ADMIN, Port.collect_images, CollectedImages, errors=_UPSTREAM
)
GET = Operation(NOUN, "get_image", "GET", _ONE, READ, Port.get_image, Image)
REMOVE = Operation(NOUN, "remove_image", "DELETE", _ONE, WRITE, Port.remove_image)
EXPORT = Operation(NOUN, "export_image", "GET", f"{_ONE}/archive", READ, Port.export_image, TAR, errors=_UPSTREAM)
PULL = Operation(NOUN, "pull", "POST", _PULLS, WRITE, Port.pull_image, ImagePull, starts_work=True, errors=_UPSTREAM)
GET_PULL = Operation(
    NOUN,
    "get_pull",
    "GET",
    _PULL,
    READ,
    Port.get_image_pull,
    ImagePull,
    waits=lambda port, pull: port.wait_image_pull(pull),
)
CANCEL = Operation(NOUN, "cancel_pull", "POST", f"{_PULL}/cancel", WRITE, Port.cancel_image_pull, ImagePull)
EVENTS = Operation(NOUN, "pull_events", "GET", f"{_PULL}/events", READ, Port.image_pull_events, "text/event-stream")
OPERATIONS = (LIST, IMPORT, COLLECT, GET, REMOVE, EXPORT, PULL, GET_PULL, CANCEL, EVENTS)
