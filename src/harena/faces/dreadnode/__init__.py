"""Hosted training as the stock `dreadnode` client asks for it (`dn train ...`), over harena's training jobs.

    dn train list --server http://127.0.0.1:8000 --api-key hk_... --organization acme

The organisation is that of the workspace; where the workspace was put into none, the server is one organisation,
whatever the client calls it. The workspace is
that of the key. Jobs are submitted, kept and run as all training jobs are; see docs/how-to/hosted-training.md.
"""
