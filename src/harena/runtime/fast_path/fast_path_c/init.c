/* Init: starts a program where nothing else runs, and says when it has ended. */

static void put(u8 *place, u64 value, u32 bytes)
{
    for (u32 index = 0; index < bytes; index++)
        place[index] = (u8)(value >> (8 * index));
}

/* The owner reads its answers or is gone; then so is this sandbox. */
static void say_exited(struct context *context, i32 status, const struct usage *usage)
{
    u8 text[EXITED_SIZE];
    text[0] = 'X';
    put(text + 1, context->number, 4);
    put(text + 5, (u32)status, 4);
    put(text + 9, (u64)(usage->user_s * 1000000 + usage->user_us), 8);
    put(text + 17, (u64)(usage->system_s * 1000000 + usage->system_us), 8);
    put(text + 25, (u64)usage->peak_kb, 8);
    text[33] = (u8)context->was_warm;
    if (call6(SYS_sendto, context->control, (i64)text, sizeof text, MSG_NOSIGNAL, 0, 0) < 0)
        call1(SYS_exit_group, 0);
}

/* Collect what has ended. Gives whether nothing is left in this sandbox. */
static i32 reap(struct context *context)
{
    for (;;) {
        struct usage usage;
        i32 status;
        i64 pid = call4(SYS_wait4, -1, &status, WNOHANG, &usage);
        if (pid == -EINTR)
            continue;
        if (pid <= 0)
            return pid == -ECHILD;
        if (pid == context->pid) {
            context->pid = 0;
            say_exited(context, status, &usage);
        }
    }
}

static void close_descriptors(struct context *context)
{
    for (i32 index = 0; index < context->descriptor_count; index++)
        call1(SYS_close, context->descriptors[index]);
}

/* The next message into the context. Gives 0 or -errno. */
static i64 receive(struct context *context)
{
    struct iovec part = {context->message, context->message_room};
    struct control control;
    struct message message;
    message.name = 0;
    message.name_size = 0;
    message.parts = &part;
    message.part_count = 1;
    message.control = &control;
    message.control_size = sizeof control;
    message.flags = 0;
    i64 size = call3(SYS_recvmsg, context->control, &message, MSG_CMSG_CLOEXEC);
    if (size < 0)
        return size;
    if (size == 0)
        call1(SYS_exit_group, 0); /* the owner has gone */
    context->size = (u64)size;
    context->descriptor_count = 0;
    if (message.control_size >= 16 && control.level == SOL_SOCKET && control.kind == SCM_RIGHTS) {
        context->descriptor_count = (i32)((control.size - 16) / 4);
        for (i32 index = 0; index < context->descriptor_count; index++)
            context->descriptors[index] = control.descriptors[index];
    }
    if (message.flags & MSG_CTRUNC) { /* not all have come: a sandbox would lack some of its limits, a program a stream */
        close_descriptors(context);
        context->descriptor_count = 0;
    }
    return 0;
}

static void limit(i32 which, u64 soft, u64 hard)
{
    u64 both[2] = {soft, hard};
    call4(SYS_prlimit64, 0, which, both, 0);
}

/* No magic link is followed: this process still has init's descriptors. */
static i64 enter(const char *directory)
{
    struct open_how how = {O_PATH | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_NO_MAGICLINKS};
    i64 descriptor = call4(SYS_openat2, AT_FDCWD, directory, &how, sizeof how);
    if (descriptor < 0)
        return descriptor;
    i64 result = call1(SYS_fchdir, descriptor);
    call1(SYS_close, descriptor);
    return result;
}

/* What every program gets before it starts: a session, its three streams, its limits, nothing blocked. */
static i64 prepare(struct context *context, const struct order *order, const char *directory)
{
    i32 first = context->descriptor_count == 3 ? context->descriptors[0] : context->nothing;
    call1(SYS_setsid, 0);
    call3(SYS_dup3, first, 0, 0);
    call3(SYS_dup3, context->descriptors[context->descriptor_count - 2], 1, 0);
    call3(SYS_dup3, context->descriptors[context->descriptor_count - 1], 2, 0);
    limit(RLIMIT_NOFILE, order->open_files, order->open_files);
    if (order->cpu_seconds)
        limit(RLIMIT_CPU, order->cpu_seconds, order->cpu_seconds + 1); /* SIGXCPU first, then SIGKILL */
    u64 none = 0;
    call4(SYS_rt_sigprocmask, SIG_SETMASK, &none, 0, 8);
    return enter(directory);
}

static void default_signal(i32 number)
{
    u64 action[4] = {0, 0, 0, 0};
    call4(SYS_rt_sigaction, number, action, 0, 8);
}

static const char *after(const char *text)
{
    while (*text)
        text++;
    return text + 1;
}

static const char *search_path(char **environment)
{
    for (; *environment; environment++) {
        const char *text = *environment;
        if (text[0] == 'P' && text[1] == 'A' && text[2] == 'T' && text[3] == 'H' && text[4] == '=')
            return text + 5;
    }
    return "";
}

/* execvp, but with a PATH of the program's own. Comes back only where nothing could be executed. */
static void execute(const char *program, char **arguments, char **environment)
{
    for (const char *text = program; *text; text++)
        if (*text == '/') {
            call3(SYS_execve, program, arguments, environment);
            return;
        }
    const char *path = search_path(environment);
    for (;;) {
        char place[4096];
        u32 used = 0;
        const char *name = program;
        while (*path && *path != ':' && used < sizeof place - 2)
            place[used++] = *path++;
        if (*path && *path != ':')
            return; /* longer than any path: Python says what is wrong with it */
        if (used == 0)
            place[used++] = '.';
        place[used++] = '/';
        while (*name && used < sizeof place - 1)
            place[used++] = *name++;
        if (*name)
            return;
        place[used] = 0;
        i64 error = -call3(SYS_execve, place, arguments, environment);
        if (error != ENOENT && error != EACCES && error != ENOTDIR)
            return;
        if (!*path)
            return;
        path++;
    }
}

