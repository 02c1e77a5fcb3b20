"""`runloop`: the command line under the name that another client's guide prints it with.

`runloop benchmark run` and `runloop benchmark results` are those of `harena`; `RUNLOOP_BASE_URL` and `RUNLOOP_API_KEY`
are read where `HARENA_BASE_URL` and `HARENA_API_KEY` are not set.
"""

from __future__ import annotations

from harena.cli import main
from harena.sdk import server_choice


def runloop() -> None:
    """The entry point of the `runloop` program."""
    server_choice.read_variables_of("runloop")
    main.run()


if __name__ == "__main__":
    runloop()
