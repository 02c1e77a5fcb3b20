/* What a template runs whose memory holds a blueprint's modules: this, and nothing of theirs.
 *
 * The memory is an interpreter's that has imported them, and may hold anything. This code lies in pages of its own, which
 * nobody can have written to (see importing.py), uses a stack of its own, and reads nothing else of that memory. It
 * forks sandboxes; only a fork that has become one, without rights and behind the filter, goes on in the interpreter.
 *
 * Built by scripts/build-fast-path into forker_code.py. It may call nothing but the kernel.
 */

#include "../fast_path_c/kernel.h"

enum { ATTACHED = 10 };        /* SIGUSR1, as forker.ATTACHED */

struct rows {                  /* system calls: number and six arguments each, as in kernel/batch.py */
    i64 (*calls)[7];
    u64 count;
};

struct registers {
    u64 rsp, rip, rbx, rbp, r12, r13, r14, r15, rax, rdi, rsi, rdx, r8, r9, r10;
    u32 vector_control, float_control;
};

struct forker {                /* as forker.FORKER */
    u64 import_flags;          /* of clone, for the process that imports */
    struct rows import;        /* what that one does before its first instruction */
    struct registers start;    /* which is here */
    struct rows prepare;       /* what the template does before it forks */
    struct rows lock;          /* the last steps of a sandbox */
    struct rows resume;        /* what it sets anew behind the filter, where it can */
    struct registers parked;   /* where the interpreter waits */
    u8 *message;               /* room for an order */
    u64 message_room;
    u64 control, report;
};

struct order {                 /* as forker.ORDER, with what it is followed by */
    u32 number, channel_call;
    u64 flags;                 /* of clone3 */
    u64 call_count, relocation_count;
    i64 calls[][7];            /* then: u32 relocations[], u32 names[], text */
};

static i64 run(i64 (*calls)[7], u64 count, u32 stops)
{
    for (u64 index = 0; index < count; index++) {
        const i64 *call = calls[index];
        i64 result = call6(call[0], call[1], call[2], call[3], call[4], call[5], call[6]);
        if (stops && result < 0 && result >= -4095)
            return (i64)index << 16 | -result;
    }
    return -1;
}

static __attribute__((noreturn)) void go_on(const struct registers *at)
{
    __asm__ volatile("ldmxcsr 120(%0)\n\t"
                     "fldcw 124(%0)\n\t"
                     "mov 0(%0), %%rsp\n\t"
                     "mov 8(%0), %%rcx\n\t"
                     "mov 16(%0), %%rbx\n\t"
                     "mov 24(%0), %%rbp\n\t"
                     "mov 32(%0), %%r12\n\t"
                     "mov 40(%0), %%r13\n\t"
                     "mov 48(%0), %%r14\n\t"
                     "mov 56(%0), %%r15\n\t"
                     "mov 72(%0), %%rdi\n\t"
                     "mov 80(%0), %%rsi\n\t"
                     "mov 88(%0), %%rdx\n\t"
                     "mov 96(%0), %%r8\n\t"
                     "mov 104(%0), %%r9\n\t"
                     "mov 112(%0), %%r10\n\t"
                     "mov 64(%0), %%rax\n\t"
                     "jmp *%%rcx"
                     :
                     : "a"(at)
                     : "memory");
    __builtin_unreachable();
}

/* In the template, while the interpreter has not run one instruction: begin the process that imports. It shares this
 * memory, and waits until this process is held (see importing.py), which is as soon as the call is over. */
__attribute__((noreturn, used)) void begin(struct forker *forker)
{
    i64 failure = call5(SYS_clone, forker->import_flags, 0, 0, 0, 0);
    if (failure == 0) {
        failure = run(forker->import.calls, forker->import.count, 1);
        if (failure < 0)
            go_on(&forker->start);
        call6(SYS_sendto, forker->report, (i64)&failure, sizeof failure, MSG_NOSIGNAL, 0, 0);
        call6(SYS_sendto, forker->control, (i64)&failure, sizeof failure, MSG_NOSIGNAL, 0, 0);
    }
    call1(SYS_exit_group, 1);
    __builtin_unreachable();
}

static u64 length(const u8 *text)
{
    u64 found = 0;
    while (text[found])
        found++;
    return found;
}

/* "number, errno" to whoever has ordered a sandbox: with its pidfd, or with what has failed. */
static void answer(struct forker *forker, u32 number, i32 error, i32 pidfd)
{
    u32 head[2] = {number, (u32)error};
    u8 text[] = "clone3";
    struct iovec parts[2] = {{head, sizeof head}, {text, sizeof text - 1}};
    struct control control = {20, SOL_SOCKET, SCM_RIGHTS, {pidfd}};
    struct message message = {0, 0, parts, error ? 2 : 1, &control, error ? 0 : 24, 0};
    if (call3(SYS_sendmsg, forker->control, &message, MSG_NOSIGNAL) < 0)
        call1(SYS_exit_group, 0); /* the spawner has gone */
}

