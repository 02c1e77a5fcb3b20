"""The notebooks of the documentation run from their first cell to their last, in a kernel as Jupyter starts it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="notebooks are run by nbclient, which the extra dev has")

FOLDER = Path(__file__).parents[2] / "docs/how-to/notebooks"
RUN = """
import sys
import nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
where = {"metadata": {"path": sys.argv[3]}}
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where).execute()
nbformat.write(notebook, sys.argv[2])
"""
"""in a process of its own, which ends with all sockets of its kernel"""


@pytest.mark.thorough
def test_the_notebook_shows_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cell fails, scores and results are tables, the right answer alone is paid, and the file holds no outputs."""
    monkeypatch.setenv("HARENA_HOME", str(tmp_path / "home"))
    notebook = nbformat.read(FOLDER / "first-rewards.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    done = tmp_path / "done.ipynb"
    words = [sys.executable, "-c", RUN, str(FOLDER / "first-rewards.ipynb"), str(done), str(tmp_path)]
    subprocess.run(words, check=True, timeout=600)
    notebook = nbformat.read(done, as_version=4)
    score, results, rows = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    for shown in (score[-1], results[-1]):
        assert "<table" in shown.data["text/html"]
        assert "passed" in shown.data["text/html"]
    said = rows[-1].data["text/plain"]
    assert "'right': (1.0, 'passed')" in said
    for name in ("wrong", "loud", "cheat"):
        assert f"'{name}': (0.0, " in said
