"""Images are pulled once and kept by their digests, whatever the registry, the disk or a signal does meanwhile."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from image_world import (
    INDEX,
    MANIFEST,
    FakeRegistry,
    Made,
    digest,
    fake_registry,
    log_in,
    made,
    needed,
    packed,
    push,
    real_registry,
    small,
)
from layer_tars import link, member, tar

from harena.core import settings
from harena.core.clock import SystemClock
from harena.core.errors import HostUnsupportedError, ImagePullError, NotFoundError, ValidationError
from harena.core.images import image_id, parse_reference
from harena.core.records.images import ImageRoot, PullState
from harena.image_store import pulls
from harena.image_store.assembling import Assembler, Progress
from harena.image_store.images import Images

PULLER = Path(__file__).with_name("image_puller.py")


class Hurried(SystemClock):
    """Pauses between tries take no time."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0 if seconds > 0.3 else seconds)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeRegistry]:
    needed("skopeo")
    with fake_registry() as found:
        monkeypatch.setenv("HARENA_REGISTRIES_WITHOUT_TLS", found.host)
        yield found


@pytest.fixture
async def images(tmp_path: Path) -> AsyncIterator[Images]:
    found = Images(tmp_path / "images", Hurried(), for_server=False)
    yield found
    await found.close()


async def imported(images: Images, reference: str, image: Made, folder: Path) -> None:
    async def archive() -> AsyncIterator[bytes]:
        yield packed(image.layout(folder))

    await images.import_("default", reference, archive())


def with_address(image: Made, address: str, name: str) -> Made:
    """An image whose configuration is to be downloaded from an address."""
    manifest = json.loads(image.manifest)
    manifest["config"][name] = [address]
    content = json.dumps(manifest).encode()
    return Made(content, {**image.blobs, digest(content): content}, image.layers)


def files(root: ImageRoot) -> dict[str, str]:
    """What a program sees, as far as whiteouts need not be known."""
    seen: dict[str, str] = {}
    for layer in root.layers:
        for path in sorted(layer.rglob("*")):
            if path.is_file():
                seen.setdefault(str(path.relative_to(layer)), path.read_text())
    return seen


def left(home: Path) -> list[str]:
    """What is in the work folder of a store."""
    return os.listdir(home / "work")


