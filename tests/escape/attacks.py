"""What hostile programs have in common. They print a line with ESCAPED if they got out of something, and "done" last:
a program that was cut off, or did not run at all, proves nothing."""

from __future__ import annotations

PRELUDE = r"""
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    def word(a):
        return ctypes.c_char_p(a) if isinstance(a, bytes) else a if isinstance(a, ctypes.Array) else ctypes.c_long(a)
    words = [word(a) for a in arguments]
    result = libc.syscall(ctypes.c_long(number), *words, *[ctypes.c_long(0)] * (6 - len(words)))
    return result if result >= 0 else -ctypes.get_errno()
def escaped(*what):
    print("ESCAPED", *what, flush=True)
def done():
    print("done", flush=True)
def tried(what, action):
    try:
        result = action()
    except OSError as error:
        return error
    escaped(what, result)
def machine_code(text):
    import mmap
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(bytes.fromhex(text.replace(" ", "")))
    machine_code.kept = page
    return ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
"""
"""put in front of every program"""

NEIGHBOUR = r"""
import ctypes, os, signal, socket, sys
secret = os.environ["SECRET"]
open("/tmp/file", "w").write(secret)
open("/dev/shm/file", "w").write(secret)
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
shared = libc.shmget(0x68617265, 4096, 0o1666)
ctypes.memmove(libc.shmat(shared, None, 0), secret.encode(), len(secret))
listener = socket.create_server(("127.0.0.1", 0))
abstract = socket.socket(socket.AF_UNIX)
abstract.bind("\0neighbour")
abstract.listen()
print(listener.getsockname()[1], os.getpid(), "neighbour", flush=True)
signal.pause()
"""
"""What a neighbour runs: something in each place that sandboxes could share."""