/* To the sandbox's owner: which step has failed, and the error's number. */
static __attribute__((noreturn)) void fail(struct forker *forker, i32 channel, const u8 *step, i64 error)
{
    u8 digits[8] = {0};
    u32 place = sizeof digits;
    do
        digits[--place] = (u8)('0' + error % 10);
    while (error /= 10);
    u8 kind[] = "E", between[] = ": errno ";
    struct iovec parts[4] = {
        {kind, 1}, {(void *)step, length(step)}, {between, sizeof between - 1}, {digits + place, sizeof digits - place}};
    struct message message = {0, 0, parts, 4, 0, 0, 0};
    if (call3(SYS_sendmsg, channel, &message, MSG_NOSIGNAL) < 0)
        call3(SYS_sendmsg, forker->control, &message, MSG_NOSIGNAL); /* the channel is there by now */
    call1(SYS_exit_group, 1);
    __builtin_unreachable();
}

/* Until the spawner has put this process into its cgroups. What the interpreter's memory holds decides what runs next,
 * and what that starts outside of them would stay outside. The signal is blocked since before the fork, so that it
 * cannot come too early, and nobody else sees this process by now. Gives the error's number, or 0. */
static i64 await_attached(void)
{
    u64 wanted = 1ul << (ATTACHED - 1);
    for (;;) {
        i64 got = call4(SYS_rt_sigtimedwait, &wanted, 0, 0, sizeof wanted);
        if (got == ATTACHED)
            return 0;
        if (got != -EINTR)
            return -got;
    }
}

/* See template.c: the cgroups' `tasks` files. Gives the error's number, or 0. */
static i64 enter_groups(const i32 *entries, u32 count)
{
    u8 self[] = "0";
    for (u32 index = 0; index < count; index++) {
        i64 written = call3(SYS_write, entries[index], (i64)self, 1);
        if (written < 0)
            return -written;
    }
    return 0;
}

static __attribute__((noreturn)) void become_sandbox(
    struct forker *forker, struct order *order, const i32 *descriptors, u32 count)
{
    i32 channel = descriptors[0];
    u8 ready[] = "R", locks[] = "lock", attach[] = "await cgroup", enter[] = "cgroup", *base = (u8 *)order;
    u32 *names = (u32 *)&order->calls[order->call_count] + order->relocation_count;
    i64 failure = enter_groups(descriptors + 1, count - 1);
    if (failure)
        fail(forker, channel, enter, failure);
    failure = run(order->calls, order->call_count, 1);
    if (failure >= 0)
        fail(forker, channel, base + names[failure >> 16], failure & 0xffff);
    failure = run(forker->lock.calls, forker->lock.count, 1);
    if (failure >= 0)
        fail(forker, channel, locks, failure & 0xffff);
    failure = await_attached();
    if (failure)
        fail(forker, channel, attach, failure);
    run(forker->resume.calls, forker->resume.count, 0);
    call6(SYS_sendto, forker->control, (i64)ready, 1, MSG_NOSIGNAL, 0, 0);
    go_on(&forker->parked);
}

static void close_all(const i32 *descriptors, u32 count)
{
    for (u32 index = 0; index < count; index++)
        call1(SYS_close, descriptors[index]);
}

/* In the template, when nobody else has this memory any more: serve the spawner. */
__attribute__((noreturn, used)) void serve(struct forker *forker)
{
    run(forker->prepare.calls, forker->prepare.count, 0);
    for (;;) {
        struct iovec part = {forker->message, forker->message_room};
        struct control control;
        struct message message = {0, 0, &part, 1, &control, sizeof control, 0};
        i64 size = call3(SYS_recvmsg, forker->control, &message, MSG_CMSG_CLOEXEC);
        if (size == -EINTR)
            continue;
        i32 is_cut = message.flags & MSG_CTRUNC; /* not all have come: the sandbox would lack some of its limits */
        if (size < (i64)sizeof(struct order) || (message.control_size < 20 && !is_cut))
            call1(SYS_exit_group, 0); /* the spawner has gone */
        struct order *order = (struct order *)forker->message;
        u32 count = message.control_size < 20 ? 0 : (u32)((control.size - 16) / 4);
        if (is_cut) {
            close_all(control.descriptors, count);
            answer(forker, order->number, EMFILE, -1);
            continue;
        }
        u32 *relocations = (u32 *)&order->calls[order->call_count];
        for (u64 index = 0; index < order->relocation_count; index++)
            *(u64 *)(forker->message + relocations[index]) += (u64)forker->message;
        i32 pidfd = -1;
        order->calls[order->channel_call][1] = control.descriptors[0];
        struct clone wanted = {order->flags | CLONE_PIDFD, (u64)&pidfd, 0, 0, SIGCHLD, 0, 0, 0};
        i64 pid = call2(SYS_clone3, &wanted, sizeof wanted);
        if (pid == 0)
            become_sandbox(forker, order, control.descriptors, count);
        answer(forker, order->number, pid < 0 ? (i32)-pid : 0, pidfd);
        if (pid > 0)
            call1(SYS_close, pidfd);
        close_all(control.descriptors, count);
    }
}

/* Where it begins: at the first byte, at the 16th, and at the 32nd, where the template is held while others have its
 * memory (that one uses no memory at all). */
__asm__(".section .text.entry, \"ax\"\n"
        "jmp begin\n"
        ".balign 16\n"
        "jmp serve\n"
        ".balign 16\n"
        "mov $110, %eax\n" /* getppid */
        "syscall\n"
        "ud2\n");
