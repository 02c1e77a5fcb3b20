/* Network namespaces of one template's sandboxes that have ended without ever using them.
 *
 * Making and tearing down one is a fifth of a short life's cost. One is used again only for the same template's
 * sandboxes, only when its last process has gone, and only if not one packet ever passed its loopback interface (so
 * that no connection of it can be remembered) and no counter that programs can read differs from a new one's; its
 * settings in /proc/sys are read-only to programs anyway.
 */

static i32 same(const u8 *one, const u8 *other, u64 size)
{
    for (u64 index = 0; index < size; index++)
        if (one[index] != other[index])
            return 0;
    return 1;
}

/* Not one packet was received or sent on loopback. */
static i32 is_untouched(struct context *context, i32 probe)
{
    enum { RTM_GETLINK = 18, NLM_F_REQUEST = 1, IFLA_STATS64 = 23, HEADERS = 32 };
    const struct {
        u32 size;
        u16 kind, flags;
        u32 sequence, port;
        u8 family, padding;
        u16 device_kind;
        i32 index;
        u32 device_flags, change;
    } query = {HEADERS, RTM_GETLINK, NLM_F_REQUEST, 1, 0, 0, 0, 0, 1, 0, 0};
    if (call6(SYS_sendto, probe, (i64)&query, HEADERS, 0, 0, 0) != HEADERS)
        return 0;
    i64 size = call6(SYS_recvfrom, probe, (i64)context->scratch, (i64)context->scratch_room, 0, 0, 0);
    const u8 *answer = context->scratch;
    for (i64 position = HEADERS; position + 4 <= size;) {
        const u16 *attribute = (const u16 *)(answer + position);
        if (attribute[0] < 4)
            return 0;
        if (attribute[1] == IFLA_STATS64 && attribute[0] >= 20 && position + 20 <= size) {
            const u32 *packets = (const u32 *)(answer + position + 4);
            return !(packets[0] | packets[1] | packets[2] | packets[3]);
        }
        position += (attribute[0] + 3) & ~3;
    }
    return 0;
}

/* What programs can read of it is what they would read of a new one. */
static i32 is_pristine(struct context *context, i32 space)
{
    i32 found = call2(SYS_setns, space, CLONE_NEWNET) == 0;
    for (i32 index = 0; found && index < COUNTERS; index++) {
        const struct counters *expected = &context->counters[index];
        if (!expected->size)
            continue; /* a kernel without it */
        i64 file = call4(SYS_openat, AT_FDCWD, expected->path, O_RDONLY | O_CLOEXEC, 0);
        i64 size = call3(SYS_read, file, context->scratch, context->scratch_room);
        call1(SYS_close, file);
        found = size == (i64)expected->size && same(context->scratch, expected->pristine, expected->size);
    }
    if (call2(SYS_setns, context->own_space, CLONE_NEWNET) < 0)
        call1(SYS_exit_group, 1); /* it would make sandboxes in a sandbox's */
    return found;
}

static void let_go(const struct network *network)
{
    call1(SYS_close, network->space);
    call1(SYS_close, network->probe);
}

/* One that is as good as new; `sandbox` of it is -1. Gives whether there is one. */
static i32 take(struct context *context, struct network *taken)
{
    if (!context->free_count && context->busy_count) {
        struct poll ended[NETWORKS];
        i32 count = context->busy_count, kept = 0;
        for (i32 index = 0; index < count; index++) {
            ended[index].descriptor = context->busy[index].sandbox;
            ended[index].events = POLLIN;
            ended[index].found = 0;
        }
        call3(SYS_poll, ended, count, 0);
        for (i32 index = 0; index < count; index++) {
            struct network network = context->busy[index];
            if (!ended[index].found) {
                context->busy[kept++] = network;
                continue;
            }
            call1(SYS_close, network.sandbox);
            if (is_untouched(context, network.probe) && is_pristine(context, network.space))
                context->free[context->free_count++] = network;
            else
                let_go(&network);
        }
        context->busy_count = kept;
    }
    if (!context->free_count)
        return 0;
    *taken = context->free[--context->free_count];
    return 1;
}

/* Look at a new sandbox's. Gives whether there is one to remember. */
static i32 enter(struct context *context, i32 pid, struct network *entered)
{
    char path[32] = "/proc/";
    char digits[12];
    i32 used = 6, count = 0;
    do
        digits[count++] = (char)('0' + pid % 10);
    while (pid /= 10);
    while (count)
        path[used++] = digits[--count];
    for (const char *rest = "/ns/net"; *rest;)
        path[used++] = *rest++;
    path[used] = 0;
    i64 space = call4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (space < 0)
        return 0; /* ended already */
    i64 probe = -1;
    if (call2(SYS_setns, space, CLONE_NEWNET) == 0) {
        probe = call3(SYS_socket, AF_NETLINK, SOCK_RAW | O_CLOEXEC, 0);
        if (call2(SYS_setns, context->own_space, CLONE_NEWNET) < 0)
            call1(SYS_exit_group, 1);
    }
    if (probe < 0) {
        call1(SYS_close, space);
        return 0;
    }
    entered->space = (i32)space;
    entered->probe = (i32)probe;
    return 1;
}

/* The sandbox `pid` now runs in `taken`, or (0) in one of its own. Gives whether `sandbox`, its pidfd, was kept. */
static i32 give(struct context *context, const struct network *taken, i32 pid, i32 sandbox)
{
    struct network network;
    if (taken)
        network = *taken;
    else if (context->busy_count + context->free_count >= NETWORKS || !enter(context, pid, &network))
        return 0;
    network.sandbox = sandbox;
    context->busy[context->busy_count++] = network;
    return 1;
}
