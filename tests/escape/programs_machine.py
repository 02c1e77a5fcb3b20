# ruff: noqa: E501 (programs are text, not code of ours)
"""Programs that try what the profile `machine` seems to give: root with capabilities, and 65,536 users."""

from __future__ import annotations

ALLOWED = ("chroot",)
"""calls that are refused in every other world"""

INSTEAD = {
    "capabilities": r"""
mine = sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 8, 10, 18))
def rights():
    return {line.split(":")[0]: int(line.split()[1], 16) for line in open("/proc/self/status") if line.startswith("Cap")}
for name, value in rights().items():
    if value & ~mine:
        escaped(name, hex(value))
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
for number in range(41):
    low, high = (1 << number) & 0xFFFFFFFF, (1 << number) >> 32
    if not mine >> number & 1:
        if call(126, header, (ctypes.c_uint32 * 6)(low, low, low, high, high, high)) == 0:
            escaped("capset", number)
        if call(157, 47, 2, number, 0, 0) == 0:
            escaped("ambient", number)
call(157, 28, 0, 0, 0, 0)  # no securebit
call(157, 8, 1, 0, 0, 0)  # PR_SET_KEEPCAPS
for user in (0, 1000):
    child = os.fork()
    if child == 0:
        if user:
            os.setuid(user)
            try:
                os.setuid(0)
                escaped("root again")
            except OSError:
                pass
        os.execv("/usr/bin/python3", ["python3", "-c", f'''
mine = {mine if not user else 0}
for line in open("/proc/self/status"):
    if line.startswith(("CapPrm", "CapEff", "CapAmb")) and int(line.split()[1], 16) & ~mine:
        print("ESCAPED after exec", line, flush=True)
'''])
    os.waitpid(child, 0)
done()
""",
    "become another user": r"""
for user in (65536, 70000, 4000055296, 0xFFFFFFFE, 2**32 - 1, 1900000000):
    for call_number, words in ((105, (user,)), (106, (user,)), (117, (user,) * 3), (119, (user,) * 3), (113, (user,) * 2)):
        if call(call_number, *words) == 0 and (0xFFFFFFFF != user or os.getresuid() != (0, 0, 0)):
            escaped("became", call_number, user)
    call(122, user)  # setfsuid, which tells nothing
    call(123, user)
    made = os.open("/tmp/made", os.O_CREAT | os.O_RDWR)
    if os.fstat(made).st_uid or os.fstat(made).st_gid:
        escaped("files of", os.fstat(made))
    os.close(made)
    groups = (ctypes.c_uint32 * 1)(user)
    if call(116, 1, groups) == 0:
        escaped("group", user)
    if user < 2**32 - 1:
        tried("chown", lambda: os.chown("/tmp/made", user, -1))
        tried("chown", lambda: os.chown("/tmp/made", -1, user))
done()
""",
    "setuid programs": r"""
import shutil, subprocess
shutil.copy("/usr/bin/python3", "/tmp/set")
for owner in (0, 33):
    os.chown("/tmp/set", owner, owner)
    os.chmod("/tmp/set", 0o6755)
    child = os.fork()
    if child == 0:
        os.setgroups([]); os.setgid(1000); os.setuid(1000)
        os.execv("/tmp/set", ["set", "-c", r'''
import os
if os.getresuid() != (1000,) * 3 or os.getresgid() != (1000,) * 3:
    print("ESCAPED", os.getresuid(), os.getresgid(), flush=True)
for line in open("/proc/self/status"):
    if line.startswith(("CapPrm", "CapEff")) and int(line.split()[1], 16):
        print("ESCAPED", line, flush=True)
'''])
    os.waitpid(child, 0)
done()
""",
    "out of a directory": r"""
os.makedirs("/tmp/jail/inner")
before = sorted(os.listdir("/"))
here = os.open("/", os.O_RDONLY)
os.chroot("/tmp/jail")
os.fchdir(here)
for _ in range(100):
    os.chdir("..")
os.chroot(".")
after = sorted(os.listdir("/"))
if after != before:
    escaped("another root", after)
for place in ("/layers", "/.new", "/.trees", "/usr/lib/harena", "/opt/guard"):
    if os.path.exists(place):
        escaped("the template's", place)
for process in os.listdir("/proc"):
    if process.isdigit():
        for link in ("root", "cwd"):
            try:
                there = f"/proc/{process}/{link}/"
                if sorted(os.listdir(there)) not in (before, []) and link == "root":
                    escaped(there, os.listdir(there))
            except OSError:
                pass
done()
""",
    "signals that whoever is at the other end sends": r"""
import fcntl, signal, socket
signal.signal(signal.SIGIO, lambda *_: escaped("a signal"))
for there in (0, 1, 2, *os.pipe(), *(end.detach() for end in socket.socketpair()), *os.openpty()):
    flags = fcntl.fcntl(there, fcntl.F_GETFL)
    tried("O_ASYNC", lambda: fcntl.fcntl(there, fcntl.F_SETFL, flags | os.O_ASYNC))
    fcntl.fcntl(there, fcntl.F_SETOWN, os.getpid())
    fcntl.ioctl(there, 0x5452, (1).to_bytes(4, "little"))
    if fcntl.fcntl(there, fcntl.F_GETFL) & os.O_ASYNC:
        escaped("signals are sent for", there)
ours, theirs = socket.socketpair()
fcntl.ioctl(ours, 0x5452, (1).to_bytes(4, "little"))
fcntl.fcntl(ours, fcntl.F_SETOWN, os.getpid())
theirs.send(b"x")
done()
""",
}
"""for programs of `programs_kernel` that take such capabilities themselves for an escape"""

