"""What users import: sandboxes, sessions, processes, waiting, blueprints and benchmark jobs.

One asynchronous implementation on one event loop in one daemon thread; every verb can be called from any thread and any
event loop. Nothing here knows where sandboxes run: everything goes through `harena.core.ports.Operations`, which the
transport opens on first use. This file imports nothing, so that `import harena` stays light.
"""
