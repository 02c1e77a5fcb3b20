"""Images: pulled once, kept by the digests of their layers, unpacked for overlay file systems."""
