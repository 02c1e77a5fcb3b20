"""Makes room: what no image needs any more goes, and images that were not used for the longest time."""

from __future__ import annotations

from dataclasses import dataclass

from harena.image_store.kept import KeptImage
from harena.image_store.store import ImageStore, Work

KEPT_FOR_SECONDS = 24 * 3600.0
"""blobs and layers that no image has are kept so long for the pull that goes on from them, while there is room"""
_EVER = float("inf")


@dataclass(slots=True)
class Collected:
    """What went, and what is left."""

    images: int = 0
    layers: int = 0
    freed_bytes: int = 0
    used_bytes: int = 0
    """disk space of what is left"""


def collect(store: ImageStore, budget: int, work: Work, *, now: float, all_left: bool = False) -> Collected:
    """Remove until the rest fits the budget; with `all_left` also everything that no image needs, however new.

    `now`: in seconds since 1970. Removed layers go with the work. Blocking."""
    made = Collected()
    with store.alone():
        room = _Room(store, made, work)
        for image in room.images.values():
            if image.digest not in room.named | room.stepped and image.digest not in room.needed_images:
                room.drop(image)
        room.sweep(_EVER if all_left else now - KEPT_FOR_SECONDS)
        if room.used > budget:
            room.sweep(_EVER)
            room.drop_rebuilt()
        by_use = sorted(room.images.values(), key=lambda image: store.used_at(image.digest))
        for image in by_use:
            if room.used <= budget:
                break
            is_kept = image.is_imported and image.digest in room.named
            if not is_kept and image.digest not in room.needed_images and room.drop(image):
                room.sweep(_EVER)
        room.forget_steps()
        made.used_bytes = room.used
    return made


class _Room:
    """What there is, while something is removed."""

    def __init__(self, store: ImageStore, made: Collected, work: Work) -> None:
        self._store, self._made, self._work = store, made, work
        self.images = {image.digest: image for image in store.images()}
        self.named = store.named()
        self._steps = store.steps()
        self.stepped = {*self._steps.values()}
        """digests of images that steps of builds have made"""
        needs = [*store.needs()]
        self.needed_images = {digest for one in needs for digest in one.images}
        self._needed = {digest for one in needs for digest in (*one.blobs, *one.layers)}
        self._unwanted: set[str] = set()
        """blobs of images that no registry has, and so no pull goes on from"""
        self._layers = store.all_layers()
        self._blobs = store.all_blobs()

    @property
    def used(self) -> int:
        """Disk space of blobs and layers."""
        return sum(self._layers.values()) + sum(size for size, _ in self._blobs.values())

    def drop(self, image: KeptImage) -> bool:
        """Whether the image is gone; one in use stays."""
        if not self._store.drop_image(image.digest):
            return False
        self.images = {digest: one for digest, one in self.images.items() if digest != image.digest}
        self._made.images += 1
        if image.is_imported:
            self._unwanted.update(digests_of(image))
        return True

    def drop_rebuilt(self) -> None:
        """Remove archives that can be made again of a layer's folder."""
        for digest in [one for one in self._blobs if one in self._layers and one not in self._needed]:
            if self._store.layer_headers(digest).exists():
                self._store.blob(digest).unlink(missing_ok=True)
                self._made.freed_bytes += self._blobs.pop(digest)[0]

    def forget_steps(self) -> None:
        """Forget steps whose images are gone."""
        for key, digest in self._steps.items():
            if digest not in self.images:
                self._store.forget_step(key)

    def sweep(self, until: float) -> None:
        """Remove layers that no image and no pull needs, and such blobs that arrived before a time or went with their
        image."""
        needed = {
            *self._needed,
            *(digest for image in self.images.values() for digest in digests_of(image)),
        }
        for diff_id in [one for one in self._layers if one not in needed]:
            self._store.take_layer(diff_id, self._work)
            self._made.layers += 1
            self._made.freed_bytes += self._layers.pop(diff_id)
        left = {one: arrived for one, (_, arrived) in self._blobs.items() if one not in needed}
        for digest in [one for one, arrived in left.items() if arrived <= until or one in self._unwanted]:
            self._store.blob(digest).unlink(missing_ok=True)
            self._made.freed_bytes += self._blobs.pop(digest)[0]


def digests_of(image: KeptImage) -> list[str]:
    """Digests of its blobs and layers."""
    return [image.manifest, image.config, *(one for layer in image.layers for one in (layer.digest, layer.diff_id))]
