"""Images that are built anew, in another home and at another time: one digest where that is asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from image_trees import PROGRAMS, archive_of, put_programs

DOCKERFILE = """\
FROM debian:12
COPY f /copied/
RUN mkdir -p /made/deep && echo one > /made/one && ln -s one /made/link && ln /made/one /made/hard \\
 && rm /etc/gone && chmod 700 /made/deep && echo more >> /etc/changed
RUN touch -d @1000000000 /made/old && touch /made/new && touch -d @4000000000 /made/future && rm -r /copied
"""
EPOCH = 1_700_000_000
BUILDS = """
import json, sys
from pathlib import Path
import harena
from harena import HarenaError, Sandbox

place, epoch = Path(sys.argv[1]), sys.argv[2]
harena.images.import_archive("debian:12", place / "root.tar")

def built(**arguments):
    return harena.images.build(place / "context", build_args=arguments, use_cache=False).image

said = {"at": [built(SOURCE_DATE_EPOCH=epoch), built(SOURCE_DATE_EPOCH=epoch)], "plain": [built(), built()]}
said["other"] = built(SOURCE_DATE_EPOCH=str(int(epoch) + 1))
again = harena.images.build(place / "context", build_args={"SOURCE_DATE_EPOCH": epoch})
said["cached"] = [again.image, again.steps_cached]
with Sandbox.run(container_image=said["at"][0]) as sandbox:
    looks = "cd /made; stat -c '%n %Y' old new future one hard deep; stat -c %a deep; stat -c '%a %h' one;"
    looks += "cat link /etc/changed"
    said["times"] = sandbox.exec(["sh", "-c", looks], check=True).result().stdout.splitlines()
for wrong in ("", "x", "-1", "1.5", "9" * 12):
    try:
        built(SOURCE_DATE_EPOCH=wrong)
    except HarenaError as error:
        said.setdefault("wrong", []).append(str(error))
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the program above has found in two homes."""
    place, tree = tmp_path_factory.mktemp("place"), tmp_path_factory.mktemp("tree")
    put_programs(tree, (*PROGRAMS, "touch"))
    for name in ("gone", "changed"):
        (tree / "etc" / name).write_text(f"{name}\n")
    archive_of(tree, place / "root.tar")
    (place / "context").mkdir()
    (place / "context/f").write_text("file\n")
    (place / "context/Dockerfile").write_text(DOCKERFILE)
    found = []
    for number in range(2):
        ended = subprocess.run(
            [sys.executable, "-c", BUILDS, str(place), str(EPOCH)],
            env={**os.environ, "HARENA_HOME": str(place / f"home-{number}")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        found.append(json.loads(ended.stdout))
    return found


def test_images_of_one_time_are_one(said: list[dict[str, Any]]) -> None:
    """Made anew, in this home and in another one; without the argument times make them others."""
    assert len({image for home in said for image in home["at"]}) == 1
    assert len({image for home in said for image in home["plain"]}) == 4
    assert said[0]["other"] == said[1]["other"] != said[0]["at"][0]


def test_a_time_is_of_its_own_in_the_cache(said: list[dict[str, Any]]) -> None:
    """What was built for another time, or for none, is not taken in its place."""
    assert said[0]["cached"] == [said[0]["at"][0], 3]


def test_times_are_bounded_and_nothing_else_is_changed(said: list[dict[str, Any]]) -> None:
    """An older one stays; later ones, folders' and links' among them, are the argument's."""
    *lines, deep, one, link, first, second = said[0]["times"]
    times = dict(line.split() for line in lines)
    assert times == {"old": "1000000000"} | dict.fromkeys(("new", "future", "one", "hard", "deep"), str(EPOCH))
    assert (deep, one, link, first, second) == ("700", "644 2", "one", "changed", "more")


def test_what_is_no_time_is_told(said: list[dict[str, Any]]) -> None:
    assert len(said[0]["wrong"]) == 5
    assert all("SOURCE_DATE_EPOCH must be a whole number of seconds" in words for words in said[0]["wrong"])
