/* What the Python side (fast_path.py) and this one both read and write. */

/* What the entry returns; below 0 it is -errno. */
enum {
    CHILD = 0,       /* in a fork of init's: a program to be run warm, perhaps */
    REQUEST = 1,     /* a message for Python */
    PLAIN_CHILD = 2, /* in a fork of init's: a program that is surely right to run warm */
    FAILED_STEP = 3, /* in a fork of the template's: a step of the launch failed, see `step` */
};
enum { WARM = 1, TERMINAL = 2, OWN_ENVIRONMENT = 4 }; /* flags of an order, as in wire.py */

enum { LAUNCHES = 8 };
enum { PARKS = 2, PARKED = 7 }; /* as in fast_path.py: a value of `is_template`, and what a fork's call gives it */

struct launch {                                   /* as fast_path.Launch: one kind of sandbox */
    const u8 *settings;
    u64 settings_size;
    i64 (*calls)[7];                              /* number and six arguments each, as in kernel/batch.py */
    u64 call_count;
    u64 flags;                                    /* of clone3 */
    i32 channel_call, unused;                     /* the call that gets the channel */
};

struct context {                                  /* as fast_path.Context */
    i32 control, ended, oom_adjust, nothing;
    i32 pid;                                      /* the program that runs, or 0 */
    u32 number;                                   /* its exec */
    i32 was_warm;
    i32 error;                                    /* in a child: errno of chdir */
    i32 descriptors[MOST_DESCRIPTORS];            /* that came with the message */
    i32 descriptor_count, unused;
    u64 size;                                     /* of the message */
    u8 *message;
    u64 message_room;
    char **pointers;                              /* room for argv and an environment */
    u64 pointer_room;
    char **environment;                           /* the template's */
    char **names;                                 /* of the warm interpreter, for plain programs; 0 = there are none */
    char **absent;                                /* a start would look into these, if they were there */
    i32 (*fork)(void);                            /* libc's: it keeps the thread's own records right */
    void (*before_fork)(void);                    /* the interpreter's, as os.fork calls them; 0 = nothing to do */
    void (*after_in_parent)(void);
    void (*after_in_child)(void);

    /* of the template */
    i32 is_template, step;
    i32 launch_count;
    i32 launched;                                 /* in a fork of the template: which launch */
    struct launch launches[LAUNCHES];
};

struct order {                                    /* as wire.ORDER */
    u8 kind, flags;
    u16 unused;
    u32 number;
    u64 open_files, cpu_seconds;
    u32 arguments, variables;
};
