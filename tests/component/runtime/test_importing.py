"""What the keeper believes of the importer, and what the forker is given: both without a process of either."""

from __future__ import annotations

import ctypes
import marshal
import os
import random
import socket
import struct
from collections.abc import Iterator

import pytest

from footprint import resident_bytes
from harena.runtime.fast_path import forker
from harena.runtime.guest import launch
from harena.runtime.guest.template import ANSWER
from harena.runtime.kernel import seccomp_policy
from harena.runtime.kernel.syscalls import StepError
from harena.runtime.spawner import importing

pytestmark = pytest.mark.skipif(not forker.is_possible(), reason="the forker is machine code for x86-64")

MESSAGES = int(os.environ.get("HARENA_FUZZ_MESSAGES", "5000"))
REGISTERS = dict.fromkeys((*forker._RESTORED, "fs_base", "orig_rax"), 7)
SETTINGS = {
    "tmpfs": b"size=1000000,nr_inodes=100,mode=755",
    "hostname": b"sandbox",
    "rlimits": [(4, 0), (6, 20)],
    "own_users": False,
    "hides_processes": False,
    "own_domains": False,
    "listeners": [],
    "layers": None,
    "rights": bytes(24),
}


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[importing.Keeper, socket.socket]]:
    """One whose importer is this test."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made = importing.Keeper(seccomp_policy.build(), [], ours, ours, None, gate=-1, memory=-1)  # type: ignore[arg-type]
    made.importer_pid = os.getpid()
    made.layout = forker.Layout(0x7000_0000_0000, made.filter, REGISTERS)
    monkeypatch.setattr(made, "_waiting", lambda: forker.Parked(REGISTERS, (0x37F, 0x1F80)))
    yield made, theirs
    ours.close()
    theirs.close()


@pytest.mark.timeout(0 if MESSAGES > 100_000 else 120)
def test_no_message_of_an_importer_does_more_than_fail(keeper: tuple[importing.Keeper, socket.socket]) -> None:
    """Random messages, with descriptors: each is a failure that the spawner can be told, or a state that fits into the
    memory it is meant for; no descriptor and no memory is left. HARENA_FUZZ_MESSAGES sets how many."""
    made, theirs = keeper
    drawn = random.Random(11)
    before, memory = len(os.listdir("/proc/self/fd")), 0
    ready = 0
    for sent in range(MESSAGES):
        if sent == MESSAGES // 10:  # by now it has its buffers
            memory = resident_bytes()
        head = drawn.choice((ANSWER.pack(0, 0), ANSWER.pack(0, 0), ANSWER.pack(drawn.getrandbits(32), 1), b""))
        count = drawn.choice((0, 1, 3, 65, 66))
        actions = b"".join(struct.pack("<B7x32s", drawn.randrange(256), drawn.randbytes(32)) for _ in range(count))
        message = head + drawn.choice((actions, actions, actions[:-3], drawn.randbytes(drawn.randrange(9000)))) or b"x"
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", theirs.fileno()))]
        theirs.sendmsg([message], rights if drawn.random() < 0.2 else [])
        answer = made.watch()
        if answer:
            number, code = ANSWER.unpack_from(answer)
            assert (number, code != 0) == (0, True)
            assert len(answer) <= 4096
        else:
            ready += 1
            assert len(made.layout.content()) == forker.PLACE_BYTES
    assert MESSAGES // 20 < ready < MESSAGES
    assert len(os.listdir("/proc/self/fd")) == before
    assert resident_bytes() < memory + (16 << 20)


def test_an_importer_that_ends_has_an_answer(keeper: tuple[importing.Keeper, socket.socket]) -> None:
    """The template has its end of the socket too: that it has ended is seen by its number."""
    made, _theirs = keeper
    pid = os.posix_spawn("/bin/true", ["true"], {})
    made.importer_pid = pid
    answer = made.watch()
    os.waitpid(pid, 0)
    assert ANSWER.unpack_from(answer)[1] != 0
    assert answer[ANSWER.size :] == b"", "the spawner knows why"


@pytest.mark.parametrize("own_users", [False, True])
def test_an_order_is_a_launch(own_users: bool) -> None:
    """Wherever the message comes to lie, its calls are those of a launch, with its texts; but for the last ones."""
    settings = {**SETTINGS, "own_users": own_users}
    message = bytes(4) + forker.order(marshal.dumps(settings, 2))
    memory = ctypes.create_string_buffer(message, len(message))
    place = ctypes.addressof(memory)
    _, channel_call, flags, count, relocations = forker.ORDER.unpack_from(memory)
    made = launch.SandboxLaunch(settings, None)  # type: ignore[arg-type]
    assert (channel_call, flags, count) == (made.channel_call, made.flags, len(made.steps()))
    tables = struct.unpack_from(f"<{relocations + count}I", memory, forker.ORDER.size + 56 * count)
    for offset in tables[:relocations]:
        address = ctypes.c_uint64.from_buffer(memory, offset)
        address.value += place
        assert place < address.value < place + len(message)
    names = [ctypes.string_at(place + offset).decode() for offset in tables[relocations:]]
    assert names == made.steps()
    assert ("write uid_map" in names) == own_users
    assert not {"seccomp", "ready", "capabilities"} & set(names), "those are the forker's own"
    rows = list(struct.iter_unpack("<7q", memory[forker.ORDER.size : forker.ORDER.size + 56 * count]))
    mounts = [ctypes.string_at(row[3]) for row, name in zip(rows, names, strict=True) if name in ("proc", "terminals")]
    assert mounts == [b"proc", b"devpts"]


def test_the_forkers_memory_leads_nowhere_else() -> None:
    """Every address in its calls lies in it, and it says so if it does not fit."""
    place = 0x7000_0000_0000
    parked = forker.Parked(REGISTERS, (0x37F, 0x1F80), (1 << 20, 32, 5), [(2, bytes(32))], 1 << 18)
    layout = forker.Layout(place, seccomp_policy.build(), REGISTERS, [(9, 1 << 32)], parked)
    content = layout.content()
    fields = struct.unpack_from("<Q2Q15Q2I2Q2Q2Q15Q2I4Q", content, layout.forker - place)
    for address, count in ((fields[1], fields[2]), *((fields[at], fields[at + 1]) for at in (20, 22, 24))):
        assert place < address < place + len(content)
        rows = struct.iter_unpack("<7Q", content[address - place : address - place + 56 * count])
        pointers = [word for row in rows for word in row[1:] if word >> 40 == place >> 40]
        assert all(place < pointer < place + len(content) for pointer in pointers)
    with pytest.raises(StepError, match="forker"):
        forker.Layout(place, bytes(8 * 10_000), REGISTERS).content()
