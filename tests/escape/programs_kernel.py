# ruff: noqa: E501 (programs are text, not code of ours)
"""Attacks on the kernel. Numbers and machine code are those of x86-64."""

from __future__ import annotations

# Calls that a sandbox never makes: number on x86-64. They must be refused by the filter itself, before the kernel looks
# at what was given to it; any other error than these would mean that the kernel did look.
FORBIDDEN = {
    "ptrace": 101, "syslog": 103, "vhangup": 153, "modify_ldt": 154, "pivot_root": 155, "_sysctl": 156,
    "adjtimex": 159, "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167,
    "swapoff": 168, "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173,
    "init_module": 175, "delete_module": 176, "quotactl": 179, "lookup_dcookie": 212, "clock_settime": 227,
    "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "migrate_pages": 256, "unshare": 272,
    "move_pages": 279, "perf_event_open": 298, "fanotify_init": 300, "fanotify_mark": 301, "name_to_handle_at": 303,
    "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
    "kcmp": 312, "finit_module": 313, "seccomp": 317, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323, "mbind": 237, "set_mempolicy_home_node": 450,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "clone3": 435, "pidfd_getfd": 438,
    "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447, "process_mrelease": 448,
    "statmount": 457, "listmount": 458, "lsm_set_self_attr": 460, "open_tree_attr": 467,
    "x32 execve": 0x40000208, "x32 ptrace": 0x40000209, "x32 getpid": 0x40000027, "none at all": 0xFFFFFFFF,
}  # fmt: skip

REFUSED = r"""
import errno
for word in sys.argv[1:]:
    name, number = word.rsplit("=", 1)
    result = call(int(number), 0, 0, 0, 0, 0, 0)
    if result not in (-errno.EPERM, -errno.ENOSYS):
        escaped(name, result)
done()
"""

