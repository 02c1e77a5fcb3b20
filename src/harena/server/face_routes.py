"""Routes of other people's wires, made of their faces' tables as those of harena's own operations are.

The OpenAPI document does not have them: who speaks such a wire has a client of its own, and harena's clients are made
of the document.
"""

from __future__ import annotations

from typing import Annotated, Any

from harena.faces.dreadnode.routes import FACE as DREADNODE
from harena.faces.face import Face
from harena.scoring.bounds import AtMost
from harena.server.table_routes import JsonBody, TableRoutes

FACES: tuple[Face, ...] = (DREADNODE,)
"""the wires that this server speaks beside its own"""
FaceBody = Annotated[dict[str, Any], AtMost(100)]
"""a JSON object, which the face checks"""


def _routes_of(face: Face) -> TableRoutes:
    bodies = {operation: JsonBody(FaceBody, check) for operation, check in face.requests.items()}
    return TableRoutes(face.operations, bodies, port=face.port, documented=False)


FACE_ROUTES: tuple[TableRoutes, ...] = tuple(_routes_of(face) for face in FACES)
"""every face's routes"""
