# ruff: noqa: E501 (programs are text, not code of ours)
"""Sandboxes in which no program looks into the one that has started it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from battery_world import linux_runtime

from harena.core import landlock
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.ports import SandboxPort

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(
        landlock.version() < 2 or os.uname().machine != "x86_64", reason="needs Linux 5.19 with Landlock, on x86-64"
    ),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandboxes(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[SandboxPort, SandboxPort]]:
    """(an ordinary one, one whose programs have domains of their own)."""
    runtime = linux_runtime(tmp_path_factory.mktemp("home"))
    await runtime.start()
    yield await runtime.create(SandboxSpec()), await runtime.create(SandboxSpec(own_domains=True))
    await runtime.close()


async def said(sandbox: SandboxPort, line: str) -> str:
    request = ExecRequest(argv=("bash", "-c", f"cd $(mktemp -d); {line}"), timeout_seconds=60, warm=False)
    done = await (await sandbox.exec(request)).wait()
    return (done.stdout + done.stderr).decode()


LOOKS = {
    "its memory": '(perl -e \'open(my $f, "<", "/proc/" . getppid() . "/mem") and print "open"\'; true)',
    "its environment": "grep -ac PATH= /proc/$$/environ; true",
    "its descriptors": "readlink /proc/$$/fd/0; true",
    "its folder": "readlink /proc/$$/cwd; true",
    "its program": "env -i /usr/bin/sh -c 'readlink /proc/$PPID/exe; true'; true",
    "a program beside it": "sleep 60 & until grep -q sleep /proc/$!/cmdline; do :; done; readlink /proc/$!/exe; kill $!",
}


@pytest.mark.parametrize("name", LOOKS)
async def test_a_program_does_not_look_into_what_has_started_it(
    sandboxes: tuple[SandboxPort, SandboxPort], name: str
) -> None:
    ordinary, apart = sandboxes
    assert (await said(ordinary, LOOKS[name])).strip() not in ("", "0")
    refused = await said(apart, LOOKS[name])
    assert refused.strip() in ("", "0") or "denied" in refused or "not permitted" in refused, refused


GCC = "printf '#include <stdlib.h>\\nint main(void) {{ int *a = malloc(4); *a = 1; free(a); return 0; }}' > a.c; gcc {} a.c -o a && ./a && echo right"
SAME = {
    "moves and links": "mkdir -p a/b c; touch a/x; mv a/x c/x; ln c/x a/b/y; mv a/b c; ls -R; stat -c %h c/x",
    "moves from one place to another": "echo x > /tmp/own-domain; mv /tmp/own-domain /workspace/own-domain; cat /workspace/own-domain; rm /workspace/own-domain",
    "renames by perl": 'mkdir a b; touch a/x; perl -e \'rename("a/x", "b/x") or die $!; link("b/x", "a/y") or die $!\'; ls a b',
    "renames by node": "mkdir a b; node -e \"const fs = require('fs'); fs.writeFileSync('a/x', '1'); fs.renameSync('a/x', 'b/x'); fs.linkSync('b/x', 'a/y')\"; ls a b",
    "an archive": "mkdir -p a/b; echo 5 > a/b/x; tar cf x.tar a; mkdir c; tar xf x.tar -C c; cat c/a/b/x; cp -a c d; rm -r c; ls",
    "a repository": "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --format=%s && git mv x y 2>/dev/null; git status --short",
    "a compiler": GCC.format("-O2"),
    "a program that stands alone": GCC.format("-static"),
    "AddressSanitizer": GCC.format("-fsanitize=address"),
    "ThreadSanitizer": GCC.format("-fsanitize=thread"),
    "undefined behaviour": GCC.format("-fsanitize=undefined"),
    "make below make": "printf 'n ?= 0\\nall:\\n\\t@[ $(n) = 20 ] && echo deep || $(MAKE) --no-print-directory n=$$(($(n)+1))\\n' > Makefile; make -s",
    "pipes and signals": "sleep 60 & kill $!; wait $!; echo $?; yes | head -1; timeout 0.1 sleep 9; echo $?; (trap 'echo told' USR1; sh -c 'kill -USR1 $PPID'; true)",
    "what is public of processes": "sleep 60 & until grep -q sleep /proc/$!/cmdline; do :; done; ps -o comm= -p $!; pgrep -c -x sleep; pkill -x sleep; cut -d ' ' -f 2 /proc/$$/stat; grep -c VmRSS /proc/$$/status",
    "itself": "ls /proc/self/fd | wc -l; readlink /proc/self/exe; tr '\\0' ' ' < /proc/self/cmdline; grep -c . /proc/self/environ; cat < <(echo x); exec 5<<<y; cat /dev/fd/5",
    "what it starts": 'perl -e \'my $p = fork // die; if (!$p) { sleep 60; exit } print readlink("/proc/$p/exe"), "\\n"; kill 9, $p; wait\'',
    "what it starts, by node": "node -e \"const c = require('child_process').spawn('sleep', ['60']); c.on('spawn', () => { console.log(require('fs').readdirSync('/proc/' + c.pid + '/fd').length > 2); c.kill() })\"",
    "few descriptors": "ulimit -n 4; sh -c 'echo x | cat'",
    "a library of its own": "LD_PRELOAD=libm.so.6 sh -c 'echo loaded'; stdbuf -oL echo x",
    "its limits": "ulimit -x",
    "messages": "python3 -c \"import socket; a = socket.socket(socket.AF_UNIX); a.bind('\\0own'); a.listen(); b = socket.socket(socket.AF_UNIX); b.connect('\\0own'); print(5)\"",
    "processes of Python's": "python3 -c \"import multiprocessing as m; print(m.get_context('spawn').Pool(2).map(abs, [-1, 2]))\"",
}


@pytest.mark.parametrize("name", SAME)
async def test_nothing_else_differs(sandboxes: tuple[SandboxPort, SandboxPort], name: str) -> None:
    ordinary, apart = [await said(sandbox, SAME[name]) for sandbox in sandboxes]
    assert ordinary.strip()
    assert apart == ordinary
