"""Options that `harena audit` and `harena scenario calibrate` share: both calibrate every problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harena.cli import completion

Candidates = Annotated[
    str | None, typer.Option(help="File of right answers, where the data set holds none; 'nop': there are none.")
]
DataFormat = Annotated[
    str | None, typer.Option("--data-format", help="The data set's format, where its shape does not tell.")
]
Grader = Annotated[Path | None, typer.Option(help="JSON file of the grader of rows that hold none.")]
GoldRuns = Annotated[int, typer.Option(help="How often each right answer is run: 2 to 1000.")]
Blueprint = Annotated[
    str, typer.Option(help="Name or id of the blueprint that candidates run in.", autocompletion=completion.blueprint)
]
Concurrency = Annotated[int, typer.Option(help="Runs at one time, at most; the host's cores may allow fewer.")]
RunTimeout = Annotated[
    float, typer.Option("--timeout", help="Seconds that one run may take; some forgeries take them all.")
]
