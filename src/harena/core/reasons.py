"""Every `reason` that an exception of harena carries: what it means, and what to do about it.

The reference of errors is generated from here, and a test fails where an exception is raised with a reason that is not
in this table. Reasons of scores are another thing: `harena.core.results.Reason`.
"""

from __future__ import annotations

from typing import NamedTuple


class ErrorReason(NamedTuple):
    """One line of the table."""

    code: str
    meaning: str
    advice: str


_LIMIT = "End what is not needed, wait, or ask the operator for a higher limit (`harena workspaces set`)."
_RECREATE = "Create a new sandbox."
_BUG = "Report it, with the server's log of that request."

ERROR_REASONS = (
    ErrorReason(
        "AFTER_FORK",
        "A process uses an object that was made before the process was forked from its parent.",
        "Create sandboxes in the process that uses them.",
    ),
    ErrorReason(
        "BEGUN_ELSEWHERE",
        "Another server of the same database has created something with this idempotency key.",
        "Send the request to that server, or wait ten minutes.",
    ),
    ErrorReason(
        "BLUEPRINTS",
        "The workspace keeps as many blueprints, or bytes in them, as it may.",
        "Delete blueprints that nobody needs any more (`harena blueprint rm`).",
    ),
    ErrorReason("BODY", "The body of a request is not the JSON that it says it is.", "Correct what the message names."),
    ErrorReason("BROKEN_ANSWER", "A server's answer cannot be understood.", "Check what answers at `HARENA_BASE_URL`."),
    ErrorReason("BUG", "The server met a fault of its own.", _BUG),
    ErrorReason(
        "BUILD_TIME", "A build of an image took longer than its `timeout_seconds`.", "Allow it more time (`--timeout`)."
    ),
    ErrorReason("BUSY", "The server does too much of one kind at the moment.", "Ask again after `retry_delay`."),
    ErrorReason("CANCELLED", "A command was cancelled before it started.", "Nothing: the caller cancelled it."),
    ErrorReason(
        "CLOSED",
        "harena, or this connection to a server, was closed before or during the call.",
        "Start again from `Sandbox.run` or another first call.",
    ),
    ErrorReason(
        "COMMAND_TIMEOUT", "A command ran longer than its `timeout_seconds` and was killed.", "Allow it more time."
    ),
    ErrorReason(
        "CONNECTIONS",
        "The workspace, or all clients together, have as many connections open as the server takes.",
        "Send several requests over one connection.",
    ),
    ErrorReason(
        "CONNECTION_LOST",
        "The connection to the server broke off during a request, whose outcome is unknown.",
        "Ask again; with an idempotency key nothing is created twice.",
    ),
    ErrorReason("CONTENT_TYPE", "The body has the wrong content type.", "Send the one that the message names."),
    ErrorReason(
        "CONTEXT",
        "The context of a build of an image, or what is asked of the build, is not as it must be.",
        "Correct what the message names.",
    ),
    ErrorReason(
        "CONTEXT_TOO_LARGE",
        "The context of a build has more bytes or files than it may have.",
        "Leave files out (`.dockerignore`), or raise `HARENA_BUILD_CONTEXT_BYTES`.",
    ),
    ErrorReason(
        "DOCKERFILE",
        "A Dockerfile cannot be read, or one of its instructions cannot be done.",
        "Correct the line that the message names.",
    ),
    ErrorReason("DRAINING", "The server is about to stop.", "Ask again when it, or another server, runs."),
    ErrorReason("EXEC_ENDED", "The command has ended, so it has no input and cannot be killed.", "Read its result."),
    ErrorReason("EXISTS", "The path exists.", "Choose another path, or remove it first."),
    ErrorReason(
        "FORBIDDEN",
        "The key lacks the scope, or a server without keys was asked by another machine or a web page.",
        "Use a key with the scope that the message names (`harena keys create`).",
    ),
    ErrorReason("HEAD_TOO_LARGE", "The headers of a request, or its other lines, are too large.", "Send less."),
    ErrorReason("HTTP", "What was sent is no HTTP request.", "Check the client."),
    ErrorReason(
        "IDEMPOTENCY_KEY_REUSED", "The idempotency key came with another request.", "Give each request its own key."
    ),
    ErrorReason(
        "IMAGE_BROKEN",
        "An image, or a blob of it, is not what its digest or its format says, or holds what no layer may hold.",
        "Pull it again; where that gives the same, build it anew. The message names the layer.",
    ),
    ErrorReason(
        "IMAGE_NOT_FOUND",
        "The registry, or the workspace, has no image of this name.",
        "Correct the name, or set `HARENA_IMAGE_ALIASES`.",
    ),
    ErrorReason(
        "IMAGE_SPACE",
        "The disk is full, or all images that could be removed to make room are in use.",
        "Remove images (`harena image rm`), or raise `HARENA_IMAGE_BYTES`.",
    ),
    ErrorReason(
        "IMAGE_TOOLS",
        "A program that images need is not installed on the machine of the node.",
        "Install it, as the message says.",
    ),
    ErrorReason(
        "IMAGE_TOO_LARGE",
        "An image has more bytes or files than one image may have.",
        "Use a smaller one, or raise `HARENA_IMAGE_MOST_BYTES` or `HARENA_IMAGE_MOST_FILES`.",
    ),
    ErrorReason(
        "IN_USE", "A job that has not ended uses the stored object.", "Wait for these jobs, or cancel them first."
    ),
    ErrorReason("IO_FAILED", "Reading or writing in the sandbox failed.", "See the message."),
    ErrorReason("IS_DIRECTORY", "The path is a directory.", "Name a file, or use the verbs for directories."),
    ErrorReason(
        "JOB_MEMORY", "Scenarios of the workspace's jobs that have not ended take as much memory as they may.", _LIMIT
    ),
    ErrorReason("LEASES", "The workspace has as many leases open as it may have.", _LIMIT),
    ErrorReason(
        "LEASE_LOST",
        "Another process has taken over the job, because this one had not renewed its lease in time.",
        "Nothing: the other process continues the job.",
    ),
    ErrorReason("LEASE_OVER", "The lease has ended, and its sandboxes with it.", "Open another lease."),
    ErrorReason("LOSS", "A loss or gradient of training is not finite.", "Lower the learning rate."),
    ErrorReason(
        "MACHINE_PROFILE",
        "The workspace may not have sandboxes of the profile `machine`.",
        "Leave the profile out, or ask the operator for `machine_profile=1`.",
    ),
    ErrorReason("METHOD_NOT_ALLOWED", "The route has other methods.", "See [the routes](http.md)."),
    ErrorReason("NODE_CLOSED", "The node was closed.", "Ask the node that continues the job, or start again."),
    ErrorReason("NODE_LOST", "The spawner, and all sandboxes with it, were killed from outside.", _RECREATE),
    ErrorReason(
        "NODE_OUT_OF_MEMORY",
        "The memory that all sandboxes have together was used up, and the kernel ended a program that had met no limit "
        "of its own.",
        "Run fewer sandboxes at a time, or lower their `memory_mb`.",
    ),
    ErrorReason("NOT_A_DIRECTORY", "Part of the path is no directory.", "Correct the path."),
    ErrorReason("NOT_FOUND", "The path does not exist.", "Correct the path."),
    ErrorReason(
        "NO_MEMORY",
        "A file is larger than what is left of the sandbox's memory limit, which counts its files.",
        "Raise `memory_bytes` (`memory_mb` of a scenario), or delete files.",
    ),
    ErrorReason(
        "NO_SPACE",
        "The sandbox's disk is full, or it has no more inodes.",
        "Raise `disk_bytes` or `inodes`, or delete files.",
    ),
    ErrorReason("NUL", "A text has the character NUL, which PostgreSQL cannot hold.", "Leave the character out."),
    ErrorReason(
        "OBJECTS", "The workspace has published as much as it may.", "Delete what nobody needs any more (`harena rm`)."
    ),
    ErrorReason("OPEN_JOBS", "The workspace has as many jobs that have not ended as it may have.", _LIMIT),
    ErrorReason("OPEN_RUNS", "The workspace's jobs have as many runs that have not ended as they may have.", _LIMIT),
    ErrorReason(
        "OUTPUTS",
        "Commands of the workspace printed more than the server holds in memory for it; this one was ended.",
        "Read outputs while they arrive, or write them to files.",
    ),
    ErrorReason("PERMISSION_DENIED", "The programs of the sandbox have no right to the path.", "Choose another path."),
    ErrorReason(
        "QUERY_TIME",
        "What was asked for was looked for in the database for longer than `HARENA_QUERY_SECONDS`.",
        "Narrow the filter (a name, less metadata), or ask for fewer entries at a time.",
    ),
    ErrorReason(
        "REGISTRY",
        "The registry of an image does not answer as a registry does.",
        "Check its address and the network; with `http://` on loopback, set `HARENA_REGISTRIES_WITHOUT_TLS`.",
    ),
    ErrorReason(
        "REGISTRY_ACCESS",
        "The registry of an image asks for a user and a password, or refuses those that it got.",
        "Log in with `skopeo login` or `docker login` on the machine of the node, or set `HARENA_REGISTRY_AUTH_FILE`.",
    ),
    ErrorReason(
        "REGISTRY_RATE",
        "The registry answers no more requests for now.",
        "Wait, log in (which raises the limit of most registries), or set `HARENA_REGISTRY_MIRRORS`.",
    ),
    ErrorReason("REQUEST", "Fields or parameters of a request are wrong.", "Correct what the message lists."),
    ErrorReason("REQUEST_RATE", "The key sends requests faster than it may.", "Ask again after `retry_delay`."),
    ErrorReason("ROUTE_NOT_FOUND", "The server has no such route.", "See [the routes](http.md)."),
    ErrorReason("RUNS", "The workspace may have no runs under way.", _LIMIT),
    ErrorReason("SANDBOXES", "The workspace has as many sandboxes as it may have.", _LIMIT),
    ErrorReason("SANDBOX_FAILED", "The sandbox could not start, or ended by itself.", _RECREATE),
    ErrorReason("SANDBOX_LOST", "The sandbox's init, or its node, was killed from outside.", _RECREATE),
    ErrorReason("SANDBOX_NOT_FOUND", "No sandbox of the workspace has this id.", _RECREATE),
    ErrorReason("SANDBOX_TERMINATED", "The sandbox was stopped, or its lifetime is over.", _RECREATE),
    ErrorReason("SCENARIO_FILE", "A scenario file has mistakes; nothing was run.", "Correct what the message lists."),
    ErrorReason(
        "SECRETS",
        "The workspace keeps as many secrets as it may.",
        "Delete secrets that nobody needs any more (`harena secrets rm`).",
    ),
    ErrorReason(
        "SERVER_UNREACHABLE",
        "No server answers at `HARENA_BASE_URL`.",
        "Start one with `harena serve`, or correct the address.",
    ),
    ErrorReason(
        "SNAPSHOT_NAME", "Another snapshot of the workspace has the name.", "Choose another, or remove that one."
    ),
    ErrorReason("SNAPSHOT_NOT_FOUND", "The workspace has no such snapshot, or it has expired.", "Take one first."),
    ErrorReason(
        "SNAPSHOT_SPACE",
        "The snapshots of the workspace take as much disk space as they may.",
        "Remove some (`harena snapshot rm`), or raise `HARENA_SNAPSHOT_BYTES`.",
    ),
    ErrorReason("STDIN_CLOSED", "The command's standard input is closed, or the command has ended.", "Write earlier."),
    ErrorReason(
        "STORED_BYTES",
        "The workspace has stored as much in the database as it may.",
        "Delete jobs that have ended, and stored scenarios, contracts and definitions that nobody needs.",
    ),
    ErrorReason(
        "STORE_UNAVAILABLE",
        "The database does not answer, or the workspace uses its share of the connections to it.",
        "Ask again after `retry_delay`; where it stays, the operator checks the database's server.",
    ),
    ErrorReason(
        "TERMINALS",
        "Commands of the workspace have as many terminals as it may have beside others.",
        "End commands that have one, and programs that keep an ended command's, or ask again after `retry_delay`.",
    ),
    ErrorReason("TOO_LARGE", "A file, body or answer is larger than it may be.", "Send or read it in parts."),
    ErrorReason(
        "TRAINING_FILES",
        "The files of the workspace's training jobs take as many bytes as they may.",
        "Delete training jobs that have ended (`harena train delete`).",
    ),
    ErrorReason("URL_TOO_LONG", "The address of a request is too long.", "Shorten its query."),
    ErrorReason("VERSION_TAKEN", "The version is published already, with other content.", "Publish another version."),
    ErrorReason("WORLDS", "The workspace keeps as many worlds as it may.", "Delete some (`harena world rm`)."),
    ErrorReason(
        "WORLD_JOBS",
        "The workspace has as many jobs of worlds that have not ended as it may.",
        "Wait for some of them, or cancel them (`harena world cancel`).",
    ),
)
"""The table, in alphabetical order."""
