"""Runs the command line: `python -m harena` is `harena`."""

from harena.cli.main import run

if __name__ == "__main__":
    run()
