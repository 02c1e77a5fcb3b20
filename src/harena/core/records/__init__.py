"""Typed records: what a store returns, a node answers, HTTP carries and the SDK gives to users."""