/* In a child that shares this memory, and its stack, until it has executed something else or has ended. */
static __attribute__((noinline)) void become_real(struct context *context, const struct order *order,
                                                  const char *directory, char **arguments, char **environment)
{
    default_signal(SIGPIPE);
    default_signal(SIGXFSZ);
    if (prepare(context, order, directory) == 0)
        execute(arguments[0], arguments, environment);
    context->error = 1;
    call1(SYS_exit_group, 127);
}

/* Start a program by executing it. Gives whether it was started. */
static i32 start_real(struct context *context, const struct order *order)
{
    if ((u64)order->arguments + order->variables + 2 > context->pointer_room || !order->arguments)
        return 0;
    const char *directory = (const char *)(order + 1);
    const char *text = after(directory);
    char **next = context->pointers;
    for (u32 index = 0; index < order->arguments; index++, text = after(text))
        *next++ = (char *)text;
    *next++ = 0;
    char **environment = context->environment;
    if (order->flags & OWN_ENVIRONMENT) {
        environment = next;
        for (u32 index = 0; index < order->variables; index++, text = after(text))
            *next++ = (char *)text;
        *next = 0;
    }
    context->error = 0;
    call3(SYS_write, context->oom_adjust, "500", 3); /* inherited: the first to go when memory runs out */
    i64 pid = call5(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) {
        become_real(context, order, directory, context->pointers, environment);
        __builtin_unreachable();
    }
    call3(SYS_write, context->oom_adjust, "0", 1);
    if (pid < 0)
        return 0;
    if (context->error) {
        i32 status;
        call4(SYS_wait4, pid, &status, 0, 0);
        return 0;
    }
    context->pid = (i32)pid;
    context->was_warm = 0;
    return 1;
}

static i32 equal(const char *one, const char *other)
{
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}

static i32 ends_with_pyc(const char *text)
{
    const char *end = after(text) - 1;
    return end - text >= 4 && equal(end - 4, ".pyc");
}

/* A command that is surely right to run warm: `python -c CODE` or `python FILE` in the template's own environment, where
 * no directory of packages has been made since. warm_plan decides about all others. */
static i32 is_plain(const struct context *context, const struct order *order)
{
    const char *name = after((const char *)(order + 1));
    const char *first = after(name);
    char **known = context->names;
    if (!known || order->flags != WARM || order->arguments < 2)
        return 0;
    while (*known && !equal(*known, name))
        known++;
    if (!*known || !*first)
        return 0;
    if (first[0] == '-' ? order->arguments < 3 || !equal(first, "-c") : ends_with_pyc(first))
        return 0;
    for (char **path = context->absent; *path; path++)
        if (call2(SYS_access, *path, 0) != -ENOENT)
            return 0;
    return 1;
}

/* Fork the interpreter. Gives 1 in the parent, 0 where there was no fork, -1 in the child. */
static i32 start_warm(struct context *context, const struct order *order)
{
    if (context->before_fork)
        context->before_fork();
    call3(SYS_write, context->oom_adjust, "500", 3); /* inherited, as above */
    i32 pid = context->fork();
    if (pid != 0) {
        call3(SYS_write, context->oom_adjust, "0", 1);
        if (context->after_in_parent)
            context->after_in_parent();
        if (pid < 0)
            return 0;
        context->pid = pid;
        context->was_warm = 1;
        return 1;
    }
    context->error = (i32)-prepare(context, order, (const char *)(order + 1));
    call3(SYS_close_range, context->control + 1, 0xffffffff, 0); /* the channel last, by whoever knows what it runs */
    call2(SYS_prctl, PR_SET_DUMPABLE, 1); /* there is nobody yet who could trace it for what it still holds */
    if (context->after_in_child)
        context->after_in_child();
    return -1;
}

static i64 serve(struct context *context)
{
    i32 alone = 0; /* nothing else runs here, so nothing can end */
    for (;;) {
        if (!alone) {
            struct poll events[2] = {{context->control, POLLIN, 0}, {context->ended, POLLIN, 0}};
            i64 found = call4(SYS_ppoll, events, 2, 0, 0);
            if (found == -EINTR)
                continue;
            if (found < 0)
                return found;
            if (events[1].found) {
                u8 signal[128];
                call3(SYS_read, context->ended, signal, sizeof signal);
                alone = reap(context);
            }
            if (!events[0].found)
                continue;
        }
        i64 outcome = receive(context);
        if (outcome == -EINTR)
            continue;
        if (outcome < 0)
            return outcome;
        const struct order *order = (const struct order *)context->message;
        if (!alone)
            alone = reap(context); /* what has ended since */
        if (!alone || context->size <= sizeof *order || order->kind != 'x' || order->flags & TERMINAL ||
            context->descriptor_count < 2 || context->descriptor_count > 3)
            return REQUEST;
        i32 started = order->flags & WARM ? start_warm(context, order) : start_real(context, order);
        if (started < 0) {
            if (context->error || !is_plain(context, order))
                return CHILD;
            call1(SYS_close, context->control);
            return PLAIN_CHILD;
        }
        if (!started)
            return REQUEST;
        alone = 0;
        context->number = order->number;
        close_descriptors(context);
    }
}
