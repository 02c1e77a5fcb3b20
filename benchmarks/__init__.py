"""Side-by-side measurements of harena and of what people use instead; `python -m benchmarks --help` lists them.

Nothing here is a test: speed depends on the machine and on what else runs on it. Every figure in the README was printed
by a command of this package and is kept, with the machine and the date, in `benchmarks/results/`.
"""