PROGRAMS = {
    "namespaces as every user": r"""
for user in (0, 1, 1000, 65534):
    child = os.fork()
    if child == 0:
        os.setgid(user); os.setuid(user)
        for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80, 0x10020000):
            if call(272, flag) == 0:
                escaped("unshare", hex(flag), user)
            if call(56, flag | 17, 0, 0, 0, 0) >= 0:
                escaped("clone", hex(flag), user)
        for kind in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup"):
            for process in ("1", "self"):
                try:
                    there = os.open(f"/proc/{process}/ns/{kind}", os.O_RDONLY)
                except OSError:
                    continue
                if call(308, there, 0) == 0:
                    escaped("setns", kind)
        os._exit(0)
    os.waitpid(child, 0)
done()
""",
    "mounts": r"""
for number, words in ((165, (b"tmpfs", b"/tmp", b"tmpfs", 0, 0)), (165, (b"/", b"/tmp", 0, 4096, 0)), (165, (b"none", b"/proc", 0, 32, 0)),
                      (165, (b"none", b"/proc", 0, 32 | 4096, 0)), (166, (b"/proc", 2)), (166, (b"/dev", 2)), (428, (-100, b"/", 1)),
                      (430, (b"tmpfs", 0)), (442, (-100, b"/proc", 0, bytes(32), 32)), (155, (b"/tmp", b"/tmp"))):
    if call(number, *words) >= 0:
        escaped("mount", number, words)
done()
""",
    "trace init": r"""
for user in (0, 1000):
    child = os.fork()
    if child == 0:
        os.setuid(user)
        for request in (16, 0x4206, 0, 2, 5):
            if call(101, request, 1, 0, 0) >= 0 and request != 0:
                escaped("ptrace", request)
        for name in ("mem", "maps", "environ", "auxv", "stack", "syscall", "smaps", "pagemap", "personality", "io", "map_files", "fd/3", "fd/4", "root/etc", "cwd", "exe", "ns/mnt"):
            for flags in (os.O_RDONLY, os.O_WRONLY):
                try:
                    there = "/proc/1/" + name
                    if os.path.isdir(there):
                        read = [os.readlink(f"{there}/{each}") for each in os.listdir(there)]
                    elif flags == os.O_RDONLY:
                        read = os.read(os.open(there, flags), 100)
                    else:
                        read = os.write(os.open(there, flags), b"0")
                    if read:
                        escaped("read", name, read)
                except OSError:
                    pass
        if call(310, 1, bytes(16), 1, bytes(16), 1, 0) >= 0 or call(438, 3, 3, 0) >= 0 or call(312, 1, os.getpid(), 0, 0, 0) >= 0:
            escaped("reads init")
        os._exit(0)
    os.waitpid(child, 0)
done()
""",
    "signals to init": r"""
import signal
for number in range(1, 65):
    for user in (0, 1000):
        if number == 1 and user:
            child = os.fork()
            if child == 0:
                os.setuid(user)
                for each in range(1, 65):
                    try:
                        os.kill(1, each)
                        escaped("another user's signal", each)
                    except OSError:
                        pass
                os._exit(0)
            os.waitpid(child, 0)
    try:
        os.kill(1, number)
    except OSError:
        pass
    call(129, 1, number, bytes(128))
    call(234, 1, 1, number)
    call(297, 1, 1, number, bytes(128))
there = call(434, 1, 0)
if there >= 0:
    for number in (9, 19, 15, 17):
        call(424, there, number, 0, 0)
done()
""",
    "files that are not the sandbox's": r"""
import stat
for place in ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/urandom", "/proc", "/proc/1", "/proc/1/stat", "/proc/sys/kernel/hostname",
              "/proc/sys/vm/overcommit_memory", "/proc/self/oom_score_adj", "/proc/self/uid_map", "/proc/sysrq-trigger", "/dev"):
    if not os.path.exists(place):
        continue
    for user in (0, 1000):
        tried(("chown", place), lambda: os.chown(place, user, user))
    tried(("chmod", place), lambda: os.chmod(place, 0o777 | (stat.S_ISUID if os.path.isfile(place) else 0)))
    tried(("times", place), lambda: os.utime(place, (1, 1)))
    tried(("attribute", place), lambda: os.setxattr(place, "user.x", b"1"))
    tried(("remove", place), lambda: os.unlink(place))
    tried(("rename", place), lambda: os.rename(place, "/dev/moved"))
    if place.startswith("/proc") and os.path.isfile(place):
        tried(("write", place), lambda: os.write(os.open(place, os.O_WRONLY), b"0"))
    if place.startswith("/proc"):
        tried(("truncate", place), lambda: os.open(place, os.O_WRONLY | os.O_TRUNC))
tried("new device", lambda: os.open("/dev/new", os.O_CREAT | os.O_RDWR))
done()
""",
    "devices and file capabilities": r"""
import stat, struct
for kind, device in ((stat.S_IFCHR, (1, 1)), (stat.S_IFCHR, (1, 3)), (stat.S_IFCHR, (10, 200)), (stat.S_IFBLK, (8, 0)), (stat.S_IFBLK, (254, 0)), (stat.S_IFBLK, (7, 0))):
    for place in ("/tmp/node", "/dev/shm/node", "/node", "/root/node"):
        try:
            os.mknod(place, kind | 0o666, os.makedev(*device))
            escaped("made", device, place)
        except OSError:
            pass
import shutil
shutil.copy("/usr/bin/python3", "/tmp/able")
every = 0xFFFFFFFF
for revision in (struct.pack("<5I", 0x02000001, every, every, every, every), struct.pack("<6I", 0x03000001, every, every, every, every, 0)):
    try:
        os.setxattr("/tmp/able", "security.capability", revision)
    except OSError:
        continue
    for user in (0, 1000):
        child = os.fork()
        if child == 0:
            if user:
                os.setuid(user)
            mine = 0 if user else sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 8, 10, 18))
            os.execv("/tmp/able", ["able", "-c", f'''
for line in open("/proc/self/status"):
    if line.startswith(("CapPrm", "CapEff")) and int(line.split()[1], 16) & ~{mine}:
        print("ESCAPED by a file's capabilities", line, flush=True)
'''])
        os.waitpid(child, 0)
for name in ("trusted.overlay.opaque", "trusted.overlay.redirect", "trusted.x"):
    tried(("attribute", name), lambda: os.setxattr("/tmp/able", name, b"y"))
done()
""",
    "keys, raw sockets and the network's settings": r"""
import fcntl, socket, struct
for number, words in ((248, (b"user", b"x", b"y", 1, -3)), (249, (b"user", b"x", 0, -3)), (250, (0, -3, 1)), (250, (1, b"x"))):
    if call(number, *words) >= 0:
        escaped("keys", number)
for family, kind, protocol in ((2, 3, 1), (2, 3, 255), (10, 3, 58), (17, 3, 768), (17, 2, 768), (16, 3, 0), (16, 3, 9), (16, 3, 12)):
    there = call(41, family, kind, protocol)
    if there >= 0:
        escaped("socket", family, kind, protocol)
plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for request in (0x8914, 0x8916, 0x891C, 0x8922, 0x8924, 0x8927, 0x890B, 0x8946, 0x89F0):
    try:
        fcntl.ioctl(plain, request, struct.pack("16sH22x", b"lo", 0) + bytes(40))
        if request not in (0x8927, 0x8946):
            escaped("ioctl", hex(request))
    except OSError:
        pass
for option in (36, 33, 32):
    tried(("option", option), lambda: plain.setsockopt(1, option, 1))
done()
""",
    "limits and priorities of others": r"""
import resource
for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK, 12, 13, 14):
    try:
        now = resource.getrlimit(which)
        resource.setrlimit(which, (now[1] + 1, now[1] + 1) if now[1] >= 0 else now)
        if resource.getrlimit(which) != now:
            escaped("limit", which)
    except (OSError, ValueError):
        pass
for number, words in ((302, (1, 7, bytes(16), 0)), (141, (0, 1, 5)), (141, (0, 0, -5)), (203, (1, 8, bytes(8))), (144, (0, 1, struct_of := (ctypes.c_int * 1)(10)))):
    if call(number, *words) >= 0:
        escaped("call", number, words)
for number, words in ((170, (b"x", 1)), (171, (b"x", 1)), (164, (bytes(16), 0)), (227, (0, bytes(16))), (167, (b"/tmp/x", 0)), (163, (b"/tmp/x",)),
                      (169, (0xFEE1DEAD, 672274793, 0)), (103, (3, bytes(16), 16)), (175, (b"", 0, b"")), (321, (0, bytes(48), 48)), (298, (bytes(112), 0, -1, -1, 0)), (304, (-100, bytes(16), 0)), (153, ())):
    if call(number, *words) >= 0:
        escaped("call", number)
done()
""",
}
"""what an attacker tries with the profile's own rights"""
