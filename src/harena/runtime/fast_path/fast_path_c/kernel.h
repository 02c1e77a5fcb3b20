/* The kernel, without a C library: its calls, numbers and structs (x86-64). */

typedef long i64;
typedef unsigned long u64;
typedef int i32;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

struct iovec { void *base; u64 size; };
struct message {
    void *name;
    u32 name_size;
    struct iovec *parts;
    u64 part_count;
    void *control;
    u64 control_size;
    i32 flags;
};
enum { MOST_DESCRIPTORS = 6 }; /* in one message, as in wire.py */
struct control { u64 size; i32 level, kind; i32 descriptors[MOST_DESCRIPTORS]; };
struct poll { i32 descriptor; short events, found; };
struct clone { u64 flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls; };
struct usage { i64 user_s, user_us, system_s, system_us, peak_kb, rest[13]; };

struct open_how { u64 flags, mode, resolve; };

#define EXITED_SIZE 34

enum {
    SYS_read = 0, SYS_write = 1, SYS_close = 3, SYS_rt_sigaction = 13, SYS_rt_sigprocmask = 14,
    SYS_access = 21, SYS_sendto = 44, SYS_recvfrom = 45, SYS_sendmsg = 46, SYS_recvmsg = 47,
    SYS_clone = 56, SYS_execve = 59, SYS_wait4 = 61, SYS_fchdir = 81, SYS_setsid = 112,
    SYS_rt_sigtimedwait = 128,
    SYS_prctl = 157, SYS_exit_group = 231, SYS_ppoll = 271, SYS_dup3 = 292, SYS_prlimit64 = 302,
    SYS_clone3 = 435, SYS_close_range = 436, SYS_openat2 = 437,
};
enum { EINTR = 4, ENOENT = 2, EAGAIN = 11, EACCES = 13, ENOTDIR = 20, ECHILD = 10 };
enum { WNOHANG = 1, SIGCHLD = 17, SIGPIPE = 13, SIGXFSZ = 25, CLONE_VM = 0x100, CLONE_VFORK = 0x4000 };
enum { MSG_CTRUNC = 8, MSG_NOSIGNAL = 0x4000, MSG_CMSG_CLOEXEC = 0x40000000, POLLIN = 1, EMFILE = 24 };
enum { CLONE_PIDFD = 0x1000 };
enum { AT_FDCWD = -100, O_DIRECTORY = 0x10000, O_CLOEXEC = 0x80000, O_PATH = 0x200000, RESOLVE_NO_MAGICLINKS = 2 };
enum { RLIMIT_CPU = 0, RLIMIT_NOFILE = 7, SOL_SOCKET = 1, SCM_RIGHTS = 1, PR_SET_DUMPABLE = 4, SIG_SETMASK = 2 };

static inline i64 call6(i64 number, i64 a, i64 b, i64 c, i64 d, i64 e, i64 f)
{
    register i64 r10 __asm__("r10") = d;
    register i64 r8 __asm__("r8") = e;
    register i64 r9 __asm__("r9") = f;
    i64 result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#define call5(n, a, b, c, d, e) call6(n, (i64)(a), (i64)(b), (i64)(c), (i64)(d), (i64)(e), 0)
#define call4(n, a, b, c, d) call5(n, a, b, c, d, 0)
#define call3(n, a, b, c) call4(n, a, b, c, 0)
#define call2(n, a, b) call3(n, a, b, 0)
#define call1(n, a) call2(n, a, 0)