class TestPulls:
    """What a registry has comes whole."""

    async def test_from_a_real_registry(self, images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Layers in their order, and all that the configuration says, with a user and a password."""
        image = made(
            tar(member("etc/a", b"1"), member("etc/b", b"1")),
            tar(member("etc/.wh.a", b""), member("etc/b", b"2"), link("l", "etc/b")),
            config={
                "Env": ["PATH=/bin", "A=b=c"], "WorkingDir": "/w", "User": "www-data:1",
                "Entrypoint": ["/e"], "Cmd": ["c"],
            },
        )  # fmt: skip
        with real_registry(tmp_path, with_password=True) as host:
            monkeypatch.setenv("HARENA_REGISTRIES_WITHOUT_TLS", host)
            push(image, tmp_path / "layout", f"{host}/some/env:1", password=True)
            with pytest.raises(ImagePullError, match="skopeo login") as refused:
                await images.root_of("default", f"{host}/some/env:1")
            assert refused.value.reason == "REGISTRY_ACCESS"
            monkeypatch.setenv("HARENA_REGISTRY_AUTH_FILE", str(tmp_path / "auth.json"))
            log_in(host, tmp_path / "auth.json")
            root = await images.root_of("default", f"{host}/some/env:1")
            with pytest.raises(NotFoundError):
                await images.root_of("default", f"{host}/some/env:2")
        assert root.digest == image.digest
        assert (root.layers[0] / "etc/b").read_text() == "2"
        assert (root.layers[1] / "etc/b").read_text() == "1"
        assert (root.layers[0] / "etc/a").is_char_device()
        assert root.environment == {"PATH": "/bin", "A": "b=c"}
        assert (root.workdir, root.user, root.entrypoint, root.command) == ("/w", "www-data:1", ("/e",), ("c",))
        assert root.keeps_owners == (os.geteuid() == 0)
        (told,) = (await images.page("default", limit=10, cursor=None)).images
        assert (told.reference, told.layers, told.created_at) == (f"{host}/some/env:1", 2, "2026-01-02T03:04:05Z")
        assert left(tmp_path / "images") == []

    async def test_a_tag_is_resolved_once(self, images: Images, registry: FakeRegistry) -> None:
        """Until it is pulled again: then it is what the registry has now."""
        name = f"{registry.host}/env:1"
        registry.put("env", "1", small("old"))
        assert files(await images.root_of("default", name)) == {"etc/text": "old"}
        registry.put("env", "1", small("new"))
        asked = len(registry.asked)
        assert files(await images.root_of("default", name)) == {"etc/text": "old"}
        assert len(registry.asked) == asked
        pull = await images.pull("default", name, refresh=False)
        assert pull.state is PullState.DONE
        pull = await images.wait_pull("default", (await images.pull("default", name, refresh=True)).id)
        assert pull.state is PullState.DONE
        assert files(await images.root_of("default", name)) == {"etc/text": "new"}

    async def test_layers_are_shared(self, images: Images, registry: FakeRegistry, tmp_path: Path) -> None:
        """What two images have in common is downloaded and unpacked once."""
        base = tar(member("base", b"1"))
        one, two = made(base, tar(member("one", b"1"))), made(base, tar(member("two", b"2")))
        registry.put("one", "latest", one)
        registry.put("two", "latest", two)
        first = await images.root_of("default", f"{registry.host}/one")
        second = await images.root_of("default", f"{registry.host}/two")
        assert first.layers[-1] == second.layers[-1]
        assert registry.blob_requests(one.layers[0]) == 1
        assert len(os.listdir(tmp_path / "images/layers")) == 3

    async def test_two_at_once_are_one(self, images: Images, registry: FakeRegistry, tmp_path: Path) -> None:
        """Of two workspaces, and of two processes."""
        registry.put("env", "1", image := small())
        name = f"{registry.host}/env:1"
        command = [sys.executable, str(PULLER), str(tmp_path / "images"), name]
        other = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        roots = await asyncio.gather(*(images.root_of(workspace, name) for workspace in ("a", "b", "a")))
        said, _ = await other.communicate()
        assert said.splitlines()[-1].startswith(b"done")
        assert len({root.layers for root in roots}) == 1
        assert registry.blob_requests(image.layers[0]) == 1
        assert (await images.get("b", name)).digest == image.digest

    async def test_nobody_sees_what_others_have(self, images: Images, registry: FakeRegistry) -> None:
        """Not by name, nor by digest, nor by asking for it with its digest while the registry refuses."""
        registry.put("secret", "1", image := small())
        await images.root_of("owner", f"{registry.host}/secret:1")
        pull = await images.pull("owner", f"{registry.host}/secret:1", refresh=True)
        for asked in (image.digest, image_id(parse_reference(f"{registry.host}/secret:1"))):
            with pytest.raises(NotFoundError):
                await images.get("other", asked)
        with pytest.raises(NotFoundError):
            await images.wait_pull("other", pull.id)
        await images.wait_pull("owner", pull.id)
        registry.answer = lambda path: (404, b"{}") if "/manifests/" in path else None
        with pytest.raises(NotFoundError):
            await images.root_of("other", f"{registry.host}/secret@{image.digest}")

    async def test_the_platform_of_an_index(self, images: Images, registry: FakeRegistry) -> None:
        """Of several platforms that of this machine is taken; a digest may be the index's, too."""
        image = small()
        foreign = {"mediaType": MANIFEST, "digest": digest(b"other"), "size": 5, "platform": {"os": "plan9"}}
        system, _, architecture = "linux", "", json.loads(image.blobs[json.loads(image.manifest)["config"]["digest"]])
        platform = {"os": system, "architecture": architecture["architecture"]}
        ours = {"mediaType": MANIFEST, "digest": image.digest, "size": 1, "platform": platform}
        index = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": [foreign, ours]}).encode()
        registry.put("env", "only", image)
        registry.manifests["env/1"] = registry.manifests[f"env/{digest(index)}"] = index
        root = await images.root_of("default", f"{registry.host}/env@{digest(index)}")
        assert root.digest == image.digest
        nothing = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": [foreign]}).encode()
        registry.manifests["env/2"] = nothing
        with pytest.raises(NotFoundError, match="plan9"):
            await images.root_of("default", f"{registry.host}/env:2")

    async def test_mirrors(self, images: Images, registry: FakeRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
        """The mirror is asked first; what it does not have comes from the registry."""
        monkeypatch.setenv("HARENA_REGISTRY_MIRRORS", f"docker.io={registry.host}/hub,{registry.host}=localhost:1")
        registry.put("hub/library/env", "1", small("mirrored"))
        registry.put("own", "1", small("own"))
        root = await images.root_of("default", "env:1")
        assert files(root) == {"etc/text": "mirrored"}
        assert (await images.get("default", "env:1")).reference == "docker.io/library/env:1"
        assert files(await images.root_of("default", f"{registry.host}/own:1")) == {"etc/text": "own"}

    async def test_many_layers(self, images: Images, registry: FakeRegistry) -> None:
        """As many as an image with a long history has; layers that come twice are unpacked once."""
        layers = [tar(member("same", b"x")), *(tar(member("n", str(n).encode())) for n in range(12))]
        registry.put("env", "1", made(*layers, layers[0]))
        root = await images.root_of("default", f"{registry.host}/env:1")
        assert len(root.layers) == 14
        assert root.layers[0] == root.layers[-1]
        assert files(root) == {"same": "x", "n": "11"}


class TestFaults:
    """One clear error each, nothing left, and the next pull succeeds."""

    async def test_a_registry_that_is_down(self, images: Images, registry: FakeRegistry, tmp_path: Path) -> None:
        """It is asked several times."""
        down = "localhost:1/env"
        with pytest.raises(ImagePullError, match="cannot be reached") as error:
            await images.root_of("default", down)
        assert error.value.reason == "REGISTRY"
        assert left(tmp_path / "images") == []

    async def test_a_registry_that_stumbles(self, images: Images, registry: FakeRegistry) -> None:
        """A fault that passes is survived."""
        registry.put("env", "1", small())
        stumbles = [(503, b"busy")] * 2
        registry.answer = lambda path: stumbles.pop() if stumbles and "/manifests/" in path else None
        await images.root_of("default", f"{registry.host}/env:1")
        assert stumbles == []

    @pytest.mark.parametrize(
        ("status", "said", "reason"),
        [(401, b"{}", "REGISTRY_ACCESS"), (403, b"{}", "REGISTRY_ACCESS"), (500, b"{}", "REGISTRY")],
    )
    async def test_answers_that_refuse(
        self, images: Images, registry: FakeRegistry, status: int, said: bytes, reason: str
    ) -> None:
        """Each has its reason."""
        registry.answer = lambda path: (status, said)
        with pytest.raises(ImagePullError) as error:
            await images.root_of("default", f"{registry.host}/env:1")
        assert error.value.reason == reason

    @pytest.mark.parametrize(
        "said",
        [
            b'{"errors":[{"code":"TOOMANYREQUESTS","message":"You have reached your pull rate limit."}]}',
            b"<html>slow down</html>",
            b"",
        ],
        ids=["docker-hub", "a-proxy", "nothing"],
    )
    @pytest.mark.parametrize("of", ["/manifests/", "/blobs/"])
    async def test_a_registry_that_answers_no_more_requests(
        self, images: Images, registry: FakeRegistry, tmp_path: Path, of: str, said: bytes
    ) -> None:
        """429 is told as that, with what helps, whatever its body says and whichever request it answers; when the limit
        is over, the image comes."""
        registry.put("env", "1", small())
        registry.headers = {"retry-after": "0"}
        registry.answer = lambda path: (429, said) if of in path else None
        with pytest.raises(ImagePullError, match="answers no more requests for now: wait, log in") as error:
            await images.root_of("default", f"{registry.host}/env:1")
        assert error.value.reason == "REGISTRY_RATE"
        assert settings.REGISTRY_MIRRORS.name in str(error.value)
        assert left(tmp_path / "images") == []
        registry.answer = lambda path: None
        assert files(await images.root_of("default", f"{registry.host}/env:1")) == {"etc/text": "hello"}

    async def test_what_is_no_manifest(self, images: Images, registry: FakeRegistry) -> None:
        """A registry that sends something else, or another manifest than was asked for."""
        registry.manifests["env/1"] = b"<html>"
        with pytest.raises(ImagePullError, match="no JSON"):
            await images.root_of("default", f"{registry.host}/env:1")
        other = digest(b"other")
        registry.manifests[f"env/{other}"] = small().manifest
        with pytest.raises(ImagePullError, match="digest"):
            await images.root_of("default", f"{registry.host}/env@{other}")

    async def test_a_layer_that_is_had_elsewhere_only(self, images: Images, registry: FakeRegistry) -> None:
        """It is named in words, and its address is not asked."""
        told = small()
        manifest = json.loads(told.manifest)
        kind = "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip"
        manifest["layers"][0] |= {"mediaType": kind, "urls": [f"http://{registry.host}/elsewhere"]}
        content = json.dumps(manifest).encode()
        registry.put("env", "1", Made(content, {**told.blobs, digest(content): content}, told.layers))
        with pytest.raises(ImagePullError, match="does not give away") as error:
            await images.root_of("default", f"{registry.host}/env:1")
        assert error.value.reason == "IMAGE_BROKEN"

    @pytest.mark.parametrize("name", ["urls", "URLS", "url\u017f"])
    async def test_an_address_of_the_configuration_is_not_asked(
        self, images: Images, registry: FakeRegistry, name: str
    ) -> None:
        """skopeo would ask it as the node's user, in whatever letters it stands."""
        registry.put("env", "1", with_address(small(), f"http://{registry.host}/elsewhere", name))
        with pytest.raises(ImagePullError, match="nothing is downloaded") as error:
            await images.root_of("default", f"{registry.host}/env:1")
        assert error.value.reason == "IMAGE_BROKEN"
        assert "/elsewhere" not in registry.asked

    async def test_a_blob_that_is_another(self, images: Images, registry: FakeRegistry, tmp_path: Path) -> None:
        """What a registry sends under a wrong digest never gets into the store."""
        registry.put("env", "1", image := small())
        content = registry.blobs[image.layers[0]]
        registry.blobs[image.layers[0]] = bytes(len(content))
        with pytest.raises(ImagePullError) as error:
            await images.root_of("default", f"{registry.host}/env:1")
        assert error.value.reason == "IMAGE_BROKEN"
        assert not (tmp_path / "images/blobs/sha256" / image.layers[0][7:]).exists()
        registry.blobs[image.layers[0]] = content
        await images.root_of("default", f"{registry.host}/env:1")

    async def test_a_blob_that_was_damaged_here(self, images: Images, registry: FakeRegistry, tmp_path: Path) -> None:
        """It is found by its digest while it is unpacked, and downloaded again."""
        one, two = made(tar(member("a", b"1"))), made(tar(member("a", b"1")), tar(member("b", b"2")))
        registry.put("one", "1", one)
        registry.put("two", "1", two)
        await images.root_of("default", f"{registry.host}/one:1")
        await images.remove("default", f"{registry.host}/one:1")
        blob = tmp_path / "images/blobs/sha256" / one.layers[0][7:]
        blob.write_bytes(bytes(100))
        os.utime(blob)
        assert len((await images.root_of("default", f"{registry.host}/two:1")).layers) == 2
        assert digest(blob.read_bytes()) == one.layers[0]
        assert registry.blob_requests(one.layers[0]) == 2

    @pytest.mark.parametrize(
        ("image", "words"),
        [
            (made(tar(member("../../etc/x", b"1"))), "climbs"),
            (made(tar(link("h", "/etc/passwd", hard=True))), "hard link"),
            (made(b"no tar at all" * 100), "header"),
            (small(diff_ids=[digest(b"other")]), "configuration says"),
            (small(diff_ids=[]), "number of layers"),
            (small(config={"Env": "PATH"}), "Env"),
        ],
        ids=["climbs", "hard-link", "garbage", "diff-id", "no-layers", "config"],
    )
    async def test_broken_images(
        self, images: Images, registry: FakeRegistry, tmp_path: Path, image: Made, words: str
    ) -> None:
        """They are refused in words that name what is wrong."""
        registry.put("env", "1", image)
        with pytest.raises(ImagePullError, match=words) as error:
            await images.root_of("default", f"{registry.host}/env:1")
        assert error.value.reason == "IMAGE_BROKEN"
        assert os.listdir(tmp_path / "images/images") == []
        assert left(tmp_path / "images") == []

    @pytest.mark.parametrize(
        "said", [{"Env": ["A=" + "x" * 200_000]}, {"WorkingDir": "/x" * 17}, {"WorkingDir": "x" * 201}]
    )
    async def test_what_is_too_large_in_a_configuration(
        self, images: Images, registry: FakeRegistry, said: dict[str, Any]
    ) -> None:
        """Each sandbox would take it."""
        registry.put("large", "1", small(config=said))
        with pytest.raises(ImagePullError, match=next(iter({"Env": "ENV"}.get(key, "WORKDIR") for key in said))):
            await images.root_of("default", f"{registry.host}/large:1")

    async def test_bombs(self, images: Images, registry: FakeRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
        """Zeros that compress well, and a stream of zeros that is no archive, end at the limit."""
        monkeypatch.setenv("HARENA_IMAGE_MOST_BYTES", "1000000")
        monkeypatch.setenv("HARENA_IMAGE_MOST_FILES", "50")
        registry.put("bytes", "1", made(tar(member("zeros", bytes(5_000_000)))))
        registry.put("files", "1", made(tar(*(member(str(number), b"") for number in range(60)))))
        padded = tar(member("a", b"1")) + bytes(5_000_000)
        registry.put("stream", "1", made(padded))
        for name in ("bytes", "files", "stream"):
            with pytest.raises(ImagePullError) as error:
                await images.root_of("default", f"{registry.host}/{name}:1")
            assert error.value.reason == "IMAGE_TOO_LARGE"

    async def test_without_skopeo(self, images: Images, monkeypatch: pytest.MonkeyPatch) -> None:
        """One error says what to install."""
        monkeypatch.setenv("PATH", "/nonexistent")
        with pytest.raises(HostUnsupportedError, match="apt-get install skopeo"):
            await images.root_of("default", "python:3.12")

    async def test_registries_that_are_not_allowed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A server asks public registries only, unless its operator names others."""
        server = Images(tmp_path / "images", Hurried(), for_server=True)
        for host in ("169.254.169.254", "localhost:5000", "internal.example"):
            with pytest.raises(ValidationError, match="HARENA_REGISTRIES"):
                await server.pull("default", f"{host}/env", refresh=True)
        monkeypatch.setenv("HARENA_REGISTRIES", "one.example")
        with pytest.raises(ValidationError):
            await server.pull("default", "python:3.12", refresh=True)

    async def test_a_pull_that_is_cancelled(self, images: Images, registry: FakeRegistry, tmp_path: Path) -> None:
        """Its program ends; who else waits for the image gets it."""
        registry.put("env", "1", image := small())
        reached, goes_on = threading.Event(), threading.Event()

        def stall(path: str) -> None:
            if path.endswith(image.layers[0]):
                reached.set()
                goes_on.wait()

        registry.answer = stall
        name = f"{registry.host}/env:1"
        first = await images.pull("a", name, refresh=True)
        second = await images.pull("b", name, refresh=True)
        await asyncio.to_thread(reached.wait)
        assert (await images.cancel_pull("a", first.id)).state is PullState.CANCELLED
        goes_on.set()
        assert (await images.wait_pull("b", second.id)).state is PullState.DONE
        with pytest.raises(NotFoundError):
            await images.get("a", name)
        registry.put("env", "2", image := small("other"))
        reached.clear()
        goes_on.clear()
        third = await images.pull("a", f"{registry.host}/env:2", refresh=True)
        await asyncio.to_thread(reached.wait)
        await images.cancel_pull("a", third.id)
        await images.close()
        goes_on.set()
        assert left(tmp_path / "images") == []


class TestKilledPulls:
    """kill -9 leaves what has arrived whole (at any moment: test_kill_moments)."""

    async def test_it_goes_on_from_the_blobs_that_it_has(
        self, images: Images, registry: FakeRegistry, tmp_path: Path
    ) -> None:
        """A blob that had arrived whole is not asked for again."""
        first, second = tar(member("a", os.urandom(5000))), tar(member("b", os.urandom(5000)))
        registry.put("env", "1", image := made(first, second))
        reached, goes_on = threading.Event(), threading.Event()

        def stall(path: str) -> None:
            if path.endswith(image.layers[1]):
                reached.set()
                goes_on.wait()

        registry.answer = stall
        name = f"{registry.host}/env:1"
        command = [sys.executable, str(PULLER), str(tmp_path / "images"), name]
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        async for line in process.stdout:
            state, size = line.split()
            if state == b"downloading" and int(size) >= len(image.blobs[image.layers[0]]):
                break
        process.kill()
        await process.wait()
        goes_on.set()
        registry.answer = lambda path: None
        await images.root_of("default", name)
        assert registry.blob_requests(image.layers[0]) == 1


class TestRoom:
    """The disk budget, and what is never taken."""

    async def test_what_was_not_used_for_the_longest_time_goes(
        self, images: Images, registry: FakeRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """But not what a sandbox uses; its tag means the same when it comes back."""
        for number in range(3):
            registry.put(f"env{number}", "1", made(tar(member("f", os.urandom(100_000)))))
        names = [f"{registry.host}/env{number}:1" for number in range(3)]
        monkeypatch.setenv("HARENA_IMAGE_BYTES", str(450_000))
        roots = [await images.root_of("default", name) for name in names[:2]]
        os.utime(tmp_path / "images/used" / roots[0].digest[7:], (1, 1))
        with images.hold("default", roots[0].digest):
            os.utime(tmp_path / "images/used" / roots[0].digest[7:], (1, 1))
            await images.root_of("default", names[2])
            assert roots[0].layers[0].is_dir()
            assert not roots[1].layers[0].exists()
            with pytest.raises(NotFoundError), images.hold("default", roots[1].digest):
                pass
            assert (await images.get("default", names[0])).in_use
        registry.put("env1", "1", small("moved"))
        again = await images.root_of("default", names[1])
        assert again.digest == roots[1].digest
        assert again.layers[0].is_dir()
        assert not roots[0].layers[0].exists()

    async def test_no_room_at_all(
        self, images: Images, registry: FakeRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An image that does not fit is refused, and takes nothing."""
        monkeypatch.setenv("HARENA_IMAGE_BYTES", "50000")
        registry.put("env", "1", made(tar(member("f", os.urandom(100_000)))))
        with pytest.raises(ImagePullError, match="no room") as error:
            await images.root_of("default", f"{registry.host}/env:1")
        assert error.value.reason == "IMAGE_SPACE"
        assert os.listdir(tmp_path / "images/images") == []

    async def test_a_manifest_that_only_says_that_it_is_large_removes_nothing(
        self, images: Images, registry: FakeRegistry, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        registry.put("env", "1", small())
        root = await images.root_of("default", f"{registry.host}/env:1")
        monkeypatch.setenv("HARENA_IMAGE_BYTES", "1000000")
        told = made(tar(member("f", b"x")))
        manifest = json.loads(told.manifest)
        manifest["layers"][0]["size"] = 2_000_000
        content = json.dumps(manifest).encode()
        registry.put("large", "1", Made(content, {**told.blobs, digest(content): content}, told.layers))
        with pytest.raises(ImagePullError, match="no room") as error:
            await images.root_of("default", f"{registry.host}/large:1")
        assert error.value.reason == "IMAGE_SPACE"
        assert root.layers[0].is_dir()

    async def test_an_import_that_is_refused_leaves_nothing(
        self, images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No name, and no image that was here before with the same content goes for it."""
        first = made(tar(member("f", os.urandom(50_000))))
        await imported(images, "localhost/kept:1", first, tmp_path / "first")
        kept = await images.root_of("default", "localhost/kept:1")
        monkeypatch.setenv("HARENA_IMAGE_BYTES", "70000")
        with pytest.raises(ImagePullError, match="no room"):
            await imported(images, "localhost/new:1", made(tar(member("g", os.urandom(60_000)))), tmp_path / "second")
        with pytest.raises(NotFoundError):
            await images.get("default", "localhost/new:1")
        assert "localhost/new:1" not in [name.reference for name in images._store.names("default").values()]
        await imported(images, "localhost/again:1", first, tmp_path / "again")
        assert (await images.root_of("default", "localhost/again:1")).layers == kept.layers
        assert kept.layers[0].is_dir()

    async def test_images_that_nobody_names(self, images: Images, registry: FakeRegistry, tmp_path: Path) -> None:
        """Removing the last name removes the layers, unless they are in use; the next collection takes them then."""
        registry.put("env", "1", small())
        name = f"{registry.host}/env:1"
        root = await images.root_of("a", name)
        await images.root_of("b", name)
        await images.remove("a", name)
        assert root.layers[0].is_dir()
        with images.hold("default", root.digest):
            await images.remove("b", name)
            with pytest.raises(NotFoundError):
                await images.remove("b", name)
            assert root.layers[0].is_dir()
        collected = await images.collect("b", None)
        assert (collected.images, collected.layers) == (1, 1)
        assert not root.layers[0].exists()
        assert os.listdir(tmp_path / "images/blobs/sha256") == []

    async def test_images_that_were_not_used(self, images: Images, registry: FakeRegistry) -> None:
        """A collection can take a workspace's own that were not used for some time, and only those."""
        registry.put("env", "1", small())
        name = f"{registry.host}/env:1"
        await images.root_of("a", name)
        await images.root_of("b", name)
        await images.collect("a", 3600)
        await images.get("a", name)
        await images.collect("a", 0)
        with pytest.raises(NotFoundError):
            await images.get("a", name)
        await images.get("b", name)


async def pieces(content: bytes) -> AsyncIterator[bytes]:
    for place in range(0, len(content), 10_000):
        yield content[place : place + 10_000]


async def taken(stream: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in stream])


class TestArchives:
    """Images without a registry."""

    @pytest.mark.parametrize("compressed", [False, True])
    async def test_a_root_file_system(self, images: Images, tmp_path: Path, compressed: bool) -> None:
        """It is an image of one layer; what is exported is imported as the same."""
        needed("skopeo")
        content = tar(member("bin/tool", b"#!", mode=0o755), member("manifest.json", b"{}"))
        given = gzip.compress(content, mtime=0) if compressed else content
        image = await images.import_("default", "made/here:1", pieces(given))
        assert image.reference == "docker.io/made/here:1"
        root = await images.root_of("default", "made/here:1")
        assert files(root) == {"bin/tool": "#!", "manifest.json": "{}"}
        for form in ("oci", "docker"):
            archive = await taken(images.export("default", "made/here:1", form))  # type: ignore[arg-type]
            again = await images.import_("other", f"back/{form}:2", pieces(archive))
            assert files(await images.root_of("other", f"back/{form}:2")) == files(root)
            assert (again.digest == image.digest) or form == "docker"

    async def test_a_reference_that_means_something_else(self, images: Images, tmp_path: Path) -> None:
        """What `root_of` has answered once is its answer as long as it is true, whoever changes it."""
        roots = []
        for content in (b"one", b"two"):
            await images.import_("default", "a:1", pieces(tar(member("f", content))))
            first, again = [await images.root_of("default", "a:1") for _ in range(2)]
            assert first is again
            assert (first.layers[0] / "f").read_bytes() == content
            roots.append(first)
        other = Images(tmp_path / "images", images._clock, for_server=False)
        await other.remove("default", "a:1")
        await other.close()
        with pytest.raises((ImagePullError, ValidationError, NotFoundError)):
            await images.root_of("default", "a:1")
        assert roots[0].digest != roots[1].digest

    async def test_layers_that_are_not_compressed(self, images: Images, registry: FakeRegistry) -> None:
        registry.put("plain", "1", image := made(tar(member("a", b"1")), plain=True))
        root = await images.root_of("default", f"{registry.host}/plain:1")
        assert (root.digest, (root.layers[0] / "a").read_bytes()) == (image.digest, b"1")

    async def test_a_registry_that_sends_more_than_it_says(self, images: Images, tmp_path: Path) -> None:
        (tmp_path / "oci-put-blob1").write_bytes(bytes(2_000_000))
        look, loop = images._assembler()._look, asyncio.get_running_loop()
        with pytest.raises(ImagePullError, match="more than its manifest says"):
            look({"0" * 64: 20}, tmp_path, Progress(lambda: None), loop)

    async def test_a_saved_image_with_compressed_layers(self, images: Images) -> None:
        """skopeo would write them unpacked to the disk, whatever size they have."""
        layer = gzip.compress(tar(member("f", bytes(1_000_000))))
        config = b'{"os":"linux","architecture":"amd64","config":{},"rootfs":{"type":"layers","diff_ids":[]}}'
        listed = b'[{"Config":"c.json","RepoTags":["a:1"],"Layers":["l/layer.tar"]}]'
        saved = tar(member("manifest.json", listed), member("c.json", config), member("l/layer.tar", layer))
        with pytest.raises(ValidationError, match="compressed layers"):
            await images.import_("default", "a:1", pieces(saved))

    async def test_pulls_at_one_time_and_pulls_that_are_remembered(
        self, images: Images, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Four programs; of those that have ended the oldest are forgotten."""
        monkeypatch.setattr(pulls, "_MOST_KEPT", 5)
        running: list[int] = []
        four, go_on = asyncio.Event(), asyncio.Event()
        most = 0

        async def pull(*_: object) -> None:
            nonlocal most
            running.append(1)
            most = max(most, len(running))
            if most == 4:
                four.set()
            await go_on.wait()
            running.pop()
            raise NotFoundError("none")

        monkeypatch.setattr(Assembler, "pull", pull)
        begun = [await images.pull("default", f"localhost:9/x{number}:1", refresh=True) for number in range(20)]
        await four.wait()
        go_on.set()
        for each in begun[-3:]:
            await images.wait_pull("default", each.id)
        await images.pull("default", "localhost:9/last:1", refresh=True)
        assert most == 4
        assert len(images._pulls._tickets) <= 20
        with pytest.raises(NotFoundError):
            await images.get_pull("default", begun[0].id)

    async def test_a_layout(self, images: Images, tmp_path: Path) -> None:
        """What another tool has written, as a tar archive."""
        needed("skopeo")
        image = made(tar(member("a", b"1")), tar(member("b", b"2")), config={"Env": ["A=1"]})
        image.layout(tmp_path / "layout")
        found = await images.import_("default", "a:1", pieces(packed(tmp_path / "layout")))
        assert found.digest == image.digest
        assert files(await images.root_of("default", "a:1")) == {"a": "1", "b": "2"}
        assert left(tmp_path / "images") == []

    async def test_an_address_in_an_imported_layout_is_not_asked(
        self, images: Images, registry: FakeRegistry, tmp_path: Path
    ) -> None:
        """Neither one of its manifest, nor one behind another index, nor one of an object that stands twice."""
        needed("skopeo")
        address = f"http://{registry.host}/elsewhere"
        plain = with_address(small(), address, "urls")
        index = json.dumps({"manifests": [{"mediaType": MANIFEST, "digest": plain.digest, "size": 1}]}).encode()
        behind = Made(index, {**plain.blobs, digest(index): index}, plain.layers)
        content = small().manifest.replace(b'"config"', b'"CONFIG": {"Urls": ["%s"]}, "config"' % address.encode(), 1)
        twice = Made(content, {**small().blobs, digest(content): content}, small().layers)
        for number, image in enumerate((plain, behind, twice)):
            folder = image.layout(tmp_path / f"layout-{number}")
            with pytest.raises(ValidationError, match="nothing is downloaded") as error:
                await images.import_("default", "a:1", pieces(packed(folder)))
            assert error.value.reason == "IMAGE_BROKEN"
        assert registry.asked == []
        assert left(tmp_path / "images") == []

    @pytest.mark.parametrize(
        "archive",
        [
            b"",
            b"nothing",
            tar(member("index.json", b"{}"), member("oci-layout", b"{}")),
            tar(link("index.json", "/etc/hostname"), member("oci-layout", b"{}")),
            tar(member("manifest.json", b'[{"Config": "c.json", "Layers": ["missing.tar"]}]')),
            tar(member("../x", b"1")),
        ],
        ids=["empty", "text", "layout", "link", "saved", "climbs"],
    )
    async def test_archives_that_are_broken(self, images: Images, tmp_path: Path, archive: bytes) -> None:
        """They are refused, and nothing is kept."""
        needed("skopeo")
        with pytest.raises(ValidationError) as error:
            await images.import_("default", "a:1", pieces(archive))
        assert str(tmp_path) not in str(error.value)
        assert os.listdir(tmp_path / "images/images") == []
        assert left(tmp_path / "images") == []

    async def test_imported_images_stay(
        self, images: Images, registry: FakeRegistry, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No registry has them: room is made of others."""
        await images.import_("default", "kept:1", pieces(tar(member("f", os.urandom(100_000)))))
        registry.put("env", "1", made(tar(member("f", os.urandom(100_000)))))
        monkeypatch.setenv("HARENA_IMAGE_BYTES", "300000")
        with pytest.raises(ImagePullError, match="no room"):
            await images.root_of("default", f"{registry.host}/env:1")
        await images.get("default", "kept:1")
