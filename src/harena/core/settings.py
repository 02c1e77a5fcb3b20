"""Every environment variable that harena reads: its name, default, unit and meaning, declared here and nowhere else.

`docs/reference/settings.md` is generated from this module, and a test fails where another module spells such a name
itself. A value is read when it is needed, so a program may set a variable after `import harena`. This module imports
next to nothing, because `import harena` loads it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple


class Setting(NamedTuple):
    """One environment variable."""

    name: str
    reader: str
    """which process reads it"""
    default: int | str | None
    """the value where the variable is not set; None = the meaning says what happens then"""
    unit: str
    """unit or form of the value"""
    meaning: str

    def read(self, environ: Mapping[str, str] | None = None) -> str | None:
        """The text that the operator set; None where the variable is not set."""
        return (os.environ if environ is None else environ).get(self.name)


CLIENT = "client"
NODE = "node, embedded or of a server"
SERVER = "server"
WORKER = "worker of a training job"
COMMAND_LINE = "command line"
SET_UP = "`make` and `scripts/setup`"

BASE_URL = Setting(
    "HARENA_BASE_URL",
    CLIENT,
    None,
    "http(s) URL",
    "Address of the server that the SDK and the command line use. Without it they start a node in their own process.",
)
API_KEY = Setting(
    "HARENA_API_KEY",
    CLIENT,
    None,
    "text",
    "API key that is sent to the server of `HARENA_BASE_URL`. A server that has keys answers nothing but `/healthz` "
    "without one.",
)
CA_FILE = Setting(
    "HARENA_CA_FILE",
    CLIENT,
    None,
    "file",
    "Certificates of authorities, as PEM, that the client believes beside the system's, when the server of an https "
    "address shows its own.",
)
CWSANDBOX_BASE_URL = Setting(
    "CWSANDBOX_BASE_URL",
    CLIENT,
    None,
    "http(s) URL",
    "Address of the harena server for programs that `import cwsandbox` by harena's aliases, where `HARENA_BASE_URL` is "
    "not set.",
)
CWSANDBOX_API_KEY = Setting(
    "CWSANDBOX_API_KEY",
    CLIENT,
    None,
    "text",
    "API key of such programs, where `HARENA_API_KEY` is not set. With a key and no address they run inside this "
    "process, with a warning.",
)
AVIATO_BASE_URL = Setting("AVIATO_BASE_URL", CLIENT, None, "http(s) URL", "As `CWSANDBOX_BASE_URL`, for `aviato`.")
AVIATO_API_KEY = Setting("AVIATO_API_KEY", CLIENT, None, "text", "As `CWSANDBOX_API_KEY`, for `aviato`.")
RUNLOOP_BASE_URL = Setting("RUNLOOP_BASE_URL", CLIENT, None, "http(s) URL", "As `CWSANDBOX_BASE_URL`, for `runloop`.")
RUNLOOP_API_KEY = Setting("RUNLOOP_API_KEY", CLIENT, None, "text", "As `CWSANDBOX_API_KEY`, for `runloop`.")
DREADNODE_SERVER = Setting("DREADNODE_SERVER", CLIENT, None, "http(s) URL", "As `CWSANDBOX_BASE_URL`, for `dreadnode`.")
DREADNODE_API_KEY = Setting("DREADNODE_API_KEY", CLIENT, None, "text", "As `CWSANDBOX_API_KEY`, for `dreadnode`.")
HOME = Setting(
    "HARENA_HOME",
    NODE,
    "~/.local/share/harena",
    "directory",
    "Directory of the database, blueprints, packages, published objects, training jobs and other files that outlive a "
    "process.",
)
DATABASE_URL = Setting(
    "HARENA_DATABASE_URL",
    NODE,
    None,
    "postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
    "PostgreSQL database for jobs and results. Without it they are in the SQLite file `harena.db` in `HARENA_HOME`.",
)
QUERY_SECONDS = Setting(
    "HARENA_QUERY_SECONDS",
    NODE,
    10,
    "seconds",
    "Time limit of one look into the database for a request to a server, such as a list with a filter. What takes "
    "longer is refused (`QUERY_TIME`).",
)
WORKSPACE = Setting(
    "HARENA_WORKSPACE",
    NODE,
    "default",
    "name",
    "Workspace of an embedded node. A node sets it for the workers of its training jobs; a server takes the workspace "
    "from the API key instead.",
)
WORKSPACE_LIMITS = Setting(
    "HARENA_WORKSPACE_LIMITS",
    NODE,
    None,
    "NAME=NUMBER, separated by commas",
    "What that workspace may use, by the names of the limits of a workspace; those that are not named have their "
    "defaults, but for `machine_profile`, which is 1. Without it an embedded node has no such limits. A server sets it "
    "for the workers of its training jobs; a server's own are those of `harena serve --limit` and `harena workspaces "
    "set`.",
)
SANDBOX_NETWORKS = Setting(
    "HARENA_SANDBOX_NETWORKS",
    NODE,
    None,
    "NETWORK, separated by commas",
    "Addresses beside the public internet that sandboxes of an embedded node may reach where their networks name them, "
    "as 10.0.0.0/8; `public` = none. Without it all. A server sets it for the workers of its training jobs; its own "
    "are those of `harena serve --network-allow`.",
)
HELD_BLUEPRINTS = Setting(
    "HARENA_HELD_BLUEPRINTS",
    NODE,
    None,
    "directory",
    "Blueprints that an embedded node finds before those of its workspace. A node sets it for the workers of a "
    "training job: they are the versions that the job was accepted with.",
)
OF_WORKERS = (WORKSPACE, WORKSPACE_LIMITS, SANDBOX_NETWORKS, HELD_BLUEPRINTS)
"""what a node tells the workers of its training jobs, and these the processes that work for them on other machines"""
SECRET_KEY = Setting(
    "HARENA_SECRET_KEY",
    NODE,
    None,
    "Fernet keys, separated by commas",
    "Encrypts secrets that are stored, such as those of webhooks. The first key encrypts, all of them decrypt. Without "
    "it a key is made and kept in `HARENA_HOME`; servers that share a database need the same one.",
)
IMAGE_ALIASES = Setting(
    "HARENA_IMAGE_ALIASES",
    NODE,
    "",
    "NAME=IMAGE, separated by commas",
    "Further names of images, as `python:3.9-slim=default`.",
)
IMAGE_BYTES = Setting(
    "HARENA_IMAGE_BYTES",
    NODE,
    64 << 30,
    "bytes",
    "Disk space for the images of a workspace, blobs and unpacked layers together. Those not used for the longest time "
    "are removed to make room; those in use, and imported ones, never.",
)
IMAGE_MOST_BYTES = Setting(
    "HARENA_IMAGE_MOST_BYTES", NODE, 32 << 30, "bytes", "Size that the files of one layer may have, unpacked."
)
IMAGE_MOST_FILES = Setting(
    "HARENA_IMAGE_MOST_FILES", NODE, 2_000_000, "number", "Number of files that one layer may have."
)
SNAPSHOT_BYTES = Setting(
    "HARENA_SNAPSHOT_BYTES",
    NODE,
    16 << 30,
    "bytes",
    "Disk space for the snapshots of a workspace, a part of `HARENA_IMAGE_BYTES`. They are never removed to make room.",
)
FORK_BYTES = Setting(
    "HARENA_FORK_BYTES",
    NODE,
    4 << 30,
    "bytes",
    "Memory for files of a workspace's sandboxes that were forked, as they were then; what does not fit goes over the "
    "disk.",
)
BUILD_CONTEXT_BYTES = Setting(
    "HARENA_BUILD_CONTEXT_BYTES", NODE, 4 << 30, "bytes", "Size that the context of a build of an image may have."
)
REGISTRIES = Setting(
    "HARENA_REGISTRIES",
    NODE,
    None,
    "hosts, with their ports, separated by commas",
    "Registries that images may be pulled from. Without it an embedded node pulls from any, and a server from "
    "docker.io, ghcr.io, quay.io, gcr.io, registry.k8s.io, mcr.microsoft.com, public.ecr.aws and registry.gitlab.com.",
)
GATEWAY_NETWORKS = Setting(
    "HARENA_GATEWAY_NETWORKS",
    NODE,
    "",
    "addresses or CIDRs separated by commas",
    "Networks beside the public internet that gateways of sandboxes may connect to, as `10.20.0.0/16`. A secret is "
    "still sent to its own hosts only.",
)
GATEWAY_CA_FILE = Setting(
    "HARENA_GATEWAY_CA_FILE",
    NODE,
    None,
    "file",
    "Certificates of authorities, as PEM, that gateways believe beside the system's, when an upstream shows its own.",
)
REGISTRIES_WITHOUT_TLS = Setting(
    "HARENA_REGISTRIES_WITHOUT_TLS",
    NODE,
    "",
    "hosts, with their ports, separated by commas",
    "Registries and mirrors that are spoken to over plain HTTP, or whose certificate is not checked, as "
    "`localhost:5000`.",
)
REGISTRY_MIRRORS = Setting(
    "HARENA_REGISTRY_MIRRORS",
    NODE,
    "",
    "REGISTRY=MIRROR, separated by commas",
    "Pull-through mirrors that are asked before the registry, as `docker.io=mirror.example:5000/hub`. A registry may "
    "have several.",
)
REGISTRY_AUTH_FILE = Setting(
    "HARENA_REGISTRY_AUTH_FILE",
    NODE,
    None,
    "file",
    "Users and passwords for registries, as `skopeo login` and `docker login` write them. Without it those of the "
    "node's user are taken. All workspaces of a server pull with them.",
)
JUDGE_BASE_URL = Setting(
    "HARENA_JUDGE_BASE_URL",
    NODE,
    None,
    "http(s) URL",
    "Server of judges (`score_model`, `label_model`, `llm_judge_v1`), with the chat completions API, as "
    "`http://127.0.0.1:8000/v1`. Without it such contracts and recipes are refused.",
)
JUDGE_API_KEY = Setting(
    "HARENA_JUDGE_API_KEY",
    NODE,
    None,
    "text",
    "API key for that server. It never enters a sandbox, a result or an error.",
)
TRAINING_ALIASES = Setting(
    "HARENA_TRAINING_ALIASES",
    NODE,
    "tinker,ray",
    "names, separated by commas",
    "Names of hosted backends that a training request may give as `backend`; such jobs run on this node's own backend. "
    "Empty = none.",
)
RAY_ADDRESS = Setting(
    "HARENA_RAY_ADDRESS",
    NODE,
    None,
    "host:port of a Ray head, or `auto`",
    "Ray cluster that training jobs of backend `ray` and benchmark jobs of execution `ray` run on; the machine of this "
    "node must belong to it. Without it the address in RAY_ADDRESS, which `ray job submit` sets; without both, backend "
    "`ray` is a name for this node's own (HARENA_TRAINING_ALIASES), and execution `ray` is refused.",
)
TRAINING_MEMORY_BYTES = Setting(
    "HARENA_TRAINING_MEMORY_BYTES",
    WORKER,
    None,
    "bytes",
    "Memory (RLIMIT_DATA) of one worker. Without it 80 % of the machine's memory, or no limit where there is an NVIDIA "
    "GPU.",
)
READING_MEMORY_BYTES = Setting(
    "HARENA_READING_MEMORY_BYTES",
    NODE,
    4 << 30,
    "bytes",
    "Memory of the process that reads a file which a user has published.",
)
READING_SECONDS = Setting(
    "HARENA_READING_SECONDS", NODE, 600, "seconds", "Time that this process may take for one file."
)
READING_ANSWER_BYTES = Setting(
    "HARENA_READING_ANSWER_BYTES",
    NODE,
    512 << 20,
    "bytes",
    "Size of what this process may pass on about one file. A training job's worker, which has a memory limit of its "
    "own, takes 1 TiB.",
)
PACKAGE_SECONDS = Setting(
    "HARENA_PACKAGE_SECONDS", NODE, 1800, "seconds", "Time that installing the packages of one blueprint may take."
)
PACKAGE_DOWNLOAD_BYTES = Setting(
    "HARENA_PACKAGE_DOWNLOAD_BYTES",
    NODE,
    32 << 30,
    "bytes",
    "Size of the files in which the packages of one blueprint are downloaded and unpacked; pip has each wheel twice.",
)
SAMPLER_TOKEN = Setting(
    "HARENA_SAMPLER_TOKEN",
    WORKER,
    None,
    "text",
    "Token that a sampler's callers must show. The engine that starts a sampler makes the token; a sampler that is "
    "started by hand needs it set.",
)
LIMITS = Setting(
    "HARENA_LIMITS",
    SERVER,
    "",
    "NAME=NUMBER, separated by spaces",
    "Limits for every workspace of `harena serve`, as its option `--limit`, which replaces them. The names are below.",
)
WEBHOOK_SECRET = Setting(
    "HARENA_WEBHOOK_SECRET",
    COMMAND_LINE,
    None,
    "text",
    "Secret that signs the webhook of a job which the command line submits with `--webhook`; without it the webhook is "
    "not signed.",
)
PYTHON = Setting(
    "HARENA_PYTHON",
    SET_UP,
    None,
    "program",
    "Python 3.11 or newer with which the environment of a checkout is made. Without it the first one on PATH is taken.",
)
MACHINE_CODE = Setting(
    "HARENA_MACHINE_CODE",
    NODE,
    "on",
    "on or off",
    "Templates and inits do what is common in machine code; off = in Python.",
)
WARM_PROGRAMS = Setting(
    "HARENA_WARM_PROGRAMS",
    NODE,
    "on",
    "on or off",
    "A Python program of a blueprint with a warm list runs in a fork of a started interpreter; off = each is "
    "really started.",
)
HIDDEN_FRAMES = Setting(
    "HARENA_HIDDEN_FRAMES",
    NODE,
    "on",
    "on or off",
    "A warm program finds no frame below itself; off = one frame of harena's is below it, and data sets without a "
    "blueprint do not start warm.",
)
WARM_IMPORTS = Setting(
    "HARENA_WARM_IMPORTS",
    NODE,
    "on",
    "on or off",
    "What a blueprint imports is imported once, and the memory of that process is forked; off = each program "
    "imports it.",
)
KNOWN_PROGRAMS = Setting(
    "HARENA_KNOWN_PROGRAMS",
    NODE,
    "on",
    "on or off",
    "What the driver of scored programs begins with is done once, in the template; off = in each run.",
)
REHEARSALS = Setting(
    "HARENA_REHEARSALS",
    NODE,
    "on",
    "on or off",
    "A template does what its forks will need before the first fork; off = each fork does it.",
)
MADE_AHEAD = Setting(
    "HARENA_MADE_AHEAD",
    NODE,
    "on",
    "on or off",
    "Sandboxes of a kind that is in demand are made before somebody asks for one; off = each is made when it is "
    "asked for.",
)

SETTINGS = tuple(value for value in list(globals().values()) if isinstance(value, Setting))
"""all of them, in the order of the reference"""
