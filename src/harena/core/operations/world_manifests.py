"""Operations on worlds."""

from __future__ import annotations

from harena.core.operations.operation import READ, WRITE, Operation
from harena.core.ports.world_manifests import WorldManifestOperations as Port
from harena.core.records.worlds import World, WorldMap, WorldsPage

NOUN = "world manifests"
_ALL = "/v1/world_manifests"
_ONE = f"{_ALL}/{{world}}"

CREATE = Operation(
    NOUN, "create", "POST", _ALL, WRITE, Port.create_world_manifest, World, body="WorldManifestBody", creates=True
)
LIST = Operation(NOUN, "list_worlds", "GET", _ALL, READ, Port.list_world_manifests, WorldsPage)
GET = Operation(NOUN, "get", "GET", _ONE, READ, Port.get_world_manifest, World)
MAP = Operation(NOUN, "map", "GET", f"{_ONE}/map", READ, Port.world_manifest_map, WorldMap)
DELETE = Operation(NOUN, "delete", "DELETE", _ONE, WRITE, Port.delete_world_manifest, frees=True)
OPERATIONS = (CREATE, LIST, GET, MAP, DELETE)