# The ones that matter most again, asked for what an attacker would really ask.
PROGRAMS = {
    "mount a tmpfs": r"""
libc.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
for source, target, kind, flags in (
    (b"x", b"/tmp", b"tmpfs", 0), (b"none", b"/usr", None, 32 | 4096), (b"none", b"/", None, 32 | 4096),
    (b"none", b"/proc/sys", None, 32 | 4096), (b"/usr", b"/tmp", None, 4096), (b"proc", b"/tmp", b"proc", 0),
    (b"sysfs", b"/tmp", b"sysfs", 0), (b"cgroup2", b"/tmp", b"cgroup2", 0), (b"none", b"/", None, 1 << 20)):
    if libc.mount(source, target, kind, flags, None) == 0:
        escaped("mount", source, target, kind)
for target in (b"/proc", b"/proc/sys", b"/usr", b"/tmp", b"/"):
    if libc.umount2(target, 2) == 0:
        escaped("umount", target)
done()
""",
    "write below /usr and /": r"""
for path in ("/x", "/usr/x", "/usr/bin/x", "/etc/passwd", "/etc/x", "/opt/x", "/dev/x", "/proc/x", "/run/x", "/home/x"):
    tried(path, lambda: os.open(path, os.O_WRONLY | os.O_CREAT))
tried("chmod", lambda: os.chmod("/usr/bin/env", 0o777))
tried("utime", lambda: os.utime("/usr/bin/env"))
tried("rename", lambda: os.rename("/etc/passwd", "/etc/other"))
tried("link", lambda: os.link("/usr/bin/env", "/tmp/env"))
tried("xattr", lambda: os.setxattr("/usr/bin/env", "user.x", b"x"))
tried("interpreter", lambda: os.open(os.path.realpath(sys.executable), os.O_WRONLY))
tried("library", lambda: os.open(os.__file__, os.O_WRONLY))
done()
""",
    "namespaces by unshare": r"""
for flag in (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x10020000):
    if libc.unshare(flag) == 0:
        escaped("unshare", hex(flag))
done()
""",
    "namespaces by clone": r"""
for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x7E020000):
    for high in (0, 1 << 32, 0xFFFFFFFF << 32):
        pid = call(56, flag | high | 17, 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        if pid > 0:
            os.waitpid(pid, 0)
            escaped("clone", hex(flag | high))
done()
""",
    "namespaces by clone3": r"""
import struct
for flag in (0x80, 0x20000, 0x10000000, 0x20000000, 0x40000000, 0x200000000, 0):
    pid = call(435, struct.pack("<11Q", flag, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88)
    if pid == 0:
        os._exit(0)
    if pid > 0:
        escaped("clone3", hex(flag))
done()
""",
    "setns by every door": r"""
for pid in (1, os.getpid(), os.getppid()):
    for kind in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup"):
        try:
            descriptor = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
        except OSError:
            continue
        if libc.setns(descriptor, 0) == 0:
            escaped("setns", pid, kind)
descriptor = call(434, 1, 0)
if descriptor >= 0 and libc.setns(descriptor, 0x10000000) == 0:
    escaped("setns by pidfd")
done()
""",
    "int 0x80": r"""
# eax = 20 (getpid of the 32-bit table); then 21 (mount) and 310 (unshare)
for number in (20, 11, 21, 120, 310, 26, 375):
    result = machine_code("53 b8 %s 31db 31c9 31d2 cd80 4898 5b c3" % number.to_bytes(4, "little").hex())()
    if result != -38:
        escaped("int 0x80", number, result)
done()
""",
    "x32 entry": r"""
for number in (39, 57, 165, 272):
    result = machine_code("b8 %s 31ff 31f6 31d2 4d31d2 0f05 c3" % (0x40000000 | number).to_bytes(4, "little").hex())()
    if result != -38:
        escaped("x32", number, result)
done()
""",
    "capabilities": r"""
import struct
status = open("/proc/self/status").read()
for line in status.splitlines():
    if line.startswith("Cap") and int(line.split()[1], 16):
        escaped(line)
    if line.startswith("NoNewPrivs") and line.split()[1] != "1":
        escaped(line)
    if line.startswith("Seccomp:") and line.split()[1] != "2":
        escaped(line)
for bits in (0xFFFFFFFF, 1 << 21, 1 << 7, 1 << 10):
    if call(126, struct.pack("<Ii", 0x20080522, 0), struct.pack("<6I", bits, bits, bits, 0xFFFFFFFF, 0xFFFFFFFF, 0)) == 0:
        escaped("capset", hex(bits))
for capability in range(41):
    if libc.prctl(47, 2, capability, 0, 0) == 0:
        escaped("ambient", capability)
if libc.prctl(28, 0, 0, 0, 0) == 0:
    escaped("securebits")
done()
""",
    "become another user": r"""
for user in (1, 1000, 65534, 1900000001, 4294967294):
    tried("setuid", lambda: os.setresuid(user, user, user))
    tried("setgid", lambda: os.setresgid(user, user, user))
tried("setgroups", lambda: os.setgroups([4, 27]))
tried("chown", lambda: (open("/tmp/x", "w").close(), os.chown("/tmp/x", 1000, 1000)))
done()
""",
    "setuid programs": r"""
import subprocess
for argv in (["su", "-c", "id"], ["mount", "-t", "tmpfs", "x", "/tmp"], ["sudo", "-n", "id"], ["passwd", "-d", "root"],
             ["newgrp"], ["chsh", "-s", "/bin/sh"], ["unshare", "-r", "true"], ["umount", "/proc"]):
    try:
        result = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        continue
    if result.returncode == 0 and argv[0] not in ("newgrp", "su"):
        escaped(argv, result)
open("/tmp/suid", "w").write("#!/bin/sh\n")
os.chmod("/tmp/suid", 0o6755)
import shutil
shutil.copy("/usr/bin/id", "/tmp/id")
os.chmod("/tmp/id", 0o6755)
result = subprocess.run(["sh", "-c", "grep -E '^(Cap|NoNew)' /proc/self/status"], capture_output=True, text=True).stdout
if any(int(line.split()[1], 16) for line in result.splitlines() if line.startswith("Cap")):
    escaped(result)
done()
""",
    "devices by mknod": r"""
import stat
for major, minor in ((1, 1), (1, 2), (1, 11), (8, 0), (252, 0), (10, 200), (10, 229), (5, 1), (4, 0)):
    for kind in (stat.S_IFCHR, stat.S_IFBLK):
        path = f"/tmp/node{major}.{minor}.{kind}"
        try:
            os.mknod(path, kind | 0o666, os.makedev(major, minor))
            os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
            escaped("device", major, minor)
        except OSError:
            pass
for name in ("mem", "kmsg", "sda", "vda", "kvm", "fuse", "net/tun", "loop-control", "mapper/control", "userfaultfd", "port", "nvidia0"):
    tried(name, lambda: os.open("/dev/" + name, os.O_RDWR | os.O_NONBLOCK))
if set(os.listdir("/dev")) - {"null", "zero", "full", "random", "urandom", "tty", "shm", "pts", "ptmx", "fd", "stdin", "stdout", "stderr"}:
    escaped(os.listdir("/dev"))
done()
""",
    "open the root by handle": r"""
import struct
for inode in range(1, 3):
    for parent in ("/", "/usr", "/tmp", "/proc"):
        handle = ctypes.create_string_buffer(struct.pack("<Ii", 8, 1) + struct.pack("<II", inode, 0) + bytes(120))
        descriptor = os.open(parent, os.O_RDONLY)
        if call(304, descriptor, handle, os.O_RDONLY) >= 0:
            escaped("open_by_handle_at", parent, inode)
done()
""",
    "out of a directory": r"""
root = os.open("/", os.O_RDONLY)
if call(161, b"/tmp") == 0:
    escaped("chroot")
os.chdir("/")
for _ in range(64):
    os.chdir("..")
if os.stat(".").st_ino != os.stat("/").st_ino:
    escaped("above the root")
for how in ("/..", "/proc/1/root/..", "/proc/self/root/.."):
    try:
        if sorted(os.listdir(how)) != sorted(os.listdir("/")):
            escaped(how, os.listdir(how))
    except OSError:
        pass
done()
""",
    "trace a sibling": r"""
import signal
pid = os.fork()
if pid == 0:
    signal.pause()
    os._exit(0)
for request in (16, 0x4206, 0, 7, 12):
    if call(101, request, pid, 0, 0) >= 0:
        escaped("ptrace", request)
if call(310, pid, 0, 0, 0, 0, 0) >= 0 or call(311, 1, 0, 0, 0, 0, 0) >= 0:
    escaped("process_vm")
os.kill(pid, 9)
os.waitpid(pid, 0)
done()
""",
    "settings in /proc/sys": r"""
for path in ("kernel/core_pattern", "kernel/hostname", "kernel/modprobe", "kernel/sysrq", "vm/overcommit_memory",
             "net/ipv4/ip_forward", "net/core/somaxconn", "kernel/shmmax", "kernel/ns_last_pid", "fs/mqueue/msg_max",
             "user/max_user_namespaces", "vm/drop_caches", "kernel/pid_max", "fs/pipe-max-size"):
    tried(path, lambda: os.open("/proc/sys/" + path, os.O_WRONLY))
for path in ("/proc/sysrq-trigger", "/proc/1/comm", "/proc/1/uid_map", "/proc/self/uid_map",
             "/proc/irq/default_smp_affinity", "/proc/mtrr", "/proc/self/loginuid", "/proc/timer_list"):
    def act():
        descriptor = os.open(path, os.O_WRONLY)
        try:
            return os.write(descriptor, b"1")
        finally:
            os.close(descriptor)
    tried(path, act)
def lower():
    return os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"-1")
tried("oom_score_adj", lower)
done()
""",
    "cgroups": r"""
if os.path.exists("/sys/fs/cgroup"):
    escaped(os.listdir("/sys/fs/cgroup"))
for line in open("/proc/self/mountinfo"):
    if " - cgroup" in line or " - sysfs " in line:
        escaped(line)
done()
""",
    "type into a terminal": r"""
import fcntl
master, slave = os.openpty()
fcntl.ioctl(slave, 0x540E, 0)
for command in (0x5412, 0x541C, 0x5412 | 1 << 32, 0x541C | 0xFFFFFFFF << 32):
    if call(16, slave, command, b"x") == 0:
        escaped("ioctl", hex(command))
done()
""",
    "sockets of other kinds": r"""
import socket
for family, kind, protocol in ((40, 1, 0), (17, 3, 0), (17, 2, 768), (38, 5, 0), (16, 3, 9), (16, 3, 12), (16, 3, 16),
    (16, 3, 15), (16, 3, 4), (16, 3, 6), (15, 3, 2), (31, 3, 1), (29, 3, 1), (44, 3, 0), (30, 2, 0), (21, 5, 0), (41, 1, 0),
    (2, 3, 1), (2, 3, 255), (10, 3, 58), (1 << 32 | 40, 1, 0)):
    descriptor = call(41, family, kind, protocol)
    if descriptor >= 0:
        escaped("socket", family, kind, protocol)
done()
""",
    "huge pages of the host's pool": r"""
for size in (0, 21 << 26, 30 << 26):
    address = call(9, 0, 1 << 21, 3, 0x40022 | size, -1, 0)
    if address != -12:
        escaped("mmap", address)
    if call(319, b"huge", 4 | size) >= 0:
        escaped("memfd_create", size)
    if call(29, 0x1234, 1 << 21, 0o5600 | size) >= 0:
        escaped("shmget", size)
done()
""",
    "files of the host kept in memory": r"""
import resource
most = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
if not 0 <= most <= 8 << 20:
    escaped("may keep", most)
done()
""",
    "connections whose end others would wait for": r"""
import socket, struct
listener = socket.create_server(("127.0.0.1", 0))
for made in (socket.create_connection(listener.getsockname()), listener, socket.socketpair()[0]):
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
    if struct.unpack("ii", made.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)) != (0, 0):
        escaped("whoever closes the last descriptor of it waits", made)
done()
""",
    "closed connections that count for the whole host": r"""
import socket, struct
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
before = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_LINGER2)
for seconds in (61, 120):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_LINGER2, seconds)
    if client.getsockopt(socket.IPPROTO_TCP, socket.TCP_LINGER2) != before or before > 60:
        escaped("an orphan for", seconds)
done()
""",
    "protocols that load modules": r"""
for family, kind, protocol in ((2, 5, 0), (10, 5, 0), (2, 6, 0), (2, 4, 0), (2, 10, 0), (2, 3, 0), (2, 1, 132), (2, 5, 132), (2, 1, 262), (2, 6, 33), (2, 1, 256), (2, 2, 115), (10, 1, 132), (10, 1, 262)):
    descriptor = call(41, family, kind, protocol)
    if descriptor >= 0:
        escaped("socket", family, kind, protocol)
done()
""",
    "personality": r"""
for value in (0x0400000, 0x0100000, 0x0200000, 0x4000000, 0x0800000, 0x1000000, 0x8000000, 6):
    if call(135, value) >= 0:
        escaped("personality", hex(value))
done()
""",
    "memory map of a process": r"""
for option in range(1, 15):
    if libc.prctl(35, option, 4096, 0, 0) == 0:
        escaped("PR_SET_MM", option)
if libc.prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0) == 0:
    escaped("PR_SET_PTRACER")
done()
""",
    "lower priority": r"""
import struct
def state():
    group = open("/proc/self/autogroup").read().split()[2:] if os.path.exists("/proc/self/autogroup") else []
    fields = open("/proc/self/stat").read().rpartition(")")[2].split()
    return os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), fields[15:17], group, call(252, 1, 0)
before = state()
def lower():
    # none of these may be refused: plain Python does not refuse them
    os.nice(5)
    for which in (os.PRIO_PROCESS, os.PRIO_PGRP, os.PRIO_USER):
        os.setpriority(which, 0, 19)
    os.setpriority(os.PRIO_PROCESS, os.getppid() if os.getppid() > 1 else os.getpid(), 19)
    for policy in (os.SCHED_BATCH, os.SCHED_IDLE, os.SCHED_IDLE | os.SCHED_RESET_ON_FORK):
        os.sched_setscheduler(0, policy, os.sched_param(0))
    for policy, nice in ((0, 19), (3, 0), (5, 0)):
        call(314, 0, struct.pack("<IIQiIQQQ", 48, policy, 0, nice, 0, 10**8, 0, 0), 0)
    for priority in (3 << 13, 2 << 13 | 7):
        call(251, 1, 0, priority)
    if state() != before:
        escaped("scheduled as", state(), "and not as", before)
lower()
if os.fork() == 0:
    os.setsid()
    lower()
    os._exit(0)
os.wait()
done()
""",
    "files of /proc that change how a process is scheduled or measured": r"""
import glob
def attempt():
    for pid in ("1", "self", "thread-self", str(os.getpid()), str(os.getppid())):
        for path in glob.glob(f"/proc/{pid}/*") + glob.glob(f"/proc/{pid}/task/*/*") + glob.glob(f"/proc/{pid}/attr/*"):
            if os.path.isdir(path) or path.endswith(("/exe", "/cwd", "/root")):
                continue
            for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
                try:
                    descriptor = os.open(path, flags)
                except OSError:
                    continue
                escaped("opened for writing", path)
                os.close(descriptor)
    for path in ("/proc/self/autogroup", "/proc/1/autogroup"):
        tried(path, lambda: os.chmod(path, 0o666))
attempt()
if os.fork() == 0:
    os.setsid()
    attempt()
    os._exit(0)
os.wait()
with open("/proc/self/fd/1", "w") as out, open("/dev/stderr", "w") as error:  # what these lead to is no file of /proc
    out.write("")
done()
""",
    "word left at what sandboxes share": r"""
own = ("/tmp", "/workspace", "/data", "/root", "/dev/shm", "/var/tmp", "/dev/pts")
has_own_root = sys.argv[1:] == ["image"]  # then only devices are shared
def attempt(path, links):
    for action in (lambda: os.utime(path, follow_symlinks=links), lambda: os.utime(path, (1, 1), follow_symlinks=links),
                   lambda: os.chmod(path, 0o777) if links else None or os.lchown(path, 0, 0),
                   lambda: os.setxattr(path, "user.x", b"1", follow_symlinks=links),
                   lambda: os.chown(path, 0, 0, follow_symlinks=links)):
        tried(path, action)
seen = 0
for place, folders, files in os.walk("/dev" if has_own_root else "/"):
    folders[:] = [name for name in folders if os.path.join(place, name) not in (*own, "/proc")]
    if place.startswith(("/usr/", "/opt/python/lib/")) and place.count("/") > 3:
        folders[:] = []
    for name in [".", *folders, *files[:40]]:
        path = os.path.join(place, name)
        if not os.path.realpath(path).startswith(own + ("/proc", "/dev/fd", "/dev/std")) and path != "/.":
            attempt(path, True)
            seen += 1
        elif os.path.islink(path) and place == "/dev":
            attempt(path, False)
if not has_own_root:
    attempt("/", True)
attempt("/dev/null", True)
if seen < (6 if has_own_root else 200):
    escaped("only", seen, "were tried")
for name in ("user", "time", "mnt", "net"):
    attempt("/proc/self/ns/" + name, True)
if os.stat("/proc/self/fd/0").st_rdev == os.stat("/dev/null").st_rdev:
    tried("times of the standard input", lambda: os.utime(0))
# devices work all the same
for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND):
    os.write(os.open("/dev/null", flags, 0o666), b"x")
if open("/dev/zero", "r+b", 0).read(3) != bytes(3) or len(open("/dev/urandom", "rb").read(9)) != 9:
    escaped("devices are broken")
done()
""",
    "what a file system keeps of a file": r"""
import errno, fcntl
for path in ("/usr/bin/env", "/usr", sys.executable, "/etc/passwd", "/", "/dev/null", "/tmp", "/proc/self/ns/user"):
    there = os.open(path, os.O_RDONLY)
    # flags, extended flags, version, extents to be remembered, whether they are, keys, their state, policies, namespaces
    for request in (0x80086601, 0x40086602, 0x401C5820, 0x801C581F, 0x40087602, 0x6612, 0x40046629, 0xC020660B, 0xC0506617,
                    0xC080661A, 0xC0406618, 0x800C6613, 0x40806685, 0xC0045877, 0xC0185879, 0xB701, 0xB702, 0x8010B70C, 0x1260):
        error = tried((path, hex(request)), lambda: fcntl.ioctl(there, request, bytearray(256)))
        if error is not None and error.errno != errno.ENOTTY:
            escaped("the kernel was asked", path, hex(request), error)
done()
""",
    "leases, notices and hints at shared files": r"""
import fcntl, signal
signal.signal(signal.SIGIO, signal.SIG_IGN)
for path in ("/usr/bin/env", "/etc/passwd", "/dev/null", sys.executable, os.__file__, "/proc/self/ns/user", "/usr"):
    there = os.open(path, os.O_RDONLY)
    tried("lease", lambda: fcntl.fcntl(there, fcntl.F_SETLEASE, fcntl.F_RDLCK))
    tried("notice", lambda: fcntl.fcntl(there, fcntl.F_NOTIFY, fcntl.DN_ACCESS))
    tried("hint", lambda: fcntl.fcntl(there, 1036, (3).to_bytes(8, "little")))
    if sys.argv[1:] == ["image"] and not path.startswith(("/dev/", "/proc/")):
        continue  # a file of the sandbox's own root
    tried("mode", lambda: os.fchmod(there, 0o777))
    tried("times", lambda: os.utime(there, (1, 1)))
    tried("attribute", lambda: os.setxattr(there, "user.x", b"1"))
done()
""",
    "signals that whoever is at the other end sends": r"""
import fcntl, socket
for there in (0, 1, 2, *os.pipe(), *(end.detach() for end in socket.socketpair()), *os.openpty()):
    flags = fcntl.fcntl(there, fcntl.F_GETFL)
    tried("O_ASYNC", lambda: fcntl.fcntl(there, fcntl.F_SETFL, flags | os.O_ASYNC))
    tried("FIOASYNC", lambda: fcntl.ioctl(there, 0x5452, (1).to_bytes(4, "little")))
    if fcntl.fcntl(there, fcntl.F_GETFL) & os.O_ASYNC:
        escaped("signals are sent for", there)
done()
""",
    "core dumps for a program of the host": r"""
import resource, struct
before = resource.getrlimit(resource.RLIMIT_CORE)
if before not in ((1, 1), (0, 0)):  # the latter where the host lets nobody have more
    escaped("a limit of core dumps of", before)
for limits in ((0, 0), (0, 1), (1 << 30, 1 << 30), (-1, -1)):
    for setting in (lambda: resource.setrlimit(resource.RLIMIT_CORE, limits), lambda: resource.prlimit(0, resource.RLIMIT_CORE, limits),
                    lambda: call(160, 4, struct.pack("<qq", *limits))):
        try:
            setting()
        except (OSError, ValueError):
            pass
        if resource.getrlimit(resource.RLIMIT_CORE) != before:
            escaped("a limit of core dumps of", resource.getrlimit(resource.RLIMIT_CORE))
done()
""",
    "access lists that nobody counts": r"""
import errno, struct
def listed(many):
    entries = [(1, 7, -1), *[(2, 7, 0)] * many, (4, 7, -1), (16, 7, -1), (32, 7, -1)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
os.makedirs("/tmp/listed", exist_ok=True)
places = [("/tmp/listed", "default"), ("/tmp/listed", "access"), ("/dev/shm", "default")]
try:
    places.append((os.memfd_create("x"), "access"))
except PermissionError:  # there is none where no control group counts it
    pass
for where, kind in places:
    for many in (26, 8000):
        error = tried((where, kind), lambda: os.setxattr(where, "system.posix_acl_" + kind, listed(many)))
        if error is not None and error.errno != errno.ERANGE:
            escaped("another answer", where, error)
for name, value in (("user.note", b"x" * 200), ("system.posix_acl_default", listed(20))):
    try:
        os.setxattr("/tmp/listed", name, value)
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            escaped("short ones are refused", name, error)
done()
""",
    "memory of nobody's for descriptors that are waited for": r"""
import errno
there = b"\1\0\0\0\0\0\0\0"
for number, arguments in ((7, (there * 1025, 1025, 0)), (271, (there * 1025, 1025, bytes(16), 0, 8)),
                          (23, (1025, bytes(256), 0, 0, bytes(16))), (270, (1025, bytes(256), 0, 0, bytes(16), 0))):
    if call(number, *arguments) != -errno.EINVAL:
        escaped("waits for many", number)
if call(7, there * 1024, 1024, 0) < 0:
    escaped("as many as a process has by default are refused")
done()
""",
    "real-time priority": r"""
for policy in (os.SCHED_FIFO, os.SCHED_RR):
    tried("policy", lambda: os.sched_setscheduler(0, policy, os.sched_param(1)))
import struct
call(314, 0, struct.pack("<IIQiIQQQ", 48, 6, 0, 0, 0, 10**7, 10**8, 10**8), 0)  # success is reported, whatever is asked for
if os.sched_getscheduler(0) != os.SCHED_OTHER:
    escaped("SCHED_DEADLINE")
tried("nice", lambda: os.nice(-1))
tried("priority", lambda: os.setpriority(os.PRIO_USER, 0, -5))
import resource
for which in ("RTPRIO", "NICE"):
    if resource.getrlimit(getattr(resource, "RLIMIT_" + which))[1] != 0:
        escaped(which, "can be had: the host's own limit was inherited")
for which in ("NOFILE", "CORE"):
    number = getattr(resource, "RLIMIT_" + which)
    before = resource.getrlimit(number)
    try:
        resource.setrlimit(number, (before[1] + 1, before[1] + 1))
    except (OSError, ValueError):
        pass
    if resource.getrlimit(number) != before:  # that of core dumps is granted without effect
        escaped("raised", which)
done()
""",
    "kernel addresses": r"""
if os.path.exists("/proc/kallsyms"):
    try:
        for line in open("/proc/kallsyms"):
            if int(line.split()[0], 16):
                escaped(line)
                break
    except OSError:
        pass
for path in ("/proc/kcore", "/proc/kmsg", "/proc/vmallocinfo", "/proc/slabinfo", "/proc/kpageflags", "/proc/1/stack", "/proc/1/syscall"):
    def read():
        with open(path, "rb") as file:
            return file.read(64)
    tried(path, read)
try:
    for line in open("/proc/iomem"):
        if int(line.split("-")[0], 16):
            escaped(line)
except OSError:
    pass
done()
""",
    "host-wide clocks and names": r"""
import time
tried("clock", lambda: time.clock_settime(time.CLOCK_REALTIME, 0))
import socket
tried("hostname", lambda: socket.sethostname("escaped"))
done()
""",
    "io_uring": r"""
if call(425, 8, bytes(120)) >= 0:
    escaped("io_uring")
done()
""",
    "asynchronous input and output, counted for the whole host": r"""
total = 0
for size in (30000, 1000, 10, 1):
    while True:
        context = ctypes.create_string_buffer(8)
        if call(206, size, context) < 0:
            break
        total += size
        if total > 1000:
            escaped("a share of the host's aio-max-nr:", total)
            break
done()
""",
    "keyrings": r"""
if call(250, 0, -3, 1) >= 0 or call(248, b"user", b"x", b"x", 1, -4) >= 0 or call(250, 1, 0) >= 0:
    escaped("keyctl")
done()
""",
}

