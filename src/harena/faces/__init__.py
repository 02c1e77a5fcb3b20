"""Wires that other people's clients already speak: a face translates theirs into the operations of a node.

A face declares its routes in a table of its own, as the operations of harena are declared; the server makes the routes
and finds the key in the header that the client sends.
"""
