"""Worlds: abstract games on a graph of hosts, principals, groups, credentials and sessions."""
