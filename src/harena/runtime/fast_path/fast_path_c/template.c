/* A template: forks itself into sandboxes. The fork goes on as the sandbox's init, without coming back to Python. */

enum { NUMBER_SIZE = 4 }; /* before the settings in a request, and before the errno in an answer */

static i32 same(const u8 *one, const u8 *other, u64 size)
{
    for (u64 index = 0; index < size; index++)
        if (one[index] != other[index])
            return 0;
    return 1;
}

static i64 run(const struct launch *launch)
{
    for (u64 index = 0; index < launch->call_count; index++) {
        const i64 *call = launch->calls[index];
        i64 result = call6(call[0], call[1], call[2], call[3], call[4], call[5], call[6]);
        if (result < 0 && result >= -4095)
            return (i64)index << 16 | -result;
    }
    return -1;
}

/* In the fork, before anything else: what came behind the channel are its cgroups' `tasks` files. Who moves itself there
 * waits for nobody; who is moved by another process waits until no process of the machine is being forked. */
static i64 enter_groups(const i32 *entries, i32 count)
{
    for (i32 index = 0; index < count; index++) {
        i64 written = call3(SYS_write, entries[index], (i64)"0", 1);
        if (written < 0)
            return written;
    }
    return 0;
}

static struct launch *find_launch(struct context *context)
{
    for (i32 index = 0; index < context->launch_count; index++) {
        struct launch *launch = &context->launches[index];
        if (context->size == launch->settings_size + NUMBER_SIZE &&
            same(context->message + NUMBER_SIZE, launch->settings, launch->settings_size))
            return launch;
    }
    return 0;
}

/* "number, errno" with the sandbox's pidfd; without an errno. */
static i64 answer(struct context *context, i32 pidfd)
{
    u8 text[NUMBER_SIZE + 4] = {0};
    for (i32 index = 0; index < NUMBER_SIZE; index++)
        text[index] = context->message[index];
    struct iovec part = {text, sizeof text};
    struct control control = {20, SOL_SOCKET, SCM_RIGHTS, {pidfd}};
    struct message message = {0, 0, &part, 1, &control, 24, 0};
    return call3(SYS_sendmsg, context->control, &message, MSG_NOSIGNAL);
}

static i64 fork_on_request(struct context *context)
{
    for (;;) {
        i64 outcome = receive(context);
        if (outcome == -EINTR)
            continue;
        if (outcome < 0)
            return outcome;
        struct launch *launch = find_launch(context);
        if (!launch || context->descriptor_count < 1)
            return REQUEST;
        i32 channel = context->descriptors[0], pidfd = -1;
        launch->calls[launch->channel_call][1] = channel;
        struct clone wanted = {launch->flags | CLONE_PIDFD, (u64)&pidfd, 0, 0, SIGCHLD, 0, 0, 0};
        i64 pid = call2(SYS_clone3, &wanted, sizeof wanted);
        if (pid == 0) {
            i64 refused = enter_groups(context->descriptors + 1, context->descriptor_count - 1);
            i64 failure = refused < 0 ? (i64)launch->call_count << 16 | -refused : run(launch);
            context->is_template = 0;
            context->launched = (i32)(launch - context->launches);
            if (failure < 0)
                return serve(context);
            context->step = (i32)(failure >> 16);
            context->error = (i32)(failure & 0xffff);
            return FAILED_STEP;
        }
        if (pid < 0)
            return REQUEST; /* Python finds the same error, and can say it */
        if (answer(context, pidfd) < 0)
            call1(SYS_exit_group, 0); /* the spawner has gone */
        call1(SYS_close, pidfd);
        close_descriptors(context);
    }
}

/* An interpreter that others fork (see forker.c) waits here. It is ended here too: only a fork comes back, as the init
 * of a sandbox, and finds that the call has given PARKED. */
static i64 park(struct context *context)
{
    u8 text[16];
    i64 got;
    do
        got = call6(SYS_recvfrom, context->control, (i64)text, sizeof text, 0, 0, 0);
    while (got == -EINTR);
    if (got != PARKED)
        call1(SYS_exit_group, 0);
    context->is_template = 0;
    return serve(context);
}
