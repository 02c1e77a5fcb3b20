"""HTTP on one node: `harena serve`. What it answers is in docs/reference/openapi.json."""
