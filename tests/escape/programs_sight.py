# ruff: noqa: E501 (programs are text, not code of ours)
"""Looking around: what a program might see of others."""

from __future__ import annotations

# Secrets are recognised by their form, so that this text does not find itself.
SECRET = r"""
import re
secret = re.compile(b"(host|neighbour)-" + b"secret-[0-9a-f]{32}")
def search(where, content):
    found = secret.search(content)
    if found:
        escaped(where, found[0])
def read(path, most=1 << 20):
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except (OSError, ValueError):
        return None
    try:
        return os.read(descriptor, most)
    except OSError:
        return None
    finally:
        os.close(descriptor)
"""

PROGRAMS = {
    "every file of /proc": r"""
for place, directories, names in os.walk("/proc"):
    if place.count("/") > 5:
        directories.clear()
    directories[:] = [d for d in directories if d not in ("sys", "task", "map_files")]
    for name in names:
        if name not in ("kmsg", "kcore", "pagemap", "mem", "clear_refs", "kpagecount"):
            content = read(place + "/" + name)
            if content:
                search(place + "/" + name, content)
done()
""",
    "every file outside /usr and /proc": r"""
interpreter = os.path.realpath(sys.base_prefix)
for place, directories, names in os.walk("/"):
    if place == "/":
        directories[:] = [d for d in directories if d not in ("usr", "proc", "bin", "lib", "lib64", "sbin")]
    directories[:] = [d for d in directories if os.path.realpath(place + "/" + d) != interpreter]
    for name in names:
        content = read(place + "/" + name) if not place.startswith("/dev") else None
        if content:
            search(place + "/" + name, content)
done()
""",
    "what is in the root": r"""
known = {"app", "bin", "data", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "logs", "mnt", "opt", "proc", "root",
         "run", "sbin", "solution", "srv", "tests", "tmp", "usr", "var", "workspace", ".new"}
extra = set(os.listdir("/")) - known
if extra:
    escaped(extra)
for place in ("/app", "/logs", "/solution", "/tests", "/home", "/mnt", "/srv", "/run", "/root", "/var/log", "/var/lib", "/.new"):
    if os.path.isdir(place) and os.listdir(place):
        escaped(place, os.listdir(place))
done()
""",
    "the host's files by name": r"""
for path in (sys.argv[1], sys.argv[2], "/proc/1/root" + sys.argv[1], "/proc/self/root" + sys.argv[1], "/proc/1/cwd" + sys.argv[1],
             "/etc/shadow", "/etc/machine-id", "/etc/ssh", "/root/.ssh", "/root/.bash_history", "/var/lib/dpkg", "/boot", "/sys",
             "/sys/class", "/run/systemd", "/var/run/docker.sock"):
    if os.path.lexists(path):
        escaped(path)
done()
""",
    "the host's and the neighbour's processes": r"""
me = os.getpid()
pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
if pids != [1, me]:
    escaped(pids)
for pid in range(1, 5000):
    if pid not in (1, me):
        try:
            os.kill(pid, 0)
            escaped("a process", pid)
        except ProcessLookupError:
            pass
host = int(sys.argv[1])
if host != me:
    tried("host process", lambda: os.kill(host, 0))
if os.getppid() not in (0, 1) or os.getpgid(0) != me:
    escaped(os.getppid(), os.getpgid(0))
done()
""",
    "what belongs to init": r"""
for name in ("mem", "environ", "maps", "smaps", "auxv", "pagemap", "root", "cwd", "exe", "fd", "fdinfo", "map_files", "ns/mnt",
             "ns/net", "stack", "syscall", "io", "personality", "timers", "task/1/mem", "task/1/fd", "task/1/environ"):
    path = "/proc/1/" + name
    for flags in (os.O_RDONLY, os.O_RDWR):
        try:
            descriptor = os.open(path, flags)
        except OSError:
            continue
        try:
            content = os.listdir(descriptor) if name in ("fd", "fdinfo", "map_files", "root", "cwd") else os.read(descriptor, 16)
        except OSError:
            continue
        if content and name != "fd":  # its numbers are no secret; what they lead to is tried below
            escaped(path, content)
    tried("link " + path, lambda: os.readlink(path))
for number in range(64):
    tried(("descriptor", number), lambda: os.readlink(f"/proc/1/fd/{number}"))
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_PATH):
        tried(("descriptor", number, flags), lambda: os.open(f"/proc/1/fd/{number}", flags))
done()
""",
    "descriptors": r"""
own = os.open("/proc/self/fd", os.O_RDONLY)
for name in os.listdir(own):
    if int(name) > 2 and int(name) != own:
        try:
            escaped(name, os.readlink("/proc/self/fd/" + name))
        except FileNotFoundError:
            pass
for number in range(3, 1024):
    if number != own:
        try:
            os.fstat(number)
            escaped("descriptor", number)
        except OSError:
            pass
done()
""",
    "its own memory": r"""
# a warm program is a fork of init: nothing of the host or of a neighbour may lie in what it has inherited
maps = [line.split() for line in open("/proc/self/maps")]
memory = os.open("/proc/self/mem", os.O_RDONLY)
total = 0
for fields in maps:
    start, end = (int(part, 16) for part in fields[0].split("-"))
    if "r" in fields[1] and fields[-1] not in ("[vvar]", "[vsyscall]", "[vvar_vclock]") and end - start < 1 << 27:
        try:
            search(fields, os.pread(memory, end - start, start))
            total += end - start
        except OSError:
            pass
assert total > 1 << 20
done()
""",
    "environment": r"""
allowed = {"PATH", "HOME", "LANG", "PYTHONHASHSEED", "LD_LIBRARY_PATH", "LC_CTYPE", "PWD", "OLDPWD", "SHLVL", "_",
           "ASAN_OPTIONS", "LSAN_OPTIONS"}
extra = {name: value for name, value in os.environ.items() if name not in allowed}
if extra:
    escaped(extra)
done()
""",
    "names": r"""
import socket
if socket.gethostname() != "sandbox" or os.uname().nodename != "sandbox" or open("/etc/hostname").read() != "sandbox\n":
    escaped(socket.gethostname(), os.uname())
import pwd
if sorted(entry.pw_name for entry in pwd.getpwall()) != ["nobody", "root"]:
    escaped(pwd.getpwall())
done()
""",
    "shared memory and queues of the neighbour": r"""
if libc.shmget(0x68617265, 0, 0) >= 0:
    escaped("shmget")
for name in ("shm", "msg", "sem"):
    lines = open("/proc/sysvipc/" + name).read().splitlines()
    if len(lines) > 1:
        escaped(lines)
if os.listdir("/dev/shm"):
    escaped(os.listdir("/dev/shm"))
done()
""",
    "user identity": r"""
for name in ("uid_map", "gid_map"):
    ranges = [line.split() for line in open("/proc/self/" + name)]
    if any(inside != outside for inside, outside, _ in ranges):
        escaped("ids of the host", ranges)
    if sum(int(count) for _, _, count in ranges) not in (1, 65536):  # the latter for an image
        escaped("other users", ranges)
if os.getgroups() not in ([], [0], [65534]):
    escaped(os.getgroups())
done()
""",
}  # fmt: skip