HONEST = r"""
import fcntl, multiprocessing, resource, sqlite3, subprocess, tempfile, threading
def expect(what, found, wanted):
    if found != wanted:
        escaped("an honest program was refused:", what, found)
os.nice(5)
os.nice(0)
os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) + 1)
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
os.sched_setaffinity(0, os.sched_getaffinity(0))
expect("nice", subprocess.run(["nice", "-n", "7", "true"]).returncode, 0)
expect("renice", subprocess.run(["sh", "-c", "renice -n 3 -p $$ >/dev/null 2>&1 || ! command -v renice >/dev/null"]).returncode, 0)
# locks of its own
with tempfile.NamedTemporaryFile() as file, open(file.name) as same:
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        fcntl.flock(same, fcntl.LOCK_EX | fcntl.LOCK_NB)
        expect("flock", "no conflict", "a conflict")
    except BlockingIOError:
        pass
    fcntl.flock(file, fcntl.LOCK_UN)
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 5)
    if (pid := os.fork()) == 0:
        try:
            fcntl.lockf(open(file.name, "r+b"), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os._exit(7)
        os._exit(0)
    expect("lockf", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 7)
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
    os.utime(file.name, (1, 2))
    os.chmod(file.name, 0o600)
one, two = (sqlite3.connect("/tmp/honest.db", timeout=0) for _ in range(2))
one.executescript("pragma journal_mode=delete; create table t(x); begin immediate; insert into t values (1);")
try:
    two.execute("insert into t values (2)")
    expect("sqlite3", "no lock", "a lock")
except sqlite3.OperationalError:
    pass
one.commit()
two.rollback()
expect("sqlite3", two.execute("select x from t").fetchall(), [(1,)])
two.close()
one.execute("pragma journal_mode=wal")
one.execute("insert into t values (3)")
one.commit()
# devices and /proc
for name, text in (("/dev/null", "x"), ("/dev/stdout", ""), ("/proc/self/fd/1", ""), (f"/proc/{os.getpid()}/fd/1", "")):
    with open(name, "w") as file:
        file.write(text)
expect("shell", subprocess.run("echo x > /dev/null 2>&1 < /dev/zero; echo y >> /dev/null", shell=True).returncode, 0)
for name in ("status", "stat", "maps", "cmdline", "environ", "oom_score_adj", "limits", "comm", "io", "smaps", "mountinfo"):
    open(f"/proc/self/{name}", "rb").read()
expect("oom_score_adj", int(open("/proc/self/oom_score_adj").read()), 500)
threading.Thread(target=lambda: None, name="named").start()
libc.prctl(15, b"renamed", 0, 0, 0)
expect("name", open("/proc/self/comm").read(), "renamed\n")
with multiprocessing.get_context("fork").Pool(2) as pool:
    expect("pool", pool.map(abs, [-1, 2]), [1, 2])
import array, socket, termios
master, slave = os.openpty()
expect("tty", (os.isatty(slave), os.isatty(0), len(termios.tcgetattr(slave))), (True, False, 7))
fcntl.ioctl(slave, termios.TIOCSWINSZ, bytes([24, 0, 80, 0, 0, 0, 0, 0]))
expect("size", tuple(os.get_terminal_size(slave)), (80, 24))
a, b = socket.socketpair()
a.send(b"abc")
waiting = array.array("i", [0])
fcntl.ioctl(b, termios.FIONREAD, waiting)
expect("FIONREAD", waiting[0], 3)
expect("interfaces", (socket.if_nametoindex("lo"), socket.if_indextoname(1)), (1, "lo"))
expect("addresses", [entry[4][0] for entry in socket.getaddrinfo("localhost", 80, socket.AF_INET, socket.SOCK_STREAM)], ["127.0.0.1"])
with socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True) as listener:
    for level, option, value in ((1, socket.SO_RCVBUF, 1 << 20), (1, socket.SO_SNDBUF, 1 << 20), (1, socket.SO_KEEPALIVE, 1),
                                 (6, socket.TCP_NODELAY, 1), (6, socket.TCP_KEEPIDLE, 5), (0, socket.IP_TTL, 9)):
        listener.setsockopt(level, option, value)
    with socket.create_connection(("127.0.0.1", listener.getsockname()[1])) as caller, listener.accept()[0] as called:
        caller.sendall(b"abc")
        expect("TCP", called.recv(3), b"abc")
os.set_blocking(b.fileno(), False)
os.set_inheritable(b.fileno(), True)
expect("cp", subprocess.run(["cp", "-r", "--preserve=mode,timestamps", "/usr/bin/env", "/tmp/env"]).returncode, 0)
import shutil
shutil.copy2("/etc/passwd", "/tmp/passwd")
done()
"""


OWN_ROOT = r"""
tried("/dev/x", lambda: os.open("/dev/x", os.O_WRONLY | os.O_CREAT))
tried("/proc/x", lambda: os.open("/proc/x", os.O_WRONLY | os.O_CREAT))
if os.path.exists("/etc/of-one-sandbox"):
    escaped("the root of another sandbox")
open("/etc/of-one-sandbox", "w").write("x")
os.unlink(os.__file__)
done()
"""
"""where all of the root is the sandbox's own: what it must not write to, and whether another one's changes are there"""
