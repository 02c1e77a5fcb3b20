"""What is measured, one file per sub-benchmark: each has `measure(...) -> dict` and `render(dict) -> list[str]`."""
