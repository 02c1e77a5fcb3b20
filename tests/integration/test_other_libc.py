"""An image whose programs have another C library than the host's: musl, as Alpine has it, and nothing of the host's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from image_trees import archive_of

PROGRAM = r"""
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static void *twice(void *given) { return (void *)((long)given * 2); }

static int libraries(void) {
    char line[4096];
    int musl = 0, glibc = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        musl |= strstr(line, "ld-musl") != NULL;
        glibc |= strstr(line, "libc.so.6") != NULL;
    }
    return printf("musl %d glibc %d\n", musl, glibc) < 0;
}

int main(int argc, char **argv) {
    const char *verb = argc > 1 ? argv[1] : "", *what = argc > 2 ? argv[2] : "";
    if (!strcmp(verb, "libraries")) return libraries();
    if (!strcmp(verb, "threads")) {
        pthread_t all[8];
        long sum = 0;
        void *one;
        for (long n = 0; n < 8; n++) if (pthread_create(&all[n], NULL, twice, (void *)n)) return 2;
        for (int n = 0; n < 8; n++) { pthread_join(all[n], &one); sum += (long)one; }
        return printf("sum %ld\n", sum) < 0;
    }
    if (!strcmp(verb, "child")) {
        char *words[] = {argv[0], "exit", "7", NULL};
        pid_t child;
        int status;
        if (posix_spawnp(&child, argv[0], NULL, NULL, words, environ) || waitpid(child, &status, 0) != child) return 2;
        return printf("child %d\n", WEXITSTATUS(status)) < 0;
    }
    if (!strcmp(verb, "exit")) return atoi(what);
    if (!strcmp(verb, "user")) {
        struct passwd *found = getpwuid(getuid());
        return printf("%d %s %s\n", (int)getuid(), found ? found->pw_name : "-", getenv("HOME")) < 0;
    }
    if (!strcmp(verb, "name")) {
        struct addrinfo *found;
        return printf("name %d\n", getaddrinfo(what, "80", NULL, &found)) < 0;
    }
    if (!strcmp(verb, "write")) {
        FILE *file = fopen(what, "a");
        return !file || fputs("written\n", file) < 0 || fclose(file);
    }
    if (!strcmp(verb, "cat")) {
        int c;
        FILE *file = *what ? fopen(what, "r") : stdin;
        while (file && (c = getc(file)) != EOF) putchar(c);
        return !file;
    }
    if (!strcmp(verb, "eat")) for (;;) memset(malloc(1 << 20), 1, 1 << 20);
    if (!strcmp(verb, "stay")) for (;;) pause();
    return 3;
}
"""
USES = """
import json, sys
from pathlib import Path
import harena
from harena import HarenaError, Sandbox

place, said = Path(sys.argv[1]), {}
harena.images.import_archive("localhost/musl:1", place / "root.tar")
built = harena.images.build(place / "context", tags=["localhost/musl:built"])

def tells(sandbox, *words, **more):
    result = sandbox.exec(["tool", *words], **more).result()
    return [result.returncode, result.stdout, result.stderr]

with Sandbox.run(container_image="localhost/musl:1", limits={"memory_bytes": 64 << 20}) as sandbox:
    for words in (["libraries"], ["threads"], ["child"], ["user"], ["name", "localhost"], ["name", "nobody.example"]):
        said[" ".join(words)] = tells(sandbox, *words)
    said["stdin"] = tells(sandbox, "cat", stdin="given")
    sandbox.write_file("/data/file", b"of the API").result()
    said["file"] = tells(sandbox, "cat", "/data/file")
    tells(sandbox, "write", "/etc/new")
    said["new"] = sandbox.read_file("/etc/new").result().decode()
    said["missing"] = tells(sandbox, "cat", "/nothing")[0]
    said["no shell"] = sandbox.exec(["sh", "-c", "true"]).result().returncode
    kept = sandbox.exec(["tool", "stay"])
    said["processes"] = [one.command for one in sandbox.processes().result()]
    kept.cancel()
    forks = sandbox.fork(2).result()
    said["forks"] = [tells(one, "cat", "/etc/new")[1] for one in forks]
    for one in forks:
        one.stop().result()
    said["eat"] = str(sandbox.exec(["tool", "eat"]).result().outcome)
with Sandbox.run(container_image="localhost/musl:built") as sandbox:
    said["built"] = [tells(sandbox, "cat", path)[1] for path in ("/made/by-run", "/made/copied")]
    said["as user"] = tells(sandbox, "user")
print(json.dumps(said))
"""
DOCKERFILE = """\
FROM localhost/musl:1
COPY --chown=1000:1000 copied /made/copied
RUN ["tool", "write", "/made/by-run"]
USER dev
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program above has found."""
    compiler = shutil.which("musl-gcc")
    if compiler is None:
        pytest.skip("this machine has no musl-gcc (as root, `make test` installs it)")
    place, tree = tmp_path_factory.mktemp("place"), tmp_path_factory.mktemp("tree")
    (place / "tool.c").write_text(PROGRAM)
    for folder in ("bin", "lib", "etc", "made"):
        (tree / folder).mkdir()
    subprocess.run([compiler, "-O1", "-o", tree / "bin/tool", place / "tool.c"], check=True)
    loader = next(Path("/lib").glob("ld-musl-*.so.1"))
    shutil.copy(loader.resolve(), tree / "lib" / loader.name)
    (tree / "etc/passwd").write_text("root:x:0:0::/root:/bin/tool\ndev:x:1000:1000::/home/dev:/bin/tool\n")
    (tree / "etc/group").write_text("root:x:0:\ndev:x:1000:\n")
    archive_of(tree, place / "root.tar")
    (place / "context").mkdir()
    (place / "context/Dockerfile").write_text(DOCKERFILE)
    (place / "context/copied").write_text("copied\n")
    ended = subprocess.run(
        [sys.executable, "-c", USES, str(place)],
        env={**os.environ, "HARENA_HOME": str(place / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def test_programs_have_the_images_library_alone(said: dict[str, Any]) -> None:
    assert said["libraries"] == [0, "musl 1 glibc 0\n", ""]


def test_threads_children_and_users(said: dict[str, Any]) -> None:
    """The calls that a library of its own makes pass the filter of system calls."""
    assert said["threads"] == [0, "sum 56\n", ""]
    assert said["child"] == [0, "child 7\n", ""]
    assert said["user"] == [0, "0 root /root\n", ""]


def test_names_are_looked_up_in_the_sandboxs_own_files(said: dict[str, Any]) -> None:
    """Without a network there is nobody to ask for others."""
    assert said["name localhost"][1] == "name 0\n"
    assert said["name nobody.example"][1] != "name 0\n"


def test_files_and_streams(said: dict[str, Any]) -> None:
    """By the API and by programs, each seeing what the other has written."""
    assert said["stdin"] == [0, "given", ""]
    assert (said["file"][1], said["new"], said["missing"]) == ("of the API", "written\n", 1)
    assert said["no shell"] == 127
    assert any("stay" in command for command in said["processes"])


def test_forks_and_limits(said: dict[str, Any]) -> None:
    assert said["forks"] == ["written\n"] * 2
    assert said["eat"] == "memory"


def test_a_build_runs_its_programs(said: dict[str, Any]) -> None:
    """A RUN without a shell; the image's USER is who its passwd says."""
    assert said["built"] == ["written\n", "copied\n"]
    if os.geteuid() == 0:
        assert said["as user"] == [0, "1000 dev /home/dev\n", ""]
