"""No request makes the server read a folder of its own: it may read what its users may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp
import pytest
from server_world import world


def _requests(row: dict[str, str], form: dict[str, str]) -> dict[str, dict[str, Any]]:
    return {
        "/v1/scenarios": {"name": "s", "scenarios": [row], **form},
        "/v1/benchmark_jobs": {"name": "j", "scenarios": [row], **form},
        "/v1/benchmark_job_defs": {"name": "d", "request": {"scenarios": [row], **form}},
        "/v1/calibrations": {"scenarios": [row], **form},
    }


@pytest.mark.parametrize("form", [{}, {"format": "harbor"}], ids=str)
@pytest.mark.parametrize("path", _requests({}, {}))
async def test_a_row_with_a_folder_is_refused(path: str, form: dict[str, str], tmp_path: Path) -> None:
    """By a route that takes rows, although the folder is a task; what is in it is not told."""
    (tmp_path / "tests").mkdir()
    for name in ("task.toml", "instruction.md", "tests/test.sh"):
        (tmp_path / name).write_text("")
    row = {"task_directory": str(tmp_path)}
    async with (
        world(tmp_path / "home") as there,
        aiohttp.ClientSession(base_url=there.url) as http,
    ):
        there.runtime.isolates = True  # a calibration asks for it
        async with http.post(path, json=_requests(row, form)[path]) as answer:
            text = await answer.text()
            assert answer.status == 422, text
    assert "Dockerfile" not in text
    assert ("never from a row" if form else "task_directory") in text
