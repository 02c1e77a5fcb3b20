"""What a browser shows of a server: a page at /ui, the API's reference at /docs, and the files that both load.

The page is a program like any other: it asks `/v1` with the key that its user gave it, and can do nothing that the key
cannot. `files/` is sent as it lies there, without a build step, and nothing is fetched from anywhere else.
"""
