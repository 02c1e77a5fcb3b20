// Made by `npm run generate` of docs/reference/openapi.json: change the server, not this file.

export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Healthz
         * @description Whether requests are taken: 200, or 503 once the server is about to stop. Needs no key.
         */
        get: operations["health_healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics
         * @description What is counted, as Prometheus reads it: of the caller's workspace; of the whole server for its operator, who
         *     shows an admin key of the default workspace, or asks a server without keys.
         */
        get: operations["health_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/benchmark_job_defs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Definitions
         * @description Definitions of your workspace that match, by name; the parameters are those of scenarios.
         */
        get: operations["benchmark_job_defs_list_definitions"];
        put?: never;
        /**
         * Create
         * @description Keep a definition as the next version of its name; the same content and metadata give the version that there
         *     is.
         */
        post: operations["benchmark_job_defs_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/benchmark_job_defs/{ref}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get
         * @description A version; with `content` its `request`, without the webhook's secret.
         */
        get: operations["benchmark_job_defs_get"];
        put?: never;
        post?: never;
        /**
         * Delete
         * @description Delete the version NAME@2. Jobs that were made of it have all that they need.
         */
        delete: operations["benchmark_job_defs_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/benchmark_job_defs/{ref}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive
         * @description Hide a version, or with a bare name every version. It can still be run by NAME@2.
         */
        post: operations["benchmark_job_defs_archive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/benchmark_job_defs/{ref}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run
         * @description Check everything, then start a benchmark job of a definition and the fields that are given here.
         */
        post: operations["benchmark_job_defs_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/benchmark_jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Jobs
         * @description Benchmark jobs of your workspace, newest first.
         */
        get: operations["benchmark_jobs_list_jobs"];
        put?: never;
        /**
         * Create
         * @description Check everything, then start a job. Nothing has been started where the answer is a problem.
         *
         *     Many scenarios are sent as lines (application/x-ndjson): first the job without them, then one to a line. Task
         *     directories are sent likewise: `scenarios` of the first line is a `file_name` that ends in `.tar`, and behind it
         *     comes a tar archive with a folder for each task, of at most 256 MiB.
         */
        post: operations["benchmark_jobs_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/benchmark_jobs/{job}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get
         * @description A job by its id or name (the newest of that name); with `wait_seconds` when it has ended, or after that time.
         */
        get: operations["benchmark_jobs_get"];
        put?: never;
        post?: never;
        /**
         * Delete
         * @description Delete a job that has ended, with its results.
         */
        delete: operations["benchmark_jobs_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/benchmark_jobs/{job}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel
         * @description Stop the job's running sandboxes and end it; no effect on a job that has ended.
         */
        post: operations["benchmark_jobs_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/benchmark_jobs/{job}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Events
         * @description Server-sent events from the first after cursor `after` (or Last-Event-ID) to the job's end.
         *
         *     Each has its cursor as `id` and its kind as `event`. The last one is `end`; a stream without it broke off, and is
         *     asked for again from the last cursor.
         */
        get: operations["benchmark_jobs_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/benchmark_jobs/{job}/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Results
         * @description The results so far, the runs in the order in which they ended; made while they are sent.
         */
        get: operations["benchmark_jobs_results"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/benchmark_jobs/{job}/results/page": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Results Page
         * @description Results in the order in which runs ended, from the first after cursor `after`.
         */
        get: operations["benchmark_jobs_results_page"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/benchmark_jobs/{job}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Summary
         * @description The results so far without the runs themselves.
         */
        get: operations["benchmark_jobs_summary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blueprints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Blueprints
         * @description The blueprints of your workspace, or with `organization` those that were published to its organisation; the
         *     newest version of each, or with `name` every version of that one; newest first, without the contents of their
         *     files and their environments. A page holds at most 8 MiB; `cursor` is the `next_cursor` of the page before.
         */
        get: operations["blueprints_list_blueprints"];
        put?: never;
        /**
         * Create
         * @description Install the packages (wheels only) and record the recipe; a name that exists gets its next version.
         */
        post: operations["blueprints_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blueprints/{name_or_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get
         * @description The newest version of a name, or the one with this id; with the contents of its files.
         */
        get: operations["blueprints_get"];
        put?: never;
        post?: never;
        /**
         * Delete
         * @description Forget every version of a name, or the one with this id. For admins: others may be using it.
         */
        delete: operations["blueprints_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blueprints/{name_or_id}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish
         * @description Show the newest version of a name, or the one with this id, to all workspaces of your organisation. One that
         *     is built in, is made of an image, or has a name that another workspace has published, is refused.
         */
        post: operations["blueprints_publish"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blueprints/{name_or_id}/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Withdraw
         * @description Show every version of a name, or the one with this id, to your own workspace alone.
         */
        post: operations["blueprints_withdraw"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/calibrations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Calibrate
         * @description Start a calibration: a benchmark job of the same id that runs right answers, empty ones and every forgery.
         */
        post: operations["catalog_calibrate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/calibrations/{calibration}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Calibration
         * @description How far it is; with `wait_seconds` when it has ended, or after that time.
         */
        get: operations["catalog_get_calibration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/image_builds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Build
         * @description Begin to build an image from a Dockerfile. The body is a tar stream: first `build.json` with what is built
         *     (dockerfile, references, arguments, target, secrets, ...), then the context below `context/`. It is answered
         *     when the whole stream has come and the Dockerfile has been read.
         */
        post: operations["image_builds_build"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/image_builds/{build}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get
         * @description A build; with `wait_seconds` when it has ended, or after that time. It is forgotten an hour after its end.
         */
        get: operations["image_builds_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/image_builds/{build}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel
         * @description End a build. No effect on one that has ended.
         */
        post: operations["image_builds_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/image_builds/{build}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Events
         * @description Server-sent events from the first after cursor `after` (or Last-Event-ID) to the build's end, as those of
         *     benchmark jobs; with `output`, what a command has said.
         */
        get: operations["image_builds_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/image_pulls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pull
         * @description Begin to pull an image, and answer at once. What is pulled already is joined. A tag is resolved once and then
         *     kept until it is pulled again; without `refresh`, an image that is here is not asked for at its registry.
         */
        post: operations["images_pull"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/image_pulls/{pull}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Pull
         * @description A pull; with `wait_seconds` when it has ended, or after that time. It is forgotten an hour after its end.
         */
        get: operations["images_get_pull"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/image_pulls/{pull}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Pull
         * @description End a pull, unless other workspaces wait for it, too. No effect on one that has ended.
         */
        post: operations["images_cancel_pull"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/image_pulls/{pull}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Pull Events
         * @description Server-sent events from the first after cursor `after` (or Last-Event-ID) to the pull's end, as those of
         *     benchmark jobs.
         */
        get: operations["images_pull_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Images
         * @description Images of your workspace, by their references.
         */
        get: operations["images_list_images"];
        put?: never;
        /**
         * Import Image
         * @description Make an image of a tar stream: an OCI layout, what `docker save` writes, or a root file system.
         */
        post: operations["images_import_image"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images/{image}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Image
         * @description An image.
         */
        get: operations["images_get_image"];
        put?: never;
        post?: never;
        /**
         * Remove Image
         * @description Forget an image of your workspace. Its layers are removed when no sandbox and no other image needs them.
         */
        delete: operations["images_remove_image"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images/{image}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Image
         * @description An image as a tar stream: an OCI layout, or what `docker load` reads.
         */
        get: operations["images_export_image"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images/collect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Collect
         * @description Remove what no image needs any more, and the images that were not used for the longest time until the rest
         *     fits the node's budget; with `unused_seconds`, also each image of your workspace that was not used for so long.
         *     What a sandbox uses stays.
         */
        post: operations["images_collect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Keys
         * @description The workspace's keys, oldest first, revoked ones too. A page holds at most 8 MiB; `cursor` is the `next_cursor`
         *     of the page before.
         */
        get: operations["keys_list_keys"];
        put?: never;
        /**
         * Create
         * @description Make a key. The answer holds the key itself, which cannot be asked for again but with an idempotency key. To give
         *     the scope `publish` takes a key that has it.
         */
        post: operations["keys_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke
         * @description Refuse the key from now on. May be asked for again.
         */
        delete: operations["keys_revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open Lease
         * @description Open a lease. Sandboxes that name it end with it: when it is closed, or not renewed within `seconds`.
         */
        post: operations["leases_open_lease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{lease_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Close
         * @description End it and its sandboxes; answers when they have ended.
         */
        delete: operations["leases_close"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{lease_id}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew
         * @description It lasts its whole length from now on.
         */
        post: operations["leases_renew"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/objects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Objects
         * @description Every version, newest first, as {objects, next_cursor}; with `organization` those that were published to the
         *     organisation, by any workspace of it.
         */
        get: operations["objects_list_objects"];
        put?: never;
        /**
         * Push Object
         * @description Publish the tree in a tar stream; with `digest` only if that is the tree's. The same content gives the object
         *     that there is, other content is refused (409).
         */
        post: operations["objects_push_object"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/objects/{kind}/{ref}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Object
         * @description A version of your workspace, else one that was published to its organisation; and what was read of it.
         */
        get: operations["objects_get_object"];
        put?: never;
        post?: never;
        /**
         * Delete Object
         * @description Delete a version; 409 while a training job of your workspace that has not ended refers to it, or the
         *     organisation sees it.
         */
        delete: operations["objects_delete_object"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/objects/{kind}/{ref}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish Object
         * @description Show a version of your workspace to all workspaces of its organisation, and to no other one any more. One
         *     that was made of a path is refused, and one whose name another workspace has published there (409).
         */
        post: operations["objects_publish_object"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/objects/{kind}/{ref}/tree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Pull Object
         * @description Its files as a tar stream.
         */
        get: operations["objects_pull_object"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/objects/{kind}/{ref}/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Withdraw Object
         * @description Show a version to its own workspace alone, from now on. Training jobs of others that were accepted before go
         *     on with its files.
         */
        post: operations["objects_withdraw_object"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Sandboxes
         * @description Sandboxes of your workspace that carry all `tag`s and have one of the `status`es, oldest first.
         */
        get: operations["sandboxes_list_sandboxes"];
        put?: never;
        /**
         * Create
         * @description Create and start a sandbox; answers when it runs.
         */
        post: operations["sandboxes_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get
         * @description One sandbox; ended ones are remembered for a while.
         */
        get: operations["sandboxes_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Archive
         * @description A tar stream of the files and directories below a directory; links are left out.
         */
        get: operations["files_archive"];
        /**
         * Extract
         * @description Unpack a tar stream into a directory, which is created where it is missing.
         */
        put: operations["files_extract"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/directories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make Dir
         * @description Create a directory; with `parents` like `mkdir -p`.
         */
        post: operations["files_make_dir"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/execs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run
         * @description Run a command and stream its output: frames STARTED, STDOUT and STDERR as they come, then RESULT or PROBLEM.
         *
         *     The command belongs to this request: it is killed, with everything that it started, when the connection closes.
         */
        post: operations["commands_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/execs/{exec_id}/kill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Kill
         * @description Kill the command's whole process tree; its RESULT says outcome `cancelled`.
         */
        post: operations["commands_kill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/execs/{exec_id}/resize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resize
         * @description Change the size of the pseudo-terminal.
         */
        post: operations["commands_resize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/execs/{exec_id}/stdin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write Stdin
         * @description Write the body to the command's standard input; answers when its pipe has taken it.
         */
        post: operations["commands_write_stdin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/execs/{exec_id}/stdin/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close Stdin
         * @description End of input.
         */
        post: operations["commands_close_stdin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Extend
         * @description It ends `seconds` from now at the earliest.
         */
        post: operations["sandboxes_extend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read
         * @description A file's content. One larger than `max_bytes`, or than the workspace's sandboxes may write (and 1 GiB), is
         *     refused before anything is sent.
         */
        get: operations["files_read"];
        /**
         * Write
         * @description Create or replace a file, creating missing parents. `mode` is a decimal number.
         */
        put: operations["files_write"];
        /**
         * Append
         * @description Add to a file's end; it is created where it is missing.
         */
        post: operations["files_append"];
        /**
         * Remove
         * @description Remove a file, a link or an empty directory; with `recursive` a whole tree.
         */
        delete: operations["files_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/files/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Files
         * @description A directory's entries, sorted by name.
         */
        get: operations["files_list_files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/files/stat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stat
         * @description About one path; a link is described, not followed.
         */
        get: operations["files_stat"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/gateway_log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Gateway Log
         * @description What was asked of a sandbox's gateways, behind entry number `after`: without tokens, credentials and queries.
         */
        get: operations["sandboxes_gateway_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/network": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Network Log
         * @description What a sandbox has reached and what it was refused, behind entry number `after`, with the sums of all of it.
         */
        get: operations["sandboxes_network_log"];
        /**
         * Set Network
         * @description Give a sandbox that has a network another policy; connections that it does not allow end.
         */
        put: operations["sandboxes_set_network"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/outputs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Outputs
         * @description The ends of what its newest commands printed, also of a sandbox that has ended. A server keeps some for each
         *     workspace; the oldest go first.
         */
        get: operations["sandboxes_outputs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/processes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Processes
         * @description The processes inside.
         */
        get: operations["sandboxes_processes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/processes/{pid}/signal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Signal
         * @description Send a signal to one of them.
         */
        post: operations["sandboxes_signal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop
         * @description End it; answers when nothing of it runs any more. May be asked for again.
         */
        post: operations["sandboxes_stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Usage
         * @description What the programs inside use: processor time so far, and memory now.
         */
        get: operations["sandboxes_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{sandbox_id}/wait": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Wait
         * @description Answers when the sandbox has ended, or after `seconds`.
         */
        get: operations["sandboxes_wait"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scenarios": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Scenarios
         * @description Newest first: of each name the newest version that is not archived; with `name` every version of that one, with
         *     `archived` every version there is.
         */
        get: operations["catalog_list_scenarios"];
        put?: never;
        /**
         * Create Scenarios
         * @description Keep scenarios as the next version of their name; the same content and metadata give the version that there
         *     is.
         */
        post: operations["catalog_create_scenarios"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scenarios/{ref}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Scenarios
         * @description A version, with its calibrations; with `content` what was stored.
         */
        get: operations["catalog_get_scenarios"];
        put?: never;
        post?: never;
        /**
         * Delete Scenarios
         * @description Delete the version NAME@2; 409 while a benchmark job that has not ended refers to it. Its number is not used
         *     again, and results keep its digest.
         */
        delete: operations["catalog_delete_scenarios"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scenarios/{ref}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive Scenarios
         * @description Hide a version, or with a bare name every version. Jobs that name one go on as before.
         */
        post: operations["catalog_archive_scenarios"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scores": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Score
         * @description Run one candidate in a fresh sandbox, and score it: the answer is its envelope. Nothing is stored.
         */
        post: operations["scores_score"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scoring_contracts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Contracts
         * @description Scoring contracts of your workspace that match, by name; the parameters are those of scenarios.
         */
        get: operations["catalog_list_contracts"];
        put?: never;
        /**
         * Create Contract
         * @description Keep a scoring contract as the next version of its name; the same content and metadata give the version that
         *     there is.
         */
        post: operations["catalog_create_contract"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scoring_contracts/{ref}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Contract
         * @description A version, with the contract.
         */
        get: operations["catalog_get_contract"];
        put?: never;
        post?: never;
        /**
         * Delete Contract
         * @description Delete a version of a scoring contract, on the terms of scenarios. What was stored with a reference to it cannot
         *     be run any more.
         */
        delete: operations["catalog_delete_contract"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scoring_contracts/{ref}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive Contract
         * @description Hide a version, or with a bare name every version. What refers to one goes on as before.
         */
        post: operations["catalog_archive_contract"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Secrets
         * @description Secrets of your workspace, by name, without their values.
         */
        get: operations["secrets_list_secrets"];
        put?: never;
        /**
         * Set Secret
         * @description Keep a secret, sealed, in place of the one of its name. A gateway may send it to these hosts, and to no
         *     others. For admins: it stands for somebody outside of the workspace.
         */
        post: operations["secrets_set_secret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Secret
         * @description A secret, without its value.
         */
        get: operations["secrets_get_secret"];
        put?: never;
        post?: never;
        /**
         * Delete Secret
         * @description Forget a secret. Sandboxes that are created from now on cannot use it. For admins.
         */
        delete: operations["secrets_delete_secret"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Snapshots
         * @description Snapshots of your workspace, the oldest first.
         */
        get: operations["snapshots_list_snapshots"];
        put?: never;
        /**
         * Create
         * @description Take a snapshot of a running sandbox of an image: its programs stand still meanwhile, and go on; with `ends`
         *     the sandbox ends then instead. A sandbox begins with it where its image is `snapshot://` and the
         *     name or id; a snapshot with `ttl_seconds` is removed after that time.
         *
         *     With `in_memory` it is for sandboxes that begin with it soon: where it can be, it is made in a moment, has no
         *     layer of its own on the disk, is in no list, and is gone after `ttl_seconds` (600 without them) or with the
         *     node.
         */
        post: operations["snapshots_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/snapshots/{snapshot}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Snapshot
         * @description A snapshot.
         */
        get: operations["snapshots_get_snapshot"];
        put?: never;
        post?: never;
        /**
         * Remove Snapshot
         * @description Remove a snapshot. Its layer goes when no sandbox and no other snapshot needs it.
         */
        delete: operations["snapshots_remove_snapshot"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/snapshots/{snapshot}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Snapshot
         * @description A snapshot as the tar stream of an image, with all its layers: an OCI layout, or what `docker load` reads.
         */
        get: operations["snapshots_export_snapshot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/training_jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Jobs
         * @description Training jobs of your workspace, newest first.
         */
        get: operations["training_jobs_list_jobs"];
        put?: never;
        /**
         * Create
         * @description Check everything, then accept a job; it begins when it is its turn. Nothing is stored where the answer is a
         *     problem, which lists every mistake.
         */
        post: operations["training_jobs_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/training_jobs/{job}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get
         * @description A job by its id or name (the newest of that name); with `wait_seconds` when it has ended, or after that time.
         */
        get: operations["training_jobs_get"];
        put?: never;
        post?: never;
        /**
         * Delete
         * @description Delete a job that has ended, with all that it wrote.
         */
        delete: operations["training_jobs_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/training_jobs/{job}/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Artifacts
         * @description What the job's present try has written so far.
         */
        get: operations["training_jobs_artifacts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/training_jobs/{job}/artifacts/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * File
         * @description The content of one of its files.
         */
        get: operations["training_jobs_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/training_jobs/{job}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel
         * @description End the job, its worker and its sandboxes; what it had stays. No effect on a job that has ended.
         */
        post: operations["training_jobs_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/training_jobs/{job}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Events
         * @description Server-sent events from the first after cursor `after` (or Last-Event-ID) to the job's end, as those of benchmark
         *     jobs.
         */
        get: operations["training_jobs_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/training_jobs/{job}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Logs
         * @description What was said to people, from the first message after cursor `after`.
         */
        get: operations["training_jobs_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/training_jobs/{job}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics
         * @description What was measured since cursor `after`: arrays along their axes, and scalars. Of at most 1000 events, and
         *     8 MiB of them; where there are `more`, the rest is asked for after the answer's `cursor`.
         */
        get: operations["training_jobs_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/training_jobs/{job}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry
         * @description Queue a job that has ended once more.
         */
        post: operations["training_jobs_retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/training_jobs/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Plan
         * @description Say what a job would do that is created with this request, and start nothing: it is checked by the same code,
         *     and what would be refused is refused with the same problem.
         */
        post: operations["training_jobs_plan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/world_jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Jobs
         * @description Jobs of your workspace's worlds, or of the world with this id, the newest first.
         */
        get: operations["world_jobs_list_jobs"];
        put?: never;
        /**
         * Create
         * @description Make trajectories of a world, which is named by its id or name, and publish them as a version of a data set.
         *     Without `dataset`, the data set has the world's name. `mode` agent: the model `agent_model`, named as training
         *     jobs name one, plays with the prompt of `capability` (NAME@VERSION).
         */
        post: operations["world_jobs_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/world_jobs/{job}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get
         * @description A job by its id; with `wait_seconds` when it has ended, or after that time.
         */
        get: operations["world_jobs_get"];
        put?: never;
        post?: never;
        /**
         * Delete
         * @description Forget a job that has ended. Its data set stays.
         */
        delete: operations["world_jobs_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/world_jobs/{job}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel
         * @description End a job. No effect on one that has ended.
         */
        post: operations["world_jobs_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/world_manifests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Worlds
         * @description Worlds of your workspace, the newest first.
         */
        get: operations["world_manifests_list_worlds"];
        put?: never;
        /**
         * Create
         * @description Make a world of its manifest: an abstract game on a graph, the same for the same manifest. Its preset says
         *     what is left out.
         */
        post: operations["world_manifests_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/world_manifests/{world}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get
         * @description A world by its id or name (the newest of that name).
         */
        get: operations["world_manifests_get"];
        put?: never;
        post?: never;
        /**
         * Delete
         * @description Forget a world. Jobs that make trajectories of it go on: they have its manifest.
         */
        delete: operations["world_manifests_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/world_manifests/{world}/map": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Map
         * @description A picture of a world, as SVG and in lines; with a job of this world, with the way that its player went in the
         *     episode of this number.
         */
        get: operations["world_manifests_map"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * AdapterDescription
         * @description What adapter_config.json says.
         */
        AdapterDescription: {
            /** @description model that the adapter changes; null = it does not say */
            base_model: string | null;
        };
        /**
         * ApiKey
         * @description What is known of an API key: neither the key nor its hash.
         */
        ApiKey: {
            /**
             * Format: date-time
             * @description when it was made
             */
            created_at: string;
            /** @description a part of the key itself, and what it is revoked by */
            id: string;
            /** @description what or whom it is for */
            name: string;
            /** @description since when it is refused; null = it is accepted */
            revoked_at: string | null;
            /** @description what it may do: read, write, admin, publish */
            scopes: string[];
            /** @description the workspace that its requests concern */
            workspace: string;
        };
        /**
         * ArchivedVersions
         * @description What archiving did.
         */
        ArchivedVersions: {
            /** @description how many versions were not archived before */
            archived: number;
            /** @description the name whose versions were archived */
            name: string;
        };
        /**
         * BatteryRuns
         * @description Runs of the forgeries that apply to the contract.
         */
        BatteryRuns: {
            /** @description forgeries that earned something; each is a fault */
            paid: components["schemas"]["PaidForgery"][];
            /** @description forgeries that were run */
            tried: number;
            /** @description names of those that had no score although the platform worked */
            unscored: string[];
        };
        /**
         * BenchmarkEvent
         * @description One thing that happened to a job; `cursor` grows. Fields that a kind does not have are absent, and null here.
         *
         *     Kinds: job_started {total, effective_concurrency}, run_started, run_retried {error, delay_seconds}, run_finished
         *     {score, passed, validity, reason, duration_seconds}, run_cancelled, run_requeued {interruptions} (its node has
         *     gone), job_paused {error} and job_continued (the store was away), job_released and job_resumed {open} (another node
         *     goes on), job_ended {state}; events of a run carry {run, scenario_id, attempt}; after the end webhook_delivered or
         *     webhook_failed {delivery_id, tries, error}.
         */
        BenchmarkEvent: {
            /** @description when it happened */
            at: string;
            /** @description 1, 2, ... for the same scenario */
            attempt?: number | null;
            /** @description 1, 2, ... within its job */
            cursor: number;
            /** @description time until the run is tried again */
            delay_seconds?: number | null;
            /** @description the delivery of the job's end */
            delivery_id?: string | null;
            /** @description wall time of the run */
            duration_seconds?: number | null;
            /** @description runs that the node lets run at one time */
            effective_concurrency?: number | null;
            /** @description what the platform failed at */
            error?: string | null;
            /** @description how many nodes have gone while they ran it */
            interruptions?: number | null;
            /** @description id of the job that it happened to */
            job_id: string;
            /** @description what happened, one of the words above */
            kind: string;
            /** @description runs that had not ended when another node took the job over */
            open?: number | null;
            /** @description whether the run passed */
            passed?: boolean | null;
            /** @description the run's reason */
            reason?: components["schemas"]["Reason"] | null;
            /** @description number of the run, as in `BenchmarkRun` */
            run?: number | null;
            /** @description the run's scenario */
            scenario_id?: string | null;
            /** @description the run's score; null = it has none */
            score?: number | null;
            /** @description the `JobState` in which the job ended */
            state?: string | null;
            /** @description runs of the job */
            total?: number | null;
            /** @description requests that were sent for it */
            tries?: number | null;
            /** @description the run's validity */
            validity?: components["schemas"]["Validity"] | null;
        };
        /**
         * BenchmarkJob
         * @description A job, as it was when it was asked for.
         */
        BenchmarkJob: {
            /** @description blueprint that candidates run in: the requested one, or one that fits where none was requested */
            blueprint: string;
            /** @description what was asked for, with the defaults for the rest */
            config: components["schemas"]["JobConfiguration"];
            /** @description when the job was accepted */
            created_at: string;
            /** @description cursor of its newest event */
            cursor: number;
            /** @description null = it was not made of a definition */
            definition: components["schemas"]["DefinitionReference"] | null;
            /** @description how long it has run, on all nodes together */
            duration_seconds: number;
            /** @description when it reached a state that it never leaves; null = it has not ended */
            ended_at: string | null;
            /** @description why the platform could not run it to its end */
            error: string | null;
            /** @description chosen by the node that accepted the job: job_ and 16 hexadecimal digits */
            id: string;
            /** @description null = no row was left out */
            left_out: components["schemas"]["LeftOutRows"] | null;
            /** @description null = nothing stored was used */
            lineage: components["schemas"]["JobLineage"] | null;
            /** @description the user's, not unique; a name stands for the newest job that has it */
            name: string;
            /** @description its runs, counted by state */
            progress: components["schemas"]["Progress"];
            /** @description when its first run began; null = none has */
            started_at: string | null;
            /** @description a `JobState`: queued, running, completed, cancelled, failed, timed_out or interrupted */
            state: string;
            /** @description null = nobody is told of its end */
            webhook: components["schemas"]["WebhookDelivery"] | null;
        };
        /**
         * BenchmarkJobDef
         * @description One version of a definition: a part of a benchmark job's request.
         */
        BenchmarkJobDef: {
            archived_at: string | null;
            /** @description blueprint that its candidates run in; null = each run says, or the default */
            blueprint_id: string | null;
            /** @description the fields of a `JobConfig` that the definition sets */
            config: {
                [key: string]: unknown;
            };
            created_at: string;
            digest: string;
            /** @description fields of a job's request that the definition holds */
            fields: string[];
            metadata: {
                [key: string]: string;
            };
            name: string;
            /** @description number of its scenarios; null = they come with each run */
            problems: number | null;
            ref: string;
            /** @description from `get` with `content`: what was stored, without the webhook's secret */
            request?: {
                [key: string]: unknown;
            } | null;
            version: number;
            /** @description null = its jobs tell nobody */
            webhook: components["schemas"]["WebhookOutline"] | null;
        };
        /**
         * BenchmarkJobsPage
         * @description One page of jobs, newest first.
         */
        BenchmarkJobsPage: {
            /** @description up to as many as were asked for */
            benchmark_jobs: components["schemas"]["BenchmarkJob"][];
            /** @description asks for what follows; null = this was the last page */
            next_cursor: number | null;
        };
        /**
         * BenchmarkResults
         * @description The runs of a job and their summary.
         */
        BenchmarkResults: {
            /** @description why the platform could not run it to its end; null = it could, or it has not ended */
            error: string | null;
            /** @description the job's id */
            job_id: string;
            /** @description the job's name */
            name: string;
            /** @description in the order in which they ended */
            runs: components["schemas"]["BenchmarkRun"][];
            /** @description the job's `JobState` */
            state: string;
            /** @description what `runs` add up to */
            summary: components["schemas"]["Summary"];
        };
        /**
         * BenchmarkRun
         * @description One attempt of one scenario. `score` is null, and never 0, where the platform failed.
         */
        BenchmarkRun: {
            /** @description 1, 2, ... for the same scenario */
            attempt: number;
            /**
             * @description sha256 over the blueprint that it was made of; empty = none
             * @default
             */
            blueprint_digest: string;
            /**
             * @description sha256 over the candidate's files; empty where nothing was scored
             * @default
             */
            candidate_digest: string;
            /** @description checks that the candidate passed */
            checks_passed: number;
            /** @description checks that the contract has */
            checks_planned: number;
            /** @description checks that were made, until one ended the run */
            checks_run: number;
            /** @description the stored scoring contract, as NAME@2 */
            contract_version?: string | null;
            /** @description processor time of the candidate's processes */
            cpu_seconds: number;
            /** @description one line for people; never parsed */
            detail: string;
            /** @description wall time of making the sandbox, running and judging, without tries that the platform lost */
            duration_seconds: number;
            /** @description sha256 over contract, candidate, scorer version and observations */
            evidence: string;
            /** @description null = no verdict is known */
            expected?: components["schemas"]["ExpectedVerdict"] | null;
            /**
             * @description no honest candidate can pass this scenario
             * @default false
             */
            honeypot: boolean;
            /**
             * @description `sha256:...` of the image that the candidate's sandbox was made of, or the interpreter of the default one, as
             *     python:3.11.2; empty where it was in none
             * @default
             */
            image_digest: string;
            /** @description the scenario's own, as its author wrote it */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description fields that this version of harena does not know, from a newer server; they stand beside the others in
             *     `to_dict`
             */
            more?: {
                [key: string]: unknown;
            };
            /** @description false also where there is no score */
            passed: boolean;
            /** @description most memory that the candidate's sandbox held */
            peak_memory_bytes: number;
            /** @description tries that the platform lost before this one */
            platform_retries: number;
            /** @description id that siblings (candidates of one problem) share */
            problem?: string | null;
            /**
             * @description what programs could do in the candidate's sandbox: strict or machine; empty where it was in none
             * @default
             */
            profile: string;
            /** @description why it has this score, or none */
            reason: components["schemas"]["Reason"];
            /** @description null = it was scored once */
            rescore?: components["schemas"]["Rescored"] | null;
            /** @description 0, 1, ... in the order of acceptance */
            run: number;
            /**
             * @description sha256 over all but the candidate that decides the score; empty where nothing was scored
             * @default
             */
            scenario_digest: string;
            /** @description unique within the job; the scenario's author chose it */
            scenario_id: string;
            /** @description the stored scenarios, as NAME@2 */
            scenario_version?: string | null;
            /** @description 0 to 1, or what the contract gives; null = the candidate was not judged */
            score: number | null;
            /** @description name and number of the rules that gave the score, such as tests-5 */
            scorer_version: string;
            /** @description separate (the verdict was computed out of the candidate's reach) or shared */
            trust: components["schemas"]["Trust"];
            /** @description valid; suspect (scored, though something was tampered with); infra or invalid (no score) */
            validity: components["schemas"]["Validity"];
            /** @description null where no verdict is known, or there is no score */
            verdict_right?: boolean | null;
        };
        /**
         * Blueprint
         * @description A recipe for sandboxes: packages, files, environment and what to keep warm.
         */
        Blueprint: {
            /** @description when it was made; null = it is built in */
            created_at?: string | null;
            /**
             * @description programs that each sandbox starts before any other, in this order
             * @default []
             */
            daemons: components["schemas"]["Daemon"][];
            /**
             * @description sha256 over all that decides what its sandboxes are; empty = its server does not tell
             * @default
             */
            digest: string;
            /** @description the environment of its sandboxes' programs */
            env?: {
                [key: string]: string;
            };
            /** @description absolute path -> content */
            files?: {
                [key: string]: string;
            };
            /**
             * @description gateways of its sandboxes, where they do not say that themselves
             * @default {}
             */
            gateways: {
                [key: string]: components["schemas"]["GatewayTerms"];
            };
            /** @description names this version */
            id: string;
            /**
             * @description name of the image that its sandboxes have
             * @default default
             */
            image: string;
            /** @description digest of the layer that holds the packages; null = no packages */
            layer?: string | null;
            /**
             * @description limits of its sandboxes; one that is as by default says nothing, and a sandbox that asks for another has that
             * @default {
             *       "disk_bytes": 536870912,
             *       "inodes": 200000,
             *       "lifetime_seconds": 86400,
             *       "memory_bytes": 536870912,
             *       "open_files": 1024,
             *       "output_bytes": 67108864,
             *       "pids": 256
             *     }
             */
            limits: components["schemas"]["Limits"];
            /**
             * @description the end of what the build of its image has said; empty = none was built for it
             * @default
             */
            log: string;
            /** @description names its newest version */
            name: string;
            /**
             * @description what its sandboxes may reach, where they do not say that themselves
             * @default none
             */
            network: ("none" | "open") | components["schemas"]["NetworkRules"];
            /**
             * @description every wheel that is installed, dependencies included
             * @default []
             */
            packages: components["schemas"]["Package"][];
            /**
             * @description what programs may do inside
             * @default strict
             * @enum {string}
             */
            profile: "strict" | "machine";
            /**
             * @description what its file said, as JSON; empty = it was made of none
             * @default
             */
            recipe: string;
            /**
             * @description the requirements as they were asked for
             * @default []
             */
            requested: string[];
            /** @description modules imported once in the template; null = every exec is a real start; empty = a bare warm one */
            warm?: string[] | null;
        };
        /**
         * BlueprintBody
         * @description A blueprint to create.
         */
        BlueprintBody: {
            /** @default [] */
            daemons?: components["schemas"]["DaemonShape"][];
            /** @default {} */
            env?: {
                [key: string]: string;
            };
            /** @default {} */
            files?: {
                [key: string]: string;
            };
            /** @default {} */
            gateways?: {
                [key: string]: components["schemas"]["GatewayShape"];
            };
            /** @default default */
            image?: string;
            /**
             * @default {
             *       "disk_bytes": 536870912,
             *       "inodes": 200000,
             *       "lifetime_seconds": 86400,
             *       "memory_bytes": 536870912,
             *       "open_files": 1024,
             *       "output_bytes": 67108864,
             *       "pids": 256
             *     }
             */
            limits?: components["schemas"]["LimitsShape"];
            /** @default  */
            log?: string;
            name: string;
            /** @default none */
            network?: ("none" | "open") | components["schemas"]["NetworkShape"];
            /** @default [] */
            packages?: string[];
            /**
             * @default strict
             * @enum {string}
             */
            profile?: "strict" | "machine";
            /** @default  */
            recipe?: string;
            warm?: string[] | null;
        };
        /**
         * BlueprintsPage
         * @description The newest version of each name, newest first, or the versions of one name.
         */
        BlueprintsPage: {
            /** @description up to as many as were asked for */
            blueprints: components["schemas"]["BlueprintSummary"][];
            /** @description what the next page is asked for with; null = this is the last one */
            next_cursor: string | null;
        };
        /**
         * BlueprintSummary
         * @description What a list tells of a blueprint: neither the contents of its files nor its environment.
         */
        BlueprintSummary: {
            /** @description when it was made; null = it is built in */
            created_at: string | null;
            /**
             * @description sha256 over all that decides what its sandboxes are; empty = its server does not tell
             * @default
             */
            digest: string;
            /** @description bytes of all of them */
            file_bytes: number;
            /** @description number of its files */
            files: number;
            /** @description names this version */
            id: string;
            /** @description name of the image that its sandboxes have */
            image: string;
            /** @description digest of the layer that holds the packages; null = no packages */
            layer: string | null;
            /** @description names its newest version */
            name: string;
            /** @description every wheel that is installed, dependencies included */
            packages: components["schemas"]["Package"][];
            /**
             * @description what programs may do inside
             * @default strict
             * @enum {string}
             */
            profile: "strict" | "machine";
            /** @description the requirements as they were asked for */
            requested: string[];
            /** @description modules imported once in the template; null = every exec is a real start */
            warm: string[] | null;
        };
        /**
         * BuildState
         * @description Where a build is.
         * @enum {string}
         */
        BuildState: "waiting" | "pulling" | "running" | "done" | "failed" | "cancelled";
        /**
         * CalibratedScenario
         * @description One problem under one contract.
         */
        CalibratedScenario: {
            /** @description what forgeries got */
            battery: components["schemas"]["BatteryRuns"];
            /** @description what answers got that need no thought */
            constants?: components["schemas"]["ConstantRuns"];
            /** @description type of the scoring contract */
            contract: string;
            /**
             * @description sha256 over all that decides a score, and the right answers: the version that this holds for
             * @default
             */
            digest: string;
            /** @description score of an empty program; null = it had none */
            empty_score: number | null;
            /** @description share of all others, mutants apart, that passed */
            false_positive_rate: number | null;
            /** @description what is wrong with it, a sentence for each */
            faults: string[];
            /** @description all of that and what audits look for besides, the gravest first */
            findings?: components["schemas"]["Finding"][];
            /** @description whether `verdict` is fit */
            fit: boolean;
            /** @description what right answers got */
            gold: components["schemas"]["GoldRuns"];
            /** @description what candidates got that are known to be wrong */
            known_wrong: components["schemas"]["KnownWrongRuns"];
            /** @description how many slightly wrong answers the checks tell from the right one */
            mutants?: components["schemas"]["MutantRuns"];
            /** @description sentences about lines of a `command` whose answer a candidate can arrange; no faults */
            notes?: string[];
            /** @description id of the scenario */
            scenario: string;
            /** @description score of a program that defines what is asked for and does nothing; null = it had none, or none was run */
            stub_score: number | null;
            /** @description share of the right answers that passed */
            true_positive_rate: number | null;
            /** @description separate (verdicts are computed out of the candidate's reach) or shared */
            trust: string;
            /**
             * @description number of runs that have no score because of the platform, also after the job's retries
             * @default 0
             */
            unscored_by_platform: number;
            /**
             * @description fit, not_fit (there are faults), not_judged (there was nothing to try), or no_verdict (the platform gave some
             *     runs no score, and the others show no fault)
             * @default not_judged
             */
            verdict: string;
            /**
             * @description why it is not fit, in one sentence; empty = it is
             * @default
             */
            why: string;
        };
        /**
         * CalibrationBody
         * @description A calibration to start.
         */
        CalibrationBody: {
            /** @default default */
            blueprint_id?: string;
            candidates?: "oracle" | components["schemas"]["ScenarioFile"] | unknown[] | {
                [key: string]: unknown;
            } | null;
            /**
             * @default {
             *       "attempts": 1,
             *       "build_network": "open",
             *       "concurrency": 8,
             *       "execution": "local",
             *       "priority": 0,
             *       "rescore_fraction": 0,
             *       "retry_attempts": 1,
             *       "retry_on": [
             *         "platform"
             *       ],
             *       "skip_bad_rows": false,
             *       "timeout_seconds": 120
             *     }
             */
            config?: components["schemas"]["JobConfig"];
            format?: string | null;
            /** @default 5 */
            gold_runs?: number;
            grader?: {
                [key: string]: unknown;
            } | null;
            /** @default calibration */
            name?: string;
            scenarios: components["schemas"]["ScenarioFile"] | unknown[] | {
                [key: string]: unknown;
            };
        };
        /**
         * CalibrationJob
         * @description A calibration, as it was when it was asked for: a benchmark job, and the report that its runs make.
         */
        CalibrationJob: {
            /** @description when it was asked for */
            created_at: string;
            /** @description its job has ended, or was deleted */
            ended: boolean;
            /** @description null until it has ended, and where its job did not complete */
            fit: boolean | null;
            /** @description times that each right answer is run */
            gold_runs: number;
            /** @description also the id of its benchmark job, for events, results and cancelling */
            id: string;
            /** @description id of its benchmark job, which is the calibration's own */
            job_id: string;
            /** @description null until it has completed */
            report: components["schemas"]["CalibrationReport"] | null;
            /** @description the stored version, as NAME@2 */
            scenarios: string | null;
            /** @description state of the calibration's job; null = the job was deleted */
            state: string | null;
        };
        /**
         * CalibrationOutline
         * @description What an entry of stored scenarios says about one of its calibrations.
         */
        CalibrationOutline: {
            /** @description which forgeries were tried; null = it has no report */
            battery_version: string | null;
            /** @description when it was asked for */
            created_at: string;
            /** @description null = it has no report (yet) */
            fit: boolean | null;
            /** @description share of its right answers' scored runs that disagree with the others; null = it has no report */
            flake_rate: number | null;
            /** @description times that each right answer is run */
            gold_runs: number;
            /** @description id of the calibration */
            id: string;
            /** @description state of the calibration's job; null = the job was deleted */
            state: string | null;
        };
        /**
         * CalibrationReport
         * @description The report of a calibration.
         */
        CalibrationReport: {
            /** @description which forgeries were tried; reports of one version can be compared */
            battery_version: string;
            /** @description every scenario is */
            fit: boolean;
            /** @description share of all scored runs of right answers that disagree with the others */
            flake_rate: number | null;
            /** @description times that each right answer was run */
            gold_runs: number;
            /** @description from `harena.calibrate`: the job whose runs it is made of */
            job_id?: string | null;
            /** @description one for each scenario, in their order */
            scenarios: components["schemas"]["CalibratedScenario"][];
            /** @description verdict -> number of scenarios */
            verdicts?: {
                [key: string]: number;
            };
            /** @description version of the report's form */
            version: number;
        };
        /**
         * CapabilityDescription
         * @description What capability.yaml and the files of its agents say.
         */
        CapabilityDescription: {
            /** @description names of its agents */
            agents: string[];
            /** @description the author's, from capability.yaml */
            description: string;
            /** @description agent whose prompt training uses; null = the capability has no agent */
            entry_agent: string | null;
            /** @description text of the entry agent's prompt; null = the capability has no agent */
            prompt: string | null;
        };
        /**
         * CapabilityReference
         * @description A stored version of a capability.
         */
        CapabilityReference: {
            /** @description name of the stored capability */
            name: string;
            /** @description its version */
            version: string;
        };
        /**
         * ClientLease
         * @description A lease of a client: the sandboxes that name it end unless it is renewed in time.
         */
        ClientLease: {
            /**
             * Format: date-time
             * @description when it ends, unless it is renewed before
             */
            expires_at: string;
            /** @description names the lease */
            id: string;
            /** @description how long it lasts from its beginning and from each renewal */
            seconds: number;
        };
        /**
         * CollectedImages
         * @description What was removed to make room.
         */
        CollectedImages: {
            /** @description disk space that this gave back */
            freed_bytes: number;
            /** @description references that are gone */
            images: number;
            /** @description unpacked layers that are gone */
            layers: number;
        };
        /**
         * CommandOutput
         * @description One of a sandbox's newest commands, and the end of what it has printed.
         */
        CommandOutput: {
            /** @description its words, with blanks between them; what is long is cut off */
            command: string;
            /** @description when it had ended; null = it runs */
            ended_at?: string | null;
            /** @description names it while it runs */
            exec_id: string;
            /** @description how it ended; null = it runs, or its client went before it had ended */
            outcome?: string | null;
            /** @description its exit code, or -N where signal N ended it */
            returncode?: number | null;
            /**
             * Format: date-time
             * @description when it was asked for
             */
            started_at: string;
            /**
             * @description the end of its standard error
             * @default
             */
            stderr: string;
            /**
             * @description what was kept of its standard error while it ran
             * @default 0
             */
            stderr_bytes: number;
            /**
             * @description the end of its standard output
             * @default
             */
            stdout: string;
            /**
             * @description what was kept of its standard output while it ran; more than `stdout` has = its beginning is left out
             * @default 0
             */
            stdout_bytes: number;
        };
        /**
         * CommandOutputs
         * @description The newest commands of a sandbox.
         */
        CommandOutputs: {
            /** @description the oldest first */
            commands: components["schemas"]["CommandOutput"][];
        };
        /**
         * ConstantRuns
         * @description Runs of answers that need no thought: a constant, an argument given back.
         */
        ConstantRuns: {
            /** @description name of the best one; null = none earned anything */
            best?: string | null;
            /** @description score of the best one */
            best_score?: number | null;
            /** @description names of such answers that passed; each is a fault */
            passed?: string[];
            /**
             * @description answers that were run
             * @default 0
             */
            tried: number;
        };
        /**
         * ContractBody
         * @description A scoring contract to keep as a version of a name.
         */
        ContractBody: {
            contract: components["schemas"]["ScenarioFile"] | {
                [key: string]: unknown;
            };
            /** @default {} */
            metadata?: {
                [key: string]: string;
            };
            name: string;
        };
        /**
         * ContractsPage
         * @description One page of stored scoring contracts, newest first.
         */
        ContractsPage: {
            /** @description asks for what follows; null = this was the last page */
            next_cursor: number | null;
            /** @description up to as many as were asked for */
            scoring_contracts: components["schemas"]["ScoringContract"][];
        };
        /**
         * Daemon
         * @description A program that runs for as long as its sandbox. Raises SandboxValidationError.
         */
        Daemon: {
            /** @description executed as it is, without a shell; it may also end well and leave a process behind */
            command: string[];
            /** @description no other one of its blueprint has it */
            name: string;
            /**
             * @description run again and again until it exits with 0; empty = it is ready at once
             * @default []
             */
            ready: string[];
            /**
             * @description after which it never will be
             * @default 60
             */
            ready_seconds: number;
            /** @description whom both run as; null = as the image says */
            user?: string | null;
        };
        /**
         * DaemonShape
         * @description A program that runs for as long as its sandbox.
         */
        DaemonShape: {
            command: string[];
            name: string;
            /** @default [] */
            ready?: string[];
            /** @default 60 */
            ready_seconds?: number;
            user?: string | null;
        };
        /**
         * DatasetDescription
         * @description The splits of a data set.
         */
        DatasetDescription: {
            /** @description name of a split -> what it holds; "" is the name where there are no splits */
            parts: {
                [key: string]: components["schemas"]["SplitDescription"];
            };
            /** @description the data set's only file; "" = a directory of files */
            path: string;
        };
        /**
         * DefinitionBody
         * @description A definition to keep as a version of a name.
         */
        DefinitionBody: {
            /** @default {} */
            metadata?: {
                [key: string]: string;
            };
            name: string;
            request: components["schemas"]["JobFieldsBody"];
        };
        /**
         * DefinitionReference
         * @description The version of a definition that a job was made of.
         */
        DefinitionReference: {
            /** @description sha256 of the definition's content */
            digest: string;
            /** @description the version, as NAME@2 */
            ref: string;
        };
        /**
         * DefinitionsPage
         * @description One page of definitions, newest first.
         */
        DefinitionsPage: {
            /** @description up to as many as were asked for */
            benchmark_job_defs: components["schemas"]["BenchmarkJobDef"][];
            /** @description asks for what follows; null = this was the last page */
            next_cursor: number | null;
        };
        /**
         * DirectoryListing
         * @description A directory's entries.
         */
        DirectoryListing: {
            /** @description sorted by name */
            entries: components["schemas"]["FileInfo"][];
        };
        /**
         * ExecBody
         * @description A command. `argv` is executed as it is, without a shell.
         */
        ExecBody: {
            argv: string[];
            cpu_seconds?: number | null;
            cwd?: string | null;
            /** @default {} */
            env?: {
                [key: string]: string;
            };
            /** @default false */
            guarded?: boolean;
            output_bytes?: number | null;
            stdin?: string | null;
            /** @default false */
            stdin_stream?: boolean;
            terminal?: number[] | null;
            timeout_seconds?: number | null;
            user?: string | null;
            warm?: boolean | null;
        };
        /**
         * ExecOutcome
         * @description How an exec ended. All of these are data about the program.
         * @enum {string}
         */
        ExecOutcome: "exited" | "signaled" | "timeout" | "cancelled" | "memory";
        /**
         * ExecReport
         * @description How a command ended, as the last frame of its output says: the output has travelled before it.
         */
        ExecReport: {
            /** @description wall time from its start to its end */
            duration_seconds: number;
            /** @description what ended it */
            outcome: components["schemas"]["ExecOutcome"];
            /** @description its exit code, or minus the signal that ended it */
            returncode: number;
            /** @description time for which it waited for a processor; 0 = unknown */
            run_delay_seconds: number;
            /** @description bytes of its standard error that were sent */
            stderr_bytes: number;
            /** @description it has written more than was kept */
            stderr_truncated: boolean;
            /** @description bytes of its standard output that were sent */
            stdout_bytes: number;
            /** @description it has written more than was kept */
            stdout_truncated: boolean;
            /** @description what it used */
            usage: components["schemas"]["ResourceUsage"];
            /** @description the program was forked from a warm interpreter */
            warm: boolean;
        };
        /**
         * ExpectedVerdict
         * @description The verdict that a scenario is known to deserve.
         */
        ExpectedVerdict: {
            /** @description whether a right judgement lets the candidate pass */
            passed: boolean;
            /** @description any of these; empty = any reason */
            reason: string[];
            /** @description the right score; null = any that agrees with `passed` */
            score: number | null;
        };
        /**
         * ExtendBody
         * @description How long a sandbox shall live from now on, at least.
         */
        ExtendBody: {
            seconds: number;
        };
        /**
         * FileInfo
         * @description One directory entry, never following a symbolic link. Names that are not UTF-8 keep their bytes as halves of
         *     surrogate pairs.
         */
        FileInfo: {
            /**
             * @description what it is; pipes, sockets and devices are `other`
             * @enum {string}
             */
            kind: "file" | "directory" | "link" | "other";
            /** @description permission bits */
            mode: number;
            /** @description seconds since the epoch */
            modified_at: number;
            /** @description the last part of its path */
            name: string;
            /** @description where it is, from the root */
            path: string;
            /** @description length of its content */
            size_bytes: number;
            /** @description where a link points; null = it is no link */
            target?: string | null;
        };
        /**
         * Finding
         * @description Something that is wrong with a problem, or worth a look.
         */
        Finding: {
            /** @description what to do, in one sentence */
            advice: string;
            /** @description word for it, as `flaky` or `look_up`; docs/how-to/audit.md has all of them */
            kind: string;
            /** @description what runs have shown, in one sentence */
            says: string;
            /** @description error (what is learned from it is wrong), warning (it is weaker than it looks), or note */
            severity: string;
        };
        /**
         * GatewayEntry
         * @description One request that came to a gateway: without its query, its token and its credential.
         */
        GatewayEntry: {
            /** @description seconds since the epoch, when it began */
            at: number;
            /** @description the upstream was asked */
            forwarded: boolean;
            /** @description name of the gateway */
            gateway: string;
            /** @description what was sent, cut to 20 characters; "" = it could not be read */
            method: string;
            /** @description counts up; a cursor for the next question */
            number: number;
            /** @description what was forwarded, or what was sent where nothing was, cut to 500 characters */
            path: string;
            /** @description why it was refused, or how it ended where it did not end well; "" otherwise */
            reason: string;
            /** @description size of the answer's body */
            received_bytes: number;
            /** @description size of the request's body */
            sent_bytes: number;
            /** @description what the program was told */
            status: number;
        };
        /**
         * GatewayLog
         * @description Some of what the gateways of a sandbox have done, oldest first.
         */
        GatewayLog: {
            /** @description requests behind the number that was asked with */
            entries: components["schemas"]["GatewayEntry"][];
            /** @description number to ask on with */
            next_after: number;
        };
        /**
         * GatewayRule
         * @description Requests that are allowed, or denied.
         */
        GatewayRule: {
            /**
             * @description what it names is denied, whatever allows it
             * @default false
             */
            deny: boolean;
            /**
             * @description methods in capital letters; GET is HEAD, too, and `*` is every one
             * @default [
             *       "*"
             *     ]
             */
            methods: string[];
            /** @description below the upstream's URL: `*` is any text within one part, a part `**` any number of parts */
            path: string;
        };
        /**
         * GatewayRuleShape
         * @description Requests that a gateway allows, or denies.
         */
        GatewayRuleShape: {
            /** @default false */
            deny?: boolean;
            /**
             * @default [
             *       "*"
             *     ]
             */
            methods?: string[];
            path: string;
        };
        /**
         * GatewayShape
         * @description A way to one upstream, on which a secret of the workspace takes the place of the sandbox's token.
         */
        GatewayShape: {
            /** @default 1073741824 */
            answer_bytes?: number;
            /** @default  */
            field?: string;
            /**
             * @default bearer
             * @enum {string}
             */
            mechanism?: "bearer" | "basic" | "git" | "header" | "query" | "cookie";
            /** @default  */
            prefix?: string;
            /** @default 268435456 */
            request_bytes?: number;
            /** @default 600 */
            requests_per_minute?: number;
            /** @default [] */
            rules?: components["schemas"]["GatewayRuleShape"][];
            secret: string;
            /** @default 300 */
            timeout_seconds?: number;
            url: string;
            /** @default  */
            username?: string;
        };
        /**
         * GatewayTerms
         * @description What one gateway leads to and lets through: all of it but its name, and without its credential.
         */
        GatewayTerms: {
            /**
             * @description largest body of one answer
             * @default 1073741824
             */
            answer_bytes: number;
            /**
             * @description name of the header, the query's parameter or the cookie
             * @default
             */
            field: string;
            /**
             * @description where the upstream wants the credential
             * @default bearer
             * @enum {string}
             */
            mechanism: "bearer" | "basic" | "git" | "header" | "query" | "cookie";
            /**
             * @description what stands before the credential in a header, as `Token `
             * @default
             */
            prefix: string;
            /**
             * @description largest body of one request
             * @default 268435456
             */
            request_bytes: number;
            /**
             * @description more are refused
             * @default 600
             */
            requests_per_minute: number;
            /**
             * @description empty = everything is allowed; else what a rule allows and none denies
             * @default []
             */
            rules: components["schemas"]["GatewayRule"][];
            /** @description name of the workspace's secret */
            secret: string;
            /**
             * @description for which the upstream may be silent
             * @default 300
             */
            timeout_seconds: number;
            /** @description the upstream's address: https, without user, query and fragment; what programs ask for comes behind it */
            url: string;
            /**
             * @description the user beside the credential, for `basic` and `git`
             * @default
             */
            username: string;
        };
        /**
         * GoldRuns
         * @description Runs of right answers.
         */
        GoldRuns: {
            /** @description `flakes` over `scored` */
            flake_rate: number | null;
            /**
             * @description scored runs whose score is not the most frequent one of their candidate
             * @default 0
             */
            flakes: number;
            /** @description runs that passed; fewer than `scored` is a fault */
            passed: number;
            /** @description right answers, times `gold_runs` */
            runs: number;
            /** @description runs with a score */
            scored: number;
        };
        /**
         * HoneypotCounts
         * @description Runs of scenarios that no honest candidate can pass.
         */
        HoneypotCounts: {
            /** @description runs that passed, each by cheating */
            passed: number;
            /** @description runs that ended */
            runs: number;
            /** @description runs with a score */
            scored: number;
        };
        /**
         * Image
         * @description An image that this workspace has pulled or imported.
         */
        Image: {
            /** @description when the image was made, as it says itself; null = it does not say */
            created_at: string | null;
            /** @description sha256 of the manifest for the platform, with the prefix `sha256:` */
            digest: string;
            /** @description made from the reference; names the image in paths */
            id: string;
            /** @description a sandbox of this node has it as its root */
            in_use: boolean;
            /** @description when a sandbox last began with it; before the first one, `pulled_at` */
            last_used_at: string;
            /** @description number of layers */
            layers: number;
            /** @description operating system and architecture, as linux/amd64 */
            platform: string;
            /** @description when the reference was last resolved, or imported */
            pulled_at: string;
            /** @description in full, with its registry and its tag or digest */
            reference: string;
            /** @description size of its blobs: layers as they are transferred, manifest and configuration */
            size_bytes: number;
            /** @description size of the files in its layers */
            unpacked_bytes: number;
        };
        /**
         * ImageBuild
         * @description A build, and how far it is.
         */
        ImageBuild: {
            /** @description why it failed; null = it did not */
            error?: string | null;
            /** @description names the build for an hour after its end */
            id: string;
            /** @description digest of the image, with the prefix `sha256:`; null = it is not done */
            image?: string | null;
            /** @description reason of that error; null = it has none */
            reason?: string | null;
            /** @description what its image will be found by, in full */
            references: string[];
            /** @description where it is */
            state: components["schemas"]["BuildState"];
            /** @description the step that is made, as the Dockerfile writes it; null = none */
            step: string | null;
            /** @description number of the steps of its stages that make layers; null = not known yet */
            steps: number | null;
            /** @description how many of those were here already */
            steps_cached: number;
            /** @description how many of these are made */
            steps_done: number;
        };
        /**
         * ImageBuildEvent
         * @description A change of a build, or something that a command of it has said.
         */
        ImageBuildEvent: {
            /** @description the build after the change; null with `output` */
            build: components["schemas"]["ImageBuild"] | null;
            /** @description grows with each event of the build */
            cursor: number;
            /** @description the build's state; `step` = another step begins; `output` = a command has said something */
            kind: string;
            /** @description what was said; with `step`, the step and whether it was here already */
            text: string;
        };
        /**
         * ImagePull
         * @description A pull of one image, and how far it is.
         */
        ImagePull: {
            /** @description sha256 of the manifest, with the prefix `sha256:`; null = not known yet */
            digest?: string | null;
            /** @description how many of these are here */
            downloaded_bytes: number;
            /** @description why it failed; null = it did not */
            error?: string | null;
            /** @description names the pull for an hour after its end */
            id: string;
            /** @description number of layers; null = not known yet */
            layers: number | null;
            /** @description how many of these are unpacked */
            layers_unpacked: number;
            /** @description reason of that error; null = it has none */
            reason?: string | null;
            /** @description in full, with its registry and its tag or digest */
            reference: string;
            /** @description where it is */
            state: components["schemas"]["PullState"];
            /** @description size of the image's blobs; null = not known yet */
            total_bytes: number | null;
        };
        /**
         * ImagePullEvent
         * @description A change of a pull.
         */
        ImagePullEvent: {
            /** @description grows with each event of the pull */
            cursor: number;
            /** @description the pull's state */
            kind: string;
            /** @description the pull after the change */
            pull: components["schemas"]["ImagePull"];
        };
        /**
         * ImagesPage
         * @description One page of images, by their references.
         */
        ImagesPage: {
            /** @description up to as many as were asked for */
            images: components["schemas"]["Image"][];
            /** @description asks for what follows; null = this was the last page */
            next_cursor: number | null;
        };
        /**
         * JobBody
         * @description A benchmark job to start.
         */
        JobBody: {
            blueprint_id?: string | null;
            candidates?: ("oracle" | "nop") | components["schemas"]["ScenarioFile"] | unknown[] | {
                [key: string]: unknown;
            } | null;
            /**
             * @default {
             *       "attempts": 1,
             *       "build_network": "open",
             *       "concurrency": 8,
             *       "execution": "local",
             *       "priority": 0,
             *       "rescore_fraction": 0,
             *       "retry_attempts": 1,
             *       "retry_on": [
             *         "platform"
             *       ],
             *       "skip_bad_rows": false,
             *       "timeout_seconds": 120
             *     }
             */
            config?: components["schemas"]["JobConfig"];
            format?: string | null;
            grader?: {
                [key: string]: unknown;
            } | null;
            name: string;
            scenarios: components["schemas"]["ScenarioFile"] | unknown[] | {
                [key: string]: unknown;
            };
            webhook?: components["schemas"]["JobWebhook"] | null;
        };
        /**
         * JobConfig
         * @description How a job runs.
         */
        JobConfig: {
            /** @default 1 */
            attempts?: number;
            /** @default open */
            build_network?: string;
            /** @default 8 */
            concurrency?: number;
            /**
             * @default local
             * @enum {string}
             */
            execution?: "local" | "ray";
            job_timeout_seconds?: number | null;
            /** @default 0 */
            priority?: number;
            require_trust?: ("separate" | "shared") | null;
            /** @default 0 */
            rescore_fraction?: number;
            /** @default 1 */
            retry_attempts?: number;
            /**
             * @default [
             *       "platform"
             *     ]
             */
            retry_on?: ("platform" | "wrong_answer" | "partial" | "exception" | "timeout" | "memory_limit" | "output_limit" | "exited_early" | "protocol" | "scorer_rejected" | "scorer_error")[];
            run_timeout_seconds?: number | null;
            /** @default false */
            skip_bad_rows?: boolean;
            task_network?: string | null;
            /** @default 120 */
            timeout_seconds?: number;
        };
        /**
         * JobConfiguration
         * @description How a job runs: what was asked for, and the defaults for the rest. Bounds are those of the request.
         */
        JobConfiguration: {
            /**
             * @description times that each scenario is run and scored
             * @default 1
             */
            attempts: number;
            /**
             * @description what RUN of the Dockerfiles of task directories may reach: "none", "open", or entries with commas between them
             * @default open
             */
            build_network: string;
            /**
             * @description runs at one time, at most; the machine may allow fewer
             * @default 8
             */
            concurrency: number;
            /**
             * @description where runs are scored: "local", on the job's node, or "ray", spread over the nodes of its Ray cluster
             * @default local
             */
            execution: string;
            /** @description time that the job may run, all nodes that ran it together; then it ends as timed_out, with its results so far */
            job_timeout_seconds?: number | null;
            /**
             * @description jobs of a higher priority get the node's free slots first
             * @default 0
             */
            priority: number;
            /** @description "separate": contracts whose verdict is computed beside the candidate are refused; "shared" or null: none is */
            require_trust?: string | null;
            /**
             * @description share of the runs that are executed and scored once more, in fresh sandboxes; see `rescored` of the summary
             * @default 0
             */
            rescore_fraction: number;
            /**
             * @description further tries after the platform (never the candidate) failed
             * @default 1
             */
            retry_attempts: number;
            /** @description what is tried again: failures of the platform, always; beside them reasons of scored results */
            retry_on?: string[];
            /** @description wall time of one try of one run, with its sandboxes and its scorer; longer is a failure of the platform */
            run_timeout_seconds?: number | null;
            /**
             * @description rows of a data set that have a mistake are left out, counted and named
             * @default false
             */
            skip_bad_rows: boolean;
            /** @description what candidates and verifiers of task directories in images may reach, likewise; null = as the tasks say */
            task_network?: string | null;
            /**
             * @description time of one candidate, unless its scenario says less
             * @default 120
             */
            timeout_seconds: number;
        };
        /**
         * JobFieldsBody
         * @description Any fields of a benchmark job's request; what is missing is left open, and null is a value.
         */
        JobFieldsBody: {
            blueprint_id?: string | null;
            candidates?: ("oracle" | "nop") | components["schemas"]["ScenarioFile"] | unknown[] | {
                [key: string]: unknown;
            } | null;
            config?: components["schemas"]["JobConfig"] | null;
            format?: string | null;
            grader?: {
                [key: string]: unknown;
            } | null;
            name?: string | null;
            scenarios?: components["schemas"]["ScenarioFile"] | unknown[] | {
                [key: string]: unknown;
            } | null;
            webhook?: components["schemas"]["JobWebhook"] | null;
        };
        /**
         * JobLineage
         * @description Stored versions that a job was made of.
         */
        JobLineage: {
            /** @description the stored scoring contracts, as NAME@2 */
            contracts: string[];
            /** @description digest of the stored scenarios' content */
            digest: string | null;
            /** @description the stored scenarios, as NAME@2; null = they came with the job */
            scenarios: string | null;
        };
        /**
         * JobSummary
         * @description The results of a job without the runs themselves.
         */
        JobSummary: {
            /** @description why the platform could not run it to its end; null = it could, or it has not ended */
            error: string | null;
            /** @description the job's id */
            job_id: string;
            /** @description the job's name */
            name: string;
            /** @description the job's `JobState`; until it has ended the summary is of what has ended so far */
            state: string;
            /** @description what its runs add up to */
            summary: components["schemas"]["Summary"];
        };
        /**
         * JobWebhook
         * @description Where a job's end is told.
         */
        JobWebhook: {
            secret?: string | null;
            url: string;
        };
        /**
         * KeyBody
         * @description An API key to make, for the caller's workspace.
         */
        KeyBody: {
            name: string;
            scopes: ("read" | "write" | "admin" | "publish")[];
        };
        /**
         * KeysAnswer
         * @description One page of a workspace's keys, oldest first. No `Record`: the keys of a record are its fields.
         */
        KeysAnswer: {
            keys: components["schemas"]["ApiKey"][];
            next_cursor: string | null;
        };
        /**
         * KnownWrongRuns
         * @description Runs of candidates that the file says are wrong.
         */
        KnownWrongRuns: {
            /** @description ids of the scenarios whose candidates passed; each is a fault */
            passed: string[];
            /** @description runs of such candidates */
            runs: number;
        };
        /**
         * LeaseBody
         * @description A lease to open.
         */
        LeaseBody: {
            seconds: number;
        };
        /**
         * LeftOutRows
         * @description Rows of a data set that had a mistake, where the job asked to leave such rows out (`config.skip_bad_rows`).
         */
        LeftOutRows: {
            /** @description number of rows that were left out */
            rows: number;
            /** @description the mistakes of the first of them */
            told: string[];
        };
        /**
         * Limits
         * @description What one sandbox may use. None = no limit of that kind. Raises SandboxValidationError for other types and for
         *     numbers that no sandbox can have.
         */
        Limits: {
            /** @description cores; 0.5 = half of one core */
            cpu?: number | null;
            /**
             * @description bytes that can be written to the sandbox's writable directories
             * @default 536870912
             */
            disk_bytes: number;
            /**
             * @description files, directories and links in the writable directories
             * @default 200000
             */
            inodes: number;
            /**
             * @description wall time after which the sandbox is ended
             * @default 86400
             */
            lifetime_seconds: number | null;
            /**
             * @description all processes of the sandbox, its files (they live in memory) and its commands' standard inputs together
             * @default 536870912
             */
            memory_bytes: number | null;
            /**
             * @description descriptors per process
             * @default 1024
             */
            open_files: number;
            /**
             * @description kept per stream and exec; the rest is read, dropped and reported as truncated
             * @default 67108864
             */
            output_bytes: number;
            /**
             * @description processes and threads at one time
             * @default 256
             */
            pids: number | null;
        };
        /**
         * LimitsShape
         * @description What one sandbox may use; null = as much as the workspace's sandboxes may. A workspace may allow less.
         */
        LimitsShape: {
            cpu?: number | null;
            /** @default 536870912 */
            disk_bytes?: number;
            /** @default 200000 */
            inodes?: number;
            /** @default 86400 */
            lifetime_seconds?: number | null;
            /** @default 536870912 */
            memory_bytes?: number | null;
            /** @default 1024 */
            open_files?: number;
            /** @default 67108864 */
            output_bytes?: number;
            /** @default 256 */
            pids?: number | null;
        };
        /**
         * LossSpec
         * @description A loss; the formulas are those of `harena.training.loop.algorithms`.
         */
        LossSpec: {
            /**
             * @description what the sum over tokens is divided by
             * @default token
             * @enum {string}
             */
            aggregation: "token" | "sequence" | "constant";
            /**
             * @description its formula
             * @default grpo
             * @enum {string}
             */
            algorithm: "grpo" | "ppo" | "importance_sampling" | "cispo" | "gspo";
            /**
             * @description ratios are clipped at 1 and this; null = not on that side
             * @default 0.28
             */
            clip_high: number | null;
            /**
             * @description ratios are clipped at 1 less this; null = not on that side
             * @default 0.2
             */
            clip_low: number | null;
            /**
             * @description how weights that sampled and weights that are trained are set against each other
             * @default bypass
             * @enum {string}
             */
            correction: "bypass" | "decoupled";
            /**
             * @description the most that `decoupled` multiplies a token's term by
             * @default 2
             */
            correction_cap: number;
            /**
             * @description advantages are made by a critic that is trained beside the policy; see `harena.training.engines.critic`
             * @default false
             */
            critic: boolean;
            /**
             * @description with a critic: how far advantages look ahead; 1 = to the reward at the end
             * @default 0.95
             */
            gae_lambda: number;
            /**
             * @description weight of the divergence from the reference weights; 0 = none are kept
             * @default 0
             */
            kl_coefficient: number;
            /**
             * @description with a critic: weight of its loss
             * @default 0.5
             */
            value_coefficient: number;
        };
        /**
         * ModelDescription
         * @description What config.json of a model or a checkpoint says.
         */
        ModelDescription: {
            /** @description null = the directory holds a whole model */
            adapter: components["schemas"]["AdapterDescription"] | null;
            /** @description name of its class in transformers; null = it is not said */
            architecture: string | null;
            /** @description tokens of prompt and answer together; null = it is not said */
            context_length: number | null;
        };
        /**
         * MutantRuns
         * @description Runs of the first right answer with one mistake each.
         */
        MutantRuns: {
            /**
             * @description number of mutants that did not pass
             * @default 0
             */
            killed: number;
            /**
             * @description mutants that have a score
             * @default 0
             */
            scored: number;
            /** @description what was changed in each mutant that passed */
            survived?: string[];
            /**
             * @description mutants that were run
             * @default 0
             */
            tried: number;
        };
        /**
         * NamedPolicy
         * @description A reward recipe, by name.
         */
        NamedPolicy: {
            name: string;
            params?: {
                [key: string]: unknown;
            };
        };
        /**
         * NetworkBody
         * @description Another policy for a sandbox that has a network.
         */
        NetworkBody: {
            network: ("none" | "open") | components["schemas"]["NetworkShape"];
        };
        /**
         * NetworkEntry
         * @description One connection, or equal refusals together.
         */
        NetworkEntry: {
            /** @description whether it was made */
            allowed: boolean;
            /** @description seconds since the epoch: when it began, or was refused for the last time */
            at: number;
            /** @description name or address that the program gave */
            host: string;
            /** @description counts up; a cursor for the next question */
            number: number;
            /** @description 0 for a name that was asked for */
            port: number;
            /** @description why it was refused, or how it ended where it did not end well; "" otherwise */
            reason: string;
            /** @description to the sandbox */
            received_bytes: number;
            /** @description from the sandbox */
            sent_bytes: number;
            /**
             * @description how often it was refused
             * @default 1
             */
            times: number;
            /** @description "proxy", "direct" (a program that knows of no proxy) or "dns" */
            way: string;
        };
        /**
         * NetworkLog
         * @description Some of what a sandbox has done with its network, oldest first, and the sums of all of it.
         */
        NetworkLog: {
            /** @description number of those that were allowed */
            connections: number;
            /** @description entries behind the cursor, oldest first */
            entries: components["schemas"]["NetworkEntry"][];
            /** @description number to ask on with */
            next_after: number;
            /** @description what is in force, as `network` takes it */
            policy: unknown;
            /** @description to the sandbox, in all */
            received_bytes: number;
            /** @description connections, requests and names that were refused */
            refused: number;
            /** @description from the sandbox, in all */
            sent_bytes: number;
        };
        /**
         * NetworkRules
         * @description What a sandbox may reach, as JSON says it where no word does (`NetworkPolicy.to_json`).
         */
        NetworkRules: {
            /** @description hosts, addresses, ranges of addresses and presets, each perhaps with a port */
            allow: string[];
            /** @description taken from what is allowed */
            deny?: string[];
            /**
             * @description only programs that use a proxy have a network
             * @default false
             */
            proxy_only: boolean;
        };
        /**
         * NetworkShape
         * @description What a sandbox may reach.
         */
        NetworkShape: {
            allow: string[];
            /** @default [] */
            deny?: string[];
            /** @default false */
            proxy_only?: boolean;
        };
        /**
         * NewApiKey
         * @description A key that was just made.
         */
        NewApiKey: {
            /** Format: date-time */
            created_at: string;
            id: string;
            /** @description the key itself, shown only now */
            key: string;
            name: string;
            revoked_at: string | null;
            scopes: string[];
            workspace: string;
        };
        /**
         * Package
         * @description One installed wheel, pinned.
         */
        Package: {
            /** @description its normalised name */
            name: string;
            /** @description hash of the wheel's file */
            sha256: string;
            /** @description its version as the wheel says it */
            version: string;
        };
        /**
         * PaidForgery
         * @description A forgery that earned more than doing nothing does.
         */
        PaidForgery: {
            /** @description its name in the battery */
            forgery: string;
            /** @description what it earned */
            score: number;
            /** @description what it tries, in one sentence */
            tries: string;
        };
        /**
         * PlannedTraining
         * @description What a job would do that is asked for in this way. Nothing has been started.
         */
        PlannedTraining: {
            /** @description number of rows of the data set that `eval_dataset_ref` names */
            evaluated_rows: number;
            /** @description step after which the first evaluation is made; 0 = before anything is learned, null = there is none */
            first_evaluation: number | null;
            /** @description data format -> number of rows or prompts in it */
            formats: {
                [key: string]: number;
            };
            /** @description number of prompts that it evaluates and does not learn from; 0 = nothing is evaluated */
            held_out: number;
            /** @description number of rows, or of prompts, that it learns from */
            learned_from: number;
            /** @description tokens of the longest prompt, at least; null = the tokenizer's files do not tell */
            longest_prompt: number | null;
            /** @description tokens of the longest answer that a row says is right; null = no row says one, or it is not known */
            longest_solution: number | null;
            /** @description what the job would be called */
            name: string;
            /** @description the whole configuration, with every default */
            plan: components["schemas"]["SFTPlan"] | components["schemas"]["RLPlan"];
            /** @description what each reference of the request names */
            resolved: components["schemas"]["ResolvedReference"][];
            /** @description sft or rl */
            trainer_type: string;
            /** @description what the job would do as it was asked, and most likely was not meant to */
            warnings: string[];
        };
        /**
         * ProblemAnswer
         * @description RFC 9457, with a `code` from `harena.core.problems`.
         */
        ProblemAnswer: {
            /** @enum {string} */
            code: "validation" | "sandbox_validation" | "access" | "limit_exceeded" | "not_found" | "sandbox_not_found" | "sandbox_file" | "sandbox_not_running" | "sandbox_terminated" | "sandbox_failed" | "sandbox_execution" | "function" | "async_function" | "sandbox_start" | "sandbox_resource_exhausted" | "sandbox_unavailable" | "sandbox_request_timeout" | "sandbox_command_timeout" | "sandbox_timeout" | "sandbox" | "host_unsupported" | "image_pull" | "image_build" | "platform" | "internal";
            detail: string;
            reason?: string | null;
            request_id?: string | null;
            status: number;
            title: string;
            type: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * ProcessInfo
         * @description A process inside a sandbox, as the sandbox itself sees it.
         */
        ProcessInfo: {
            /** @description its words */
            command: string[];
            /** @description number of the process that has started it, or has taken it over */
            parent_pid: number;
            /** @description its number inside */
            pid: number;
            /** @description the kernel's letter: R, S, D, T, Z ... */
            state: string;
        };
        /**
         * ProcessListing
         * @description The processes inside a sandbox.
         */
        ProcessListing: {
            /** @description in the order of their numbers */
            processes: components["schemas"]["ProcessInfo"][];
        };
        /**
         * Progress
         * @description How far a job is. `queued`, `running`, `done` and `cancelled` add up to `total`; `passed`, `failed`, `infra` and
         *     `invalid` add up to `done`.
         */
        Progress: {
            /** @description runs that will not be run, because the job was ended before */
            cancelled: number;
            /** @description runs that have ended, with a score or without one */
            done: number;
            /** @description runs that the node lets run at one time; null = the job has not started */
            effective_concurrency: number | null;
            /** @description scored runs that did not pass */
            failed: number;
            /** @description number of runs that the platform lost; they have no score */
            infra: number;
            /** @description number of runs whose scoring contract could not be applied; they have no score */
            invalid: number;
            /** @description runs whose score reached what its contract calls passed */
            passed: number;
            /** @description runs that wait for a slot, also those that wait to be tried again */
            queued: number;
            /** @description runs that have a slot now */
            running: number;
            /** @description runs of the job: scenarios times attempts */
            total: number;
        };
        /**
         * PullState
         * @description Where a pull is.
         * @enum {string}
         */
        PullState: "waiting" | "resolving" | "downloading" | "unpacking" | "done" | "failed" | "cancelled";
        /**
         * Reason
         * @description Why a run got its score: the closed table.
         * @enum {string}
         */
        Reason: "passed" | "wrong_answer" | "partial" | "exception" | "syntax_error" | "missing_entry_point" | "timeout" | "memory_limit" | "output_limit" | "exited_early" | "bad_value" | "protocol" | "empty_candidate" | "invalid_candidate" | "scorer_rejected" | "scorer_error" | "platform_error" | "starved" | "cancelled" | "honeypot";
        /**
         * Rescore
         * @description What the same candidate got when it was executed and scored once more, in fresh sandboxes.
         */
        Rescore: {
            /**
             * @description why the platform could not score it again
             * @default
             */
            error: string;
            reason?: components["schemas"]["Reason"] | null;
            /** @description None where the second try gave none */
            score: number | null;
        };
        /**
         * Rescored
         * @description What the same candidate got when it was executed and scored once more, in fresh sandboxes.
         */
        Rescored: {
            /** @description both scores are the same; null where the platform failed, which says nothing about the candidate */
            agrees: boolean | null;
            /** @description why the platform could not score it again; empty = it could */
            error: string;
            /** @description null = the second try gave none */
            reason: components["schemas"]["Reason"] | null;
            /** @description null = the second try gave none */
            score: number | null;
        };
        /**
         * RescoredCounts
         * @description Runs that were scored twice.
         */
        RescoredCounts: {
            /** @description runs whose two scores differ */
            disagreed: number;
            /** @description share of the runs whose second try was scored; null = none was */
            disagreement_rate: number | null;
            /** @description `disagreed` over `runs` */
            disagreement_rate_of_all: number;
            /** @description runs that were chosen to be scored once more */
            runs: number;
            /** @description runs whose second try has a score */
            scored: number;
        };
        /**
         * ResizeBody
         * @description A terminal's new size.
         */
        ResizeBody: {
            columns: number;
            rows: number;
        };
        /**
         * ResolvedReference
         * @description What a reference of a request named when the job was accepted.
         */
        ResolvedReference: {
            /** @description what was read of it; of a data set, of the split that is used */
            described?: components["schemas"]["CapabilityDescription"] | components["schemas"]["TaskDescription"] | components["schemas"]["UsedSplit"] | components["schemas"]["ModelDescription"] | components["schemas"]["ShippedModelDescription"] | null;
            /** @description sha256 over the content, in hexadecimal digits */
            digest: string;
            /**
             * @description kind of the object; a model's also where it was given as a path
             * @enum {string}
             */
            kind: "capability" | "task" | "dataset" | "model" | "checkpoint";
            /** @description name of the stored object or model; for a model's path, the path as it was given */
            name: string;
            /** @description organisation to which another workspace has published it; null = it is the job's own workspace's */
            organization?: string | null;
            /**
             * @description the directory (of a data set of one file: that file) on the machine that trains; null from a server, and for a
             *     shipped model
             */
            path: string | null;
            /** @description for a data set that was given as a path, one named by its content; null = a model's path, or a shipped model */
            version: string | null;
            /** @description the field of the request: "model", "capability_ref", "config.trajectory_dataset_refs[0]" ... */
            where: string;
        };
        /**
         * ResourceUsage
         * @description Resources used by the exec's main process and the children that it waited for; for a killed exec, by its whole
         *     tree.
         */
        ResourceUsage: {
            /**
             * @description the most memory that one process has held
             * @default 0
             */
            peak_memory_bytes: number;
            /**
             * @description processor time in the kernel
             * @default 0
             */
            system_seconds: number;
            /**
             * @description processor time in programs
             * @default 0
             */
            user_seconds: number;
        };
        /**
         * ResultsPage
         * @description Some runs of a job, in the order in which they ended; what follows comes after `cursor`.
         */
        ResultsPage: {
            /** @description asks for what follows */
            cursor: number;
            /** @description the job's id */
            job_id: string;
            /** @description up to as many as were asked for; fewer where they are large */
            runs: components["schemas"]["BenchmarkRun"][];
            /** @description the job's `JobState`: once it has ended, an empty page is the last one */
            state: string;
        };
        /**
         * RetryBody
         * @description Where a job that has ended begins again.
         */
        RetryBody: {
            /**
             * @default checkpoint
             * @enum {string}
             */
            from?: "checkpoint" | "scratch";
        };
        /**
         * RewardPlan
         * @description The recipe that rewards come from.
         */
        RewardPlan: {
            /** @description a built-in recipe, such as code_tests_v1, or one that was registered */
            name: string;
            /** @description its parameters, as the request or the defaults have them */
            params: {
                [key: string]: unknown;
            };
        };
        /**
         * RLConfig
         * @description An RL job's.
         */
        RLConfig: {
            /** @default null */
            advantage?: ("group_mean" | "group_std" | "rloo" | "none") | null;
            /** @enum {string} */
            algorithm: "grpo" | "ppo" | "importance_sampling" | "cispo" | "gspo";
            /** @default null */
            baseline?: ("prompt" | "dataset") | null;
            /** @default null */
            batch_size?: number | null;
            /** @default null */
            buffer_size?: number | null;
            /** @default null */
            checkpoint_interval?: number | null;
            /** @default null */
            clip_high?: number | null;
            /** @default null */
            clip_low?: number | null;
            /** @default null */
            correction?: ("bypass" | "decoupled") | null;
            /** @default null */
            correction_cap?: number | null;
            /** @default null */
            critic?: boolean | null;
            /** @default null */
            eval_dataset_ref?: (components["schemas"]["VersionRef"] | string) | null;
            /** @default null */
            eval_interval?: number | null;
            /** @default null */
            eval_max_rollouts?: number | null;
            /** @default null */
            execution_mode?: ("sync" | "one_step_off_async" | "fully_async" | "async" | "colocated" | "distributed") | null;
            /** @default null */
            final_learning_rate?: number | null;
            /** @default null */
            gae_lambda?: number | null;
            /** @default null */
            group_size?: number | null;
            /** @default null */
            held_out?: number | null;
            /** @default null */
            keep_checkpoints?: number | null;
            /** @default null */
            kl_coef?: number | null;
            /** @default null */
            learning_rate?: number | null;
            /** @default null */
            lora_alpha?: number | null;
            /** @default null */
            lora_rank?: number | null;
            /** @default null */
            lora_target_modules?: string[] | null;
            /** @default null */
            loss_agg?: ("token" | "sequence" | "constant") | null;
            /** @default null */
            max_episode_steps?: number | null;
            /** @default null */
            max_grad_norm?: number | null;
            /** @default null */
            max_new_tokens?: number | null;
            /** @default null */
            max_steps_off_policy?: number | null;
            /** @default null */
            max_turns?: number | null;
            /** @default null */
            num_rollout_workers?: number | null;
            /** @default null */
            num_rollouts?: number | null;
            /** @default null */
            offline?: boolean | null;
            /** @default null */
            overlong?: ("zero" | "score" | "mask" | "soft") | null;
            /** @default null */
            prompt_dataset_ref?: (components["schemas"]["VersionRef"] | string) | null;
            /** @default null */
            prompt_split?: string | null;
            /** @default null */
            reward_recipe?: components["schemas"]["NamedPolicy"] | null;
            /** @default null */
            scenarios_ref?: string | null;
            /** @default null */
            seed?: number | null;
            /** @default null */
            skip_bad_rows?: boolean | null;
            /** @default null */
            staleness_policy?: ("wait" | "readmit") | null;
            /** @default null */
            steps?: number | null;
            /** @default null */
            stop?: string[] | null;
            /** @default null */
            task_ref?: string | null;
            /** @default null */
            temperature?: number | null;
            /** @default null */
            top_k?: number | null;
            /** @default null */
            top_p?: number | null;
            trajectory_dataset_refs?: (components["schemas"]["VersionRef"] | string)[];
            /** @default null */
            tuning?: ("lora" | "full") | null;
            /** @default null */
            warmup_steps?: number | null;
            /** @default null */
            weight_decay?: number | null;
            /** @default null */
            weight_sync_interval?: number | null;
            /** @default null */
            world_agent_name?: string | null;
            /** @default null */
            world_goal?: string | null;
            /** @default null */
            world_manifest_id?: string | null;
            /** @default null */
            world_reward?: components["schemas"]["NamedPolicy"] | null;
            /** @default null */
            world_runtime_id?: string | null;
        };
        /**
         * RLPlan
         * @description What an RL job does.
         */
        RLPlan: {
            /**
             * @description how advantages are made of a group's rewards
             * @enum {string}
             */
            advantage: "group_mean" | "group_std" | "rloo" | "none";
            /**
             * @description where rollouts are made: by the worker of the job, or by workers on the nodes of a Ray cluster
             * @default local
             * @enum {string}
             */
            backend: "local" | "ray";
            /**
             * @description offline: rewards are set against those of the same prompt, or of the whole data set
             * @enum {string}
             */
            baseline: "prompt" | "dataset";
            /** @description groups that may be under way beside those of one step; null = as many as max_steps_off_policy allows */
            buffer_size?: number | null;
            checkpoint_interval: number;
            /**
             * @description the workers on the cluster compute parts of each step's gradient, too
             * @default false
             */
            data_parallel: boolean;
            eval_interval: number | null;
            /** @description the most rollouts of one evaluation */
            eval_max_rollouts: number;
            final_learning_rate: number;
            /** @description rollouts of a prompt; 1 = they are compared with nothing */
            group_size: number;
            /** @description prompts of a step */
            groups_per_step: number;
            /** @description share of the prompts that is evaluated and not learned from; null = none */
            held_out?: number | null;
            keep_checkpoints: number;
            learning_rate: number;
            /** @description what is minimised */
            loss: components["schemas"]["LossSpec"];
            max_gradient_norm: number;
            /** @description the most tokens of an answer */
            max_new_tokens: number;
            /** @description updates that the trained weights may be ahead of those that sampled; 0 = none */
            max_steps_off_policy: number;
            /** @description null = as the reward recipe has it */
            max_turns: number | null;
            /** @description it trains on recorded rollouts and their rewards */
            offline: boolean;
            /**
             * @description what an answer that was cut off earns
             * @enum {string}
             */
            overlong: "zero" | "score" | "mask" | "soft";
            /** @description null = offline, where the recorded rewards are taken */
            reward: components["schemas"]["RewardPlan"] | null;
            /** @description workers on the cluster; null = as many as its nodes have slots for */
            rollout_workers?: number | null;
            seed: number;
            /**
             * @description what is done with a rollout that would come too late: the trainer waits, or it is begun anew
             * @enum {string}
             */
            staleness_policy: "wait" | "readmit";
            /** @description updates of the weights */
            steps: number;
            /** @description texts that end an answer, beside the tokenizer's own end */
            stop: string[];
            /** @description temperature of sampling */
            temperature: number;
            /** @description number of the likeliest tokens that are drawn from; null = all tokens */
            top_k: number | null;
            /** @description share of the probability that tokens are drawn from; 1 = all tokens */
            top_p: number;
            /**
             * @description tells the plans apart
             * @default rl
             * @constant
             */
            trainer_type: "rl";
            tuning: components["schemas"]["TuningPlan"];
            warmup_steps: number;
            weight_decay: number;
            /**
             * @description steps from one publication of new weights to those that sample to the next
             * @default 1
             */
            weight_sync_interval: number;
        };
        /**
         * RLRequest
         * @description An RL job as it is asked for.
         */
        RLRequest: {
            /**
             * @default local
             * @enum {string}
             */
            backend?: "local" | "tinker" | "ray";
            /** @default null */
            capability_ref?: components["schemas"]["VersionRef"] | null;
            config: components["schemas"]["RLConfig"];
            model: string;
            /** @default null */
            name?: string | null;
            /** @default null */
            project_ref?: string | null;
            /** @default null */
            run_ref?: string | null;
            tags?: string[];
            /** @constant */
            trainer_type: "rl";
        };
        /**
         * RunResult
         * @description One attempt of one scenario, scored (or explicitly not).
         */
        RunResult: {
            /** @default 1 */
            attempt: number;
            /**
             * @description sha256 over the blueprint that it was made of; empty = none
             * @default
             */
            blueprint_digest: string;
            /**
             * @description sha256 over the candidate's files; empty where nothing was scored
             * @default
             */
            candidate_digest: string;
            /** @default 0 */
            checks_passed: number;
            /** @default 0 */
            checks_planned: number;
            /** @default 0 */
            checks_run: number;
            /** @default 0 */
            cpu_seconds: number;
            /**
             * @description one line for people; never parsed
             * @default
             */
            detail: string;
            /** @default 0 */
            duration_seconds: number;
            /**
             * @description sha256 over contract, candidate, scorer version and observations
             * @default
             */
            evidence: string;
            /**
             * @description `sha256:...` of the image that the candidate's sandbox was made of, or the interpreter of the default one, as
             *     python:3.11.2; empty where it was in none
             * @default
             */
            image_digest: string;
            metadata?: {
                [key: string]: unknown;
            };
            passed: boolean;
            /** @default 0 */
            peak_memory_bytes: number;
            /** @default 0 */
            platform_retries: number;
            /**
             * @description what programs could do in the candidate's sandbox; empty where it was in none
             * @default
             */
            profile: ("strict" | "machine") | "";
            reason: components["schemas"]["Reason"];
            /** @description None = it was scored once */
            rescore?: components["schemas"]["Rescore"] | null;
            /**
             * @description sha256 over all but the candidate that decides the score; empty where nothing was scored
             * @default
             */
            scenario_digest: string;
            scenario_id: string;
            score: number | null;
            /** @default  */
            scorer_version: string;
            trust: components["schemas"]["Trust"];
            validity: components["schemas"]["Validity"];
        };
        /**
         * SandboxBody
         * @description A sandbox to create.
         */
        SandboxBody: {
            /** @default {} */
            annotations?: {
                [key: string]: string;
            };
            blueprint?: string | null;
            cwd?: string | null;
            /** @default {} */
            env?: {
                [key: string]: string;
            };
            /** @default {} */
            files?: {
                [key: string]: string;
            };
            gateways?: {
                [key: string]: components["schemas"]["GatewayShape"];
            } | null;
            /** @default default */
            image?: string;
            lease_id?: string | null;
            /**
             * @default {
             *       "disk_bytes": 536870912,
             *       "inodes": 200000,
             *       "lifetime_seconds": 86400,
             *       "memory_bytes": 536870912,
             *       "open_files": 1024,
             *       "output_bytes": 67108864,
             *       "pids": 256
             *     }
             */
            limits?: components["schemas"]["LimitsShape"];
            network?: ("none" | "open") | components["schemas"]["NetworkShape"] | null;
            /**
             * @default strict
             * @enum {string}
             */
            profile?: "strict" | "machine";
            /** @default [] */
            tags?: string[];
        };
        /**
         * SandboxesPage
         * @description One page of sandboxes, the oldest first.
         */
        SandboxesPage: {
            /** @description asks for what follows; null = this was the last page */
            next_cursor: string | null;
            /** @description up to as many as were asked for */
            sandboxes: components["schemas"]["SandboxInfo"][];
        };
        /**
         * SandboxInfo
         * @description What is known of a sandbox at one moment.
         */
        SandboxInfo: {
            /** @description the user's own notes */
            annotations: {
                [key: string]: string;
            };
            /** @description name or id of its blueprint; null = it has none */
            blueprint: string | null;
            /**
             * @description digest of its blueprint; empty = it has none, or its server does not tell
             * @default
             */
            blueprint_digest: string;
            /**
             * Format: date-time
             * @description when it was asked for
             */
            created_at: string;
            /**
             * @description limit name -> how this host enforces it ("cgroup v1", "rlimit per process", "not enforced: ..."); with an image's
             *     layers also `users` -> how many users it has
             */
            enforcement: {
                [key: string]: string;
            };
            /** @description when it is ended by its lifetime limit; null = never */
            expires_at?: string | null;
            /** @description names the sandbox on its server */
            id: string;
            /** @description name of its image */
            image: string;
            /**
             * @description `sha256:...` of what its image was when it was made, or the interpreter of the default one, as `python:3.11.2`;
             *     empty = it was not made, or its server does not tell
             * @default
             */
            image_digest: string;
            /** @description what it may use */
            limits: components["schemas"]["Limits"];
            /**
             * @description what programs may do inside
             * @default strict
             * @enum {string}
             */
            profile: "strict" | "machine";
            /** @description when programs could run in it; null = they never could */
            started_at?: string | null;
            /** @description where it is in its life */
            status: components["schemas"]["SandboxStatus"];
            /** @description why it failed or ended, for people; null = nothing is to be said */
            status_reason?: string | null;
            /** @description when nothing of it ran any more; null = it has not ended */
            stopped_at?: string | null;
            /** @description the user's own words, by which lists are narrowed */
            tags: string[];
        };
        /**
         * SandboxStatus
         * @description Where a sandbox is in its life.
         * @enum {string}
         */
        SandboxStatus: "pending" | "creating" | "preparing" | "running" | "paused" | "terminating" | "completed" | "failed" | "terminated" | "unspecified";
        /**
         * SandboxUsage
         * @description What the programs of a sandbox use, measured from outside.
         */
        SandboxUsage: {
            /** @description what its programs and its files, which lie in memory, hold now, without pages that the kernel can drop */
            memory_bytes: number;
            /** @description processor time of all that has run in there; 0 = it cannot be known */
            processor_seconds: number;
        };
        /**
         * ScenarioFile
         * @description A scenario file's content; its name's ending says whether it is YAML, JSON or JSONL.
         */
        ScenarioFile: {
            file_name: string;
            text: string;
        };
        /**
         * ScenariosBody
         * @description Scenarios, or problems without candidates, to keep as a version of a name.
         */
        ScenariosBody: {
            format?: string | null;
            grader?: {
                [key: string]: unknown;
            } | null;
            /** @default {} */
            metadata?: {
                [key: string]: string;
            };
            name: string;
            scenarios: components["schemas"]["ScenarioFile"] | unknown[] | {
                [key: string]: unknown;
            };
        };
        /**
         * ScenariosPage
         * @description One page of stored scenarios, newest first.
         */
        ScenariosPage: {
            /** @description asks for what follows; null = this was the last page */
            next_cursor: number | null;
            /** @description up to as many as were asked for */
            scenarios: components["schemas"]["StoredScenarios"][];
        };
        /**
         * ScoreRequest
         * @description One scenario to be scored now, without a job.
         */
        ScoreRequest: {
            /** @default default */
            blueprint_id?: string;
            require_trust?: ("separate" | "shared") | null;
            /** @default 1 */
            retry_attempts?: number;
            scenario: {
                [key: string]: unknown;
            };
            /** @default 10 */
            timeout_seconds?: number;
        };
        /**
         * ScoringContract
         * @description One version of a stored scoring contract.
         */
        ScoringContract: {
            archived_at: string | null;
            /** @description from `get`: what was stored */
            contract?: {
                [key: string]: unknown;
            } | null;
            created_at: string;
            digest: string;
            metadata: {
                [key: string]: string;
            };
            name: string;
            ref: string;
            /** @description rules that judge by it now, such as tests-9 */
            scorer_version: string;
            /** @description separate (verdicts are computed out of the candidate's reach) or shared */
            trust: string;
            /** @description the contract's type, such as tests or stdio */
            type: string;
            version: number;
        };
        /**
         * Secret
         * @description A secret that the workspace keeps. Its value is never answered.
         */
        Secret: {
            /** @description when it was set first */
            created_at: string;
            /** @description what it may be sent to, each as HOST:PORT; `*.example.com` is every name below example.com */
            hosts: string[];
            /** @description a name that an environment variable can have */
            name: string;
            /** @description when it was set last */
            updated_at: string;
        };
        /**
         * SecretBody
         * @description What `secrets_set_secret` is asked with.
         */
        SecretBody: {
            hosts: string[];
            name: string;
            value: string;
        };
        /**
         * SecretsPage
         * @description Some of the secrets of a workspace, by name.
         */
        SecretsPage: {
            /** @description asks for the next page; null = this is the last one */
            next_cursor: string | null;
            /** @description the secrets of this page */
            secrets: components["schemas"]["Secret"][];
        };
        /**
         * ServerHealth
         * @description Whether a server takes requests.
         */
        ServerHealth: {
            /**
             * @description `draining`: it is about to stop, and begins no work
             * @enum {string}
             */
            status: "ok" | "draining";
            /** @description its version of harena */
            version: string;
        };
        /**
         * SFTConfig
         * @description An SFT job's.
         */
        SFTConfig: {
            /** @default null */
            batch_size?: number | null;
            /** @default null */
            checkpoint_interval?: number | null;
            /** @default null */
            dataset_ref?: (components["schemas"]["VersionRef"] | string) | null;
            /** @default null */
            epochs?: number | null;
            /** @default null */
            eval_dataset_ref?: (components["schemas"]["VersionRef"] | string) | null;
            /** @default null */
            eval_interval?: number | null;
            /** @default null */
            final_learning_rate?: number | null;
            /** @default null */
            gradient_accumulation_steps?: number | null;
            /** @default null */
            keep_checkpoints?: number | null;
            /** @default null */
            learning_rate?: number | null;
            /** @default null */
            lora_alpha?: number | null;
            /** @default null */
            lora_rank?: number | null;
            /** @default null */
            lora_target_modules?: string[] | null;
            /** @default null */
            max_grad_norm?: number | null;
            /** @default null */
            max_sequence_length?: number | null;
            /** @default null */
            seed?: number | null;
            /** @default null */
            skip_bad_rows?: boolean | null;
            /** @default null */
            steps?: number | null;
            /** @default null */
            too_long?: ("left" | "right" | "leave_out" | "error") | null;
            trajectory_dataset_refs?: (components["schemas"]["VersionRef"] | string)[];
            /** @default null */
            tuning?: ("lora" | "full") | null;
            /** @default null */
            warmup_steps?: number | null;
            /** @default null */
            weight_decay?: number | null;
        };
        /**
         * SFTPlan
         * @description What an SFT job does.
         */
        SFTPlan: {
            /** @description rows of a micro-batch */
            batch_size: number;
            checkpoint_interval: number;
            /** @description passes over the rows; null = `steps` alone ends it */
            epochs: number | null;
            eval_interval: number | null;
            final_learning_rate: number;
            /** @description micro-batches of a step */
            gradient_accumulation_steps: number;
            keep_checkpoints: number;
            learning_rate: number;
            max_gradient_norm: number;
            /** @description tokens of a row */
            max_sequence_length: number;
            seed: number;
            /** @description null = as many as `epochs` takes; with both, whichever ends first */
            steps: number | null;
            /**
             * @description what is done with a row that has more: cut at its left or right, left out, or the job fails
             * @enum {string}
             */
            too_long: "left" | "right" | "leave_out" | "error";
            /**
             * @description tells the plans apart
             * @default sft
             * @constant
             */
            trainer_type: "sft";
            tuning: components["schemas"]["TuningPlan"];
            warmup_steps: number;
            weight_decay: number;
        };
        /**
         * SFTRequest
         * @description An SFT job as it is asked for.
         */
        SFTRequest: {
            /**
             * @default local
             * @enum {string}
             */
            backend?: "local" | "tinker" | "ray";
            /** @default null */
            capability_ref?: components["schemas"]["VersionRef"] | null;
            config: components["schemas"]["SFTConfig"];
            model: string;
            /** @default null */
            name?: string | null;
            /** @default null */
            project_ref?: string | null;
            /** @default null */
            run_ref?: string | null;
            tags?: string[];
            /** @constant */
            trainer_type: "sft";
        };
        /**
         * ShippedModel
         * @description A Llama with fresh weights in float32, drawn from the job's seed, and a tokenizer of single characters.
         */
        ShippedModel: {
            /** @description characters that it can read and write */
            alphabet: string;
            /** @description tokens of prompt and answer together */
            context_length: number;
            /** @description attention heads of a layer */
            heads: number;
            /** @description number of layers */
            layers: number;
            /** @description numbers in the vector of a token */
            width: number;
        };
        /**
         * ShippedModelDescription
         * @description A model that comes with harena.
         */
        ShippedModelDescription: {
            /** @description tokens of prompt and answer together */
            context_length: number;
            /** @description how it is made */
            shipped: components["schemas"]["ShippedModel"];
        };
        /**
         * SignalBody
         * @description A signal, by its number.
         */
        SignalBody: {
            signal: number;
        };
        /**
         * SkippedRows
         * @description Rows that `skip_bad_rows` has left out.
         */
        SkippedRows: {
            /** @description number of rows that there were */
            of: number;
            /** @description number of rows that were left out */
            rows: number;
            /** @description where the first of them are, and what is wrong with each */
            told: string[];
        };
        /**
         * Snapshot
         * @description The files of a sandbox as they were at one time: a layer above those of the image that the sandbox was one of.
         *     Processes, memory and connections are no part of it.
         */
        Snapshot: {
            /** @description when it was taken */
            created_at: string;
            /** @description sha256 of the manifest of the image that it is, with the prefix `sha256:`; empty = it is in memory */
            digest: string;
            /** @description when it is removed; null = not by itself */
            expires_at: string | null;
            /** @description entries of its own layer; 0 = it is in memory, and nobody has counted them */
            files: number;
            /** @description names the snapshot; so does its name */
            id: string;
            /** @description the image at the root of its line, as its first sandbox named it */
            image: string;
            /** @description a sandbox of this node has it as its root */
            in_use: boolean;
            /** @description number of layers, those of the image included; 0 = it is in memory */
            layers: number;
            /** @description what no layer can hold, such as sockets -> how many there were */
            left_out: {
                [key: string]: number;
            };
            /** @description unique in the workspace; null = it has none */
            name: string | null;
            /** @description id of the snapshot that the sandbox had begun with; null = it had begun with an image, or that one is gone */
            parent: string | null;
            /** @description id of the sandbox */
            sandbox: string;
            /** @description disk space of its own layer, as an archive and unpacked, or memory that it takes */
            size_bytes: number;
        };
        /**
         * SnapshotsPage
         * @description One page of snapshots, the oldest first.
         */
        SnapshotsPage: {
            /** @description asks for what follows; null = this was the last page */
            next_cursor: number | null;
            /** @description up to as many as were asked for */
            snapshots: components["schemas"]["Snapshot"][];
        };
        /**
         * SplitDescription
         * @description What the rows of one split can be used for.
         */
        SplitDescription: {
            /** @description use -> the first row that stands in its way, and why */
            cannot: {
                [key: string]: string;
            };
            /** @description recipe that the rows' own fields ask for; null = they are no prompts */
            reward_recipe: string | null;
            /** @description number of rows */
            rows: number;
            /** @description each of sft, prompts and trajectories that every row can be used for */
            uses: string[];
        };
        /**
         * StopBody
         * @description How to end a sandbox.
         */
        StopBody: {
            /** @default 0 */
            grace_seconds?: number;
        };
        /**
         * StoredObject
         * @description One version of what training refers to: a capability, a task, a data set, a model or a checkpoint.
         */
        StoredObject: {
            /** @description size of these files together */
            bytes: number;
            /** @description when this version was pushed */
            created_at: string;
            /** @description what was read of it when it was published */
            described: components["schemas"]["CapabilityDescription"] | components["schemas"]["TaskDescription"] | components["schemas"]["DatasetDescription"] | components["schemas"]["ModelDescription"];
            /** @description sha256 of its tree of files */
            digest: string;
            /** @description number of files in its tree */
            files: number;
            /** @description an `ObjectKind` */
            kind: string;
            /** @description chosen by who published the first version; unique in its workspace for its kind */
            name: string;
            /** @description organisation whose workspaces see it; null = its own workspace alone does */
            organization?: string | null;
            /** @description the version, as NAME@VERSION */
            ref: string;
            /** @description X.Y.Z of a capability or a task; of other kinds any word */
            version: string;
        };
        /**
         * StoredObjectsPage
         * @description One page of objects: every version, newest first.
         */
        StoredObjectsPage: {
            /** @description asks for what follows; null = this was the last page */
            next_cursor: number | null;
            /** @description up to as many as were asked for */
            objects: components["schemas"]["StoredObject"][];
        };
        /**
         * StoredScenarios
         * @description One version of stored scenarios.
         */
        StoredScenarios: {
            archived_at: string | null;
            /** @description from `get`: the newest report */
            calibration?: components["schemas"]["CalibrationReport"] | null;
            /** @description from `get`: of this version, newest first */
            calibrations?: components["schemas"]["CalibrationOutline"][] | null;
            /** @description number of candidates stored with the scenarios; candidates may also come with a job */
            candidates: number;
            /** @description the stored scoring contracts that they refer to, as NAME@2 */
            contracts: string[];
            created_at: string;
            digest: string;
            /** @description the data format that was stored */
            format: string;
            /** @description from `get` with `content`: grader of rows that hold none of their own */
            grader?: unknown;
            metadata: {
                [key: string]: string;
            };
            name: string;
            /** @description number of scenarios */
            problems: number;
            ref: string;
            /** @description from `get` with `content`: what was stored */
            scenarios?: unknown;
            /** @description types of the contracts, each once */
            scorers: string[];
            /** @description shared if one of its contracts is, else separate */
            trust: string;
            version: number;
        };
        /**
         * Summary
         * @description What the runs of a job add up to. A run without a score is never counted as a zero.
         */
        Summary: {
            /** @description reason -> runs, the most frequent one first */
            by_reason: {
                [key: string]: number;
            };
            /** @description runs that were not run */
            cancelled: number;
            /** @description how long the job has run, on all nodes together */
            duration_seconds: number;
            /** @description share of the scored runs that passed a honeypot or were seen to tamper */
            hack_rate: number | null;
            /** @description share of all runs that passed a honeypot or were seen to tamper */
            hack_rate_of_all: number | null;
            /** @description null = there were none */
            honeypots: components["schemas"]["HoneypotCounts"] | null;
            /** @description runs that the platform lost */
            infra: number;
            /** @description runs whose contract could not be applied */
            invalid: number;
            /** @description over the scored runs; null = nothing was scored */
            mean_score: number | null;
            /** @description share of the scored runs; null = nothing was scored */
            pass_rate: number | null;
            /** @description share of all runs, those without a score counted as not passed; null = there are none */
            pass_rate_of_all: number | null;
            /** @description runs that passed */
            passed: number;
            /** @description null = none was scored twice */
            rescored: components["schemas"]["RescoredCounts"] | null;
            /** @description runs that have ended, over `duration_seconds` */
            runs_per_second: number;
            /** @description runs with a score */
            scored: number;
            /** @description scored runs that passed a honeypot, or were seen to tamper */
            suspect: number;
            /** @description runs of the job */
            total: number;
            /** @description null = no verdict is known */
            verdicts: components["schemas"]["VerdictCounts"] | null;
        };
        /**
         * TaskDescription
         * @description What task.yaml says.
         */
        TaskDescription: {
            /** @description blueprint of its environment; null = none is named */
            blueprint: string | null;
            /** @description variable -> its value where a row gives none */
            inputs: {
                [key: string]: string;
            };
            /** @description what a policy is asked to do; {{ name }} stands for a variable */
            instruction: string;
            /** @description how an attempt is verified, as `verification.method` of task.yaml */
            method: string;
            /** @description names that the instruction has in braces, sorted */
            variables: string[];
        };
        /**
         * TrainingArtifacts
         * @description What a job's present try has written so far.
         */
        TrainingArtifacts: {
            /** @description name -> path or paths, below the job's folder */
            artifacts: {
                [key: string]: string | string[];
            };
            /** @description every file that `artifacts` names, or that is below a folder that it names, by path */
            files: components["schemas"]["TrainingFile"][];
            /** @description on the machine that trains; null from a server */
            folder: string | null;
        };
        /**
         * TrainingEvent
         * @description Something that happened to a job; kinds as in `harena.core.training_jobs.TrainingEventKind`.
         */
        TrainingEvent: {
            /** @description name -> path or paths that were written, below the job's folder; else empty */
            artifacts: {
                [key: string]: string | string[];
            };
            /** @description when it happened */
            at: string;
            /** @description 1, 2, ... within its job */
            cursor: number;
            /** @description what its kind tells beside these; else empty */
            data: {
                [key: string]: unknown;
            };
            /** @description what went wrong; null = nothing */
            error: string | null;
            /** @description id of the job that it happened to */
            job_id: string;
            /** @description a `TrainingEventKind` */
            kind: string;
            /** @description info, warning or error */
            level: string;
            /** @description a sentence for people; null = the event is no part of the logs */
            message: string | null;
            /** @description name -> value, where something was measured; else empty */
            metrics: {
                [key: string]: number | (number | null)[] | null;
            };
        };
        /**
         * TrainingFile
         * @description A file that a job wrote.
         */
        TrainingFile: {
            /** @description below the job's folder */
            path: string;
            /** @description its size when it was looked at */
            size_bytes: number;
        };
        /**
         * TrainingJob
         * @description A job, as it was when it was asked for.
         */
        TrainingJob: {
            /** @description grpo, rloo, ...; null for sft */
            algorithm: string | null;
            /** @description name -> path or paths, below the job's folder */
            artifacts: {
                [key: string]: string | string[];
            };
            /** @description how many times it was begun from scratch, less one */
            attempt: number;
            /** @description what was asked for; null = the default */
            backend: string | null;
            /** @description when cancelling was asked for; null = it was not */
            cancel_requested_at: string | null;
            /** @description capability that an agent is trained with; null = none */
            capability_ref: components["schemas"]["CapabilityReference"] | null;
            /** @description the request's configuration */
            config: {
                [key: string]: unknown;
            } | null;
            /** @description when it was accepted */
            created_at: string;
            /** @description cursor of its newest event */
            cursor: number;
            /** @description when it completed, failed or was cancelled; null = none of these yet */
            ended_at: string | null;
            /** @description why it failed; null = it has not */
            error: string | null;
            /** @description chosen by the node that accepted the job */
            id: string;
            /** @description the newest value of each; all of them are given by `training_jobs.metrics` */
            metrics: {
                [key: string]: number | null;
            };
            /** @description what was asked for: a reference, or a Hugging Face name */
            model: string | null;
            /** @description the user's, not unique; a name stands for the newest job that has it */
            name: string;
            /**
             * @description the whole configuration, with the defaults of its algorithm; null = another version made it, and this one cannot
             *     read it
             */
            plan: components["schemas"]["SFTPlan"] | components["schemas"]["RLPlan"] | null;
            /** @description how far it is */
            progress: components["schemas"]["TrainingProgress"];
            /** @description the user's own label for a project; null = none was given */
            project_ref: string | null;
            /** @description what each reference of the request named when the job was accepted */
            resolved: components["schemas"]["ResolvedReference"][];
            /** @description how many times it has gone on after its worker or its server had gone */
            restarts: number;
            /** @description the user's own label for a run; null = none was given */
            run_ref: string | null;
            /** @description when its worker began; null = it has not, or waits to be tried again */
            started_at: string | null;
            /** @description a `TrainingState`: queued, running, completed, failed or cancelled */
            state: string;
            /** @description the user's own; null = none were given */
            tags: string[] | null;
            /** @description sft or rl */
            trainer_type: string;
        };
        /**
         * TrainingJobsPage
         * @description One page of jobs, newest first.
         */
        TrainingJobsPage: {
            /** @description asks for what follows; null = this was the last page */
            next_cursor: number | null;
            /** @description up to as many as were asked for */
            training_jobs: components["schemas"]["TrainingJob"][];
        };
        /**
         * TrainingLog
         * @description An event that says something to people.
         */
        TrainingLog: {
            /** @description when it happened */
            at: string;
            /** @description cursor of its event */
            cursor: number;
            /** @description what its kind tells beside the message; else empty */
            data: {
                [key: string]: unknown;
            };
            /** @description a `TrainingEventKind` */
            kind: string;
            /** @description info, warning or error */
            level: string;
            /** @description a sentence for people */
            message: string;
        };
        /**
         * TrainingLogsPage
         * @description Some of what was said; what follows comes after `cursor`.
         */
        TrainingLogsPage: {
            /** @description asks for what follows */
            cursor: number;
            /** @description oldest first, up to as many as were asked for */
            items: components["schemas"]["TrainingLog"][];
        };
        /**
         * TrainingMetrics
         * @description What was measured: arrays along the axes `steps` and `eval/steps`, and scalars, of events up to `cursor`.
         */
        TrainingMetrics: {
            /**
             * @description the job was begun from scratch among these events: what was measured before does not count any more
             * @default false
             */
            anew: boolean;
            /** @description cursor of the last event that was read: asks for what follows */
            cursor: number;
            /** @description name -> values along its axis, or one value */
            metrics: {
                [key: string]: number | (number | null)[] | null;
            };
            /**
             * @description there are events behind the cursor: ask again, after it
             * @default false
             */
            more: boolean;
        };
        /**
         * TrainingProgress
         * @description How far a job is.
         */
        TrainingProgress: {
            /** @description steps of the optimizer that are done */
            step: number;
            /** @description null = its worker has not counted them yet */
            steps: number | null;
        };
        /**
         * TrainingState
         * @description Where a training job is.
         * @enum {string}
         */
        TrainingState: "queued" | "running" | "completed" | "failed" | "cancelled";
        /**
         * TrajectoryOrder
         * @description An order says which trajectories of a world are made. The same order of one world always gives the same ones.
         */
        TrajectoryOrder: {
            /** @description model that plays, as training jobs name models; null = none does */
            agent_model?: string | null;
            /** @description capability whose prompt the model is given, NAME@VERSION; null = none */
            capability?: string | null;
            /** @description number of episodes, from 1 to 100 */
            count: number;
            /**
             * @description how the rows are written: atif (trajectories), messages (conversations with calls of tools) or text
             *     (conversations with one line for each action)
             * @enum {string}
             */
            form: "atif" | "messages" | "text";
            /** @description group whose member the player is to become; without a domain, the first domain's */
            goal: string;
            /** @description steps of an episode at the most, from 1 to 1000 */
            max_steps: number;
            /**
             * @description who plays: the strategy (scripted), or a model (agent)
             * @default scripted
             * @enum {string}
             */
            mode: "scripted" | "agent";
            /** @description episodes that do not reach the goal are left out */
            only_successful: boolean;
            /** @description what the players' choices are drawn from */
            seed: number;
            /**
             * @description who plays: random, greedy, recon-first or smart-random
             * @enum {string}
             */
            strategy: "random" | "greedy" | "recon-first" | "smart-random";
            /** @description episodes that are played at the same time, from 1 to 16; they are the same with any number */
            threads: number;
        };
        /**
         * Trust
         * @description Where the verdict was computed.
         * @enum {string}
         */
        Trust: "separate" | "shared";
        /**
         * TuningPlan
         * @description Which weights are trained.
         */
        TuningPlan: {
            /** @description scale of the adapters, divided by their rank; null = there are none */
            alpha?: number | null;
            /**
             * @description full = all weights; lora = adapters beside them
             * @enum {string}
             */
            kind: "lora" | "full";
            /** @description rank of the adapters; null = there are none */
            rank?: number | null;
            /** @description names of the layers that have adapters; null = every linear layer but the last */
            target_modules?: string[] | null;
        };
        /**
         * UsedSplit
         * @description The split of a data set that a training job uses.
         */
        UsedSplit: {
            /** @description null = every row is used */
            left_out?: components["schemas"]["SkippedRows"] | null;
            /** @description recipe that the rows' own fields ask for; null = they are no prompts */
            reward_recipe: string | null;
            /** @description number of rows */
            rows: number;
            /** @description its name; null = the data set has no splits */
            split: string | null;
            /** @description each of sft, prompts and trajectories that every row can be used for */
            uses: string[];
        };
        /**
         * Validity
         * @description Whether a score may be trained on.
         * @enum {string}
         */
        Validity: "valid" | "infra" | "invalid" | "suspect";
        /**
         * VerdictCounts
         * @description Runs whose right verdict is known, and how many got it.
         */
        VerdictCounts: {
            /** @description runs whose right verdict is known */
            expected: number;
            /** @description runs without a score: neither right nor wrong */
            no_score: number;
            /** @description runs that got the right verdict */
            right: number;
            /** @description runs that got another verdict */
            wrong: number;
        };
        /**
         * VersionRef
         * @description A version of something that is stored.
         */
        VersionRef: {
            name: string;
            version: string;
        };
        /**
         * WebhookDelivery
         * @description How far the delivery of a job's end is. The secret that signs it is never answered.
         */
        WebhookDelivery: {
            /** @description the receiver knows repetitions by it */
            delivery_id: string;
            /** @description when it was delivered, or given up; null = neither yet */
            ended_at: string | null;
            /** @description what came of the last try that failed */
            error: string | null;
            /** @description when the next request is sent; null = none will be */
            next_try_at: string | null;
            /** @description waiting (for the job's end), pending, delivered or failed */
            state: string;
            /** @description requests that were sent so far */
            tries: number;
            /** @description where the end is posted to */
            url: string;
        };
        /**
         * WebhookOutline
         * @description Where a definition's jobs tell their end.
         */
        WebhookOutline: {
            /** @description there is a secret, which is never answered */
            signed: boolean;
            /** @description where each job's end is posted to */
            url: string;
        };
        /**
         * World
         * @description A world that the workspace keeps.
         */
        World: {
            /** @description when it was created */
            created_at: string;
            /** @description sha256 of its network, in hexadecimal digits: equal worlds have equal digests */
            digest: string;
            /** @description number of access edges: from a group to a host or to a group above it, and from a principal to a group */
            edges: number;
            /** @description every group that can be reached, the nearest first */
            goals: components["schemas"]["WorldGoal"][];
            /** @description number of groups */
            groups: number;
            /** @description names the world; so does its manifest's name, where no newer one has the same */
            id: string;
            /** @description what the world is made of */
            manifest: components["schemas"]["WorldManifest"];
            /** @description number of credentials that lie open on a host */
            open_credentials: number;
            /** @description number of sessions, each of which leaves a guarded credential on a host */
            sessions: number;
        };
        /**
         * WorldGoal
         * @description A group of a world that a player can come to be in.
         */
        WorldGoal: {
            /** @description the group's name, with its domain */
            name: string;
            /** @description highest return of an episode: 1 for the goal, less 0.001 for each step */
            optimal_return: number;
            /** @description steps of a shortest way */
            steps: number;
        };
        /**
         * WorldJob
         * @description Trajectories of a world, in the making or made. They are published as a data set.
         */
        WorldJob: {
            /** @description when it was created */
            created_at: string;
            /** @description data set that they are published as, NAME@VERSION; it is there once the job has completed */
            dataset: string;
            /** @description when it ended; null = it has not */
            ended_at: string | null;
            /** @description why it failed; null = it did not */
            error: string | null;
            /** @description names the job */
            id: string;
            /** @description the world's, as it was when the job was created */
            manifest: components["schemas"]["WorldManifest"];
            /** @description which trajectories are made */
            order: components["schemas"]["TrajectoryOrder"];
            /** @description episodes that were played */
            played: number;
            /** @description episodes that reached the goal */
            reached: number;
            /** @description episodes that are rows of the data set */
            rows: number;
            /** @description queued, running, completed, failed or cancelled */
            state: components["schemas"]["WorldJobState"];
            /** @description id of the world */
            world: string;
        };
        /**
         * WorldJobBody
         * @description What `world_jobs_create` is asked with.
         */
        WorldJobBody: {
            agent_model?: string | null;
            capability?: string | null;
            /** @default 1 */
            count?: number;
            dataset?: string | null;
            /**
             * @default atif
             * @enum {string}
             */
            form?: "atif" | "messages" | "text";
            /** @default Domain Admins */
            goal?: string;
            /** @default 100 */
            max_steps?: number;
            /**
             * @default scripted
             * @enum {string}
             */
            mode?: "scripted" | "agent";
            /** @default false */
            only_successful?: boolean;
            /** @default 42 */
            seed?: number;
            /**
             * @default recon-first
             * @enum {string}
             */
            strategy?: "random" | "greedy" | "recon-first" | "smart-random";
            /** @default 1 */
            threads?: number;
            world: string;
        };
        /**
         * WorldJobsPage
         * @description One page of the jobs of worlds, the newest first.
         */
        WorldJobsPage: {
            /** @description asks for what follows; null = this was the last page */
            next_cursor: number | null;
            /** @description up to as many as were asked for */
            world_jobs: components["schemas"]["WorldJob"][];
        };
        /**
         * WorldJobState
         * @description How far a world's job is.
         * @enum {string}
         */
        WorldJobState: "queued" | "running" | "completed" | "failed" | "cancelled";
        /**
         * WorldManifest
         * @description What a world is made of. The same manifest is always the same world.
         */
        WorldManifest: {
            /** @description names of its domains; an episode begins in the first */
            domains: string[];
            /** @description chosen by who made it */
            name: string;
            /** @description number of hosts */
            num_hosts: number;
            /** @description number of principals */
            num_users: number;
            /**
             * @description what the numbers are where nothing else was said: small, medium, large or enterprise
             * @enum {string}
             */
            preset: "small" | "medium" | "large" | "enterprise";
            /** @description what everything that is drawn is drawn from */
            seed: number;
        };
        /**
         * WorldManifestBody
         * @description What `world_manifests_create` is asked with.
         */
        WorldManifestBody: {
            /** @default [] */
            domains?: string[];
            name: string;
            num_hosts?: number | null;
            num_users?: number | null;
            /**
             * @default small
             * @enum {string}
             */
            preset?: "small" | "medium" | "large" | "enterprise";
            /** @default 0 */
            seed?: number;
        };
        /**
         * WorldMap
         * @description A picture of a world.
         */
        WorldMap: {
            /** @description the picture as SVG */
            svg: string;
            /** @description the picture in lines, for a terminal */
            text: string;
            /** @description id of the world */
            world: string;
        };
        /**
         * WorldsPage
         * @description One page of worlds, the newest first.
         */
        WorldsPage: {
            /** @description asks for what follows; null = this was the last page */
            next_cursor: number | null;
            /** @description up to as many as were asked for */
            worlds: components["schemas"]["World"][];
        };
    };
    responses: {
        /** @description This is no HTTP request. */
        Problem400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description There is no key, or it is unknown or was revoked. */
        Problem401: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description The key's scopes do not allow this, the sandbox has no right to the file, or a web page asks. */
        Problem403: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description There is no such thing in your workspace. */
        Problem404: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description The route has other methods. */
        Problem405: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description The state of the thing does not allow this; `code` and `reason` say why. */
        Problem409: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description What was sent or asked for is too large. */
        Problem413: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description The address is too long. */
        Problem414: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description The body is of another kind; content-type says which. */
        Problem415: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description There are mistakes in the request; all are listed, and nothing was done. */
        Problem422: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description Too much was asked for at one time; ask again after `retry_after_seconds`. */
        Problem429: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description The headers are too large. */
        Problem431: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description A fault of the server. */
        Problem500: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description The server's host lacks what this needs. */
        Problem501: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description The registry of an image, or the image itself, is at fault; `reason` says which. */
        Problem502: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description The server is about to stop, or has no room or no store at the moment; ask again. */
        Problem503: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description It took longer than it may. */
        Problem504: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
        /** @description No space is left in the sandbox. */
        Problem507: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemAnswer"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    health_healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerHealth"];
                };
            };
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            500: components["responses"]["Problem500"];
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerHealth"];
                };
            };
        };
    };
    health_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_job_defs_list_definitions: {
        parameters: {
            query?: {
                archived?: boolean;
                cursor?: number | null;
                limit?: number;
                /** @description NAME=VALUE: those whose metadata say so; may be given repeatedly */
                metadata?: string[];
                name?: string | null;
                prefix?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DefinitionsPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_job_defs_create: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DefinitionBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BenchmarkJobDef"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_job_defs_get: {
        parameters: {
            query?: {
                content?: boolean;
            };
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BenchmarkJobDef"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_job_defs_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_job_defs_archive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArchivedVersions"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_job_defs_run: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JobFieldsBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BenchmarkJob"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_jobs_list_jobs: {
        parameters: {
            query?: {
                cursor?: number | null;
                limit?: number;
                name?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BenchmarkJobsPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_jobs_create: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JobBody"];
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BenchmarkJob"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_jobs_get: {
        parameters: {
            query?: {
                wait_seconds?: number;
            };
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BenchmarkJob"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_jobs_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_jobs_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BenchmarkJob"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_jobs_events: {
        parameters: {
            query?: {
                after?: number;
            };
            header?: {
                "last-event-id"?: number | null;
            };
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": {
                        data: string;
                        event: string;
                        id?: string;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_jobs_results: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BenchmarkResults"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_jobs_results_page: {
        parameters: {
            query?: {
                after?: number;
                limit?: number;
            };
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResultsPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    benchmark_jobs_summary: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobSummary"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    blueprints_list_blueprints: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
                name?: string | null;
                organization?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlueprintsPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    blueprints_create: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlueprintBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Blueprint"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    blueprints_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name_or_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Blueprint"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    blueprints_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name_or_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    blueprints_publish: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name_or_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Blueprint"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    blueprints_withdraw: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name_or_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Blueprint"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    catalog_calibrate: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CalibrationBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CalibrationJob"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
        };
    };
    catalog_get_calibration: {
        parameters: {
            query?: {
                wait_seconds?: number;
            };
            header?: never;
            path: {
                calibration: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CalibrationJob"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    image_builds_build: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImageBuild"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
        };
    };
    image_builds_get: {
        parameters: {
            query?: {
                wait_seconds?: number;
            };
            header?: never;
            path: {
                build: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImageBuild"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    image_builds_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                build: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImageBuild"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    image_builds_events: {
        parameters: {
            query?: {
                after?: number;
            };
            header?: {
                "last-event-id"?: number | null;
            };
            path: {
                build: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": {
                        data: string;
                        event: string;
                        id?: string;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    images_pull: {
        parameters: {
            query: {
                reference: string;
                refresh?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImagePull"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
        };
    };
    images_get_pull: {
        parameters: {
            query?: {
                wait_seconds?: number;
            };
            header?: never;
            path: {
                pull: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImagePull"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    images_cancel_pull: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pull: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImagePull"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    images_pull_events: {
        parameters: {
            query?: {
                after?: number;
            };
            header?: {
                "last-event-id"?: number | null;
            };
            path: {
                pull: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": {
                        data: string;
                        event: string;
                        id?: string;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    images_list_images: {
        parameters: {
            query?: {
                cursor?: number | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImagesPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
        };
    };
    images_import_image: {
        parameters: {
            query: {
                reference: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Image"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
        };
    };
    images_get_image: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                image: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Image"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    images_remove_image: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                image: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    images_export_image: {
        parameters: {
            query?: {
                form?: "oci" | "docker";
            };
            header?: never;
            path: {
                image: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-tar": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
        };
    };
    images_collect: {
        parameters: {
            query?: {
                unused_seconds?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CollectedImages"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
        };
    };
    keys_list_keys: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeysAnswer"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    keys_create: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    keys_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    leases_open_lease: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LeaseBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientLease"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    leases_close: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                lease_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    leases_renew: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                lease_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientLease"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    objects_list_objects: {
        parameters: {
            query?: {
                cursor?: number | null;
                kind?: ("capability" | "task" | "dataset" | "model" | "checkpoint") | null;
                limit?: number;
                name?: string | null;
                organization?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredObjectsPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    objects_push_object: {
        parameters: {
            query: {
                digest?: string | null;
                kind: "capability" | "task" | "dataset" | "model" | "checkpoint";
                name: string;
                version: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredObject"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    objects_get_object: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                kind: "capability" | "task" | "dataset" | "model" | "checkpoint";
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredObject"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    objects_delete_object: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                kind: "capability" | "task" | "dataset" | "model" | "checkpoint";
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    objects_publish_object: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                kind: "capability" | "task" | "dataset" | "model" | "checkpoint";
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredObject"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    objects_pull_object: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                kind: "capability" | "task" | "dataset" | "model" | "checkpoint";
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-tar": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    objects_withdraw_object: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                kind: "capability" | "task" | "dataset" | "model" | "checkpoint";
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredObject"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    sandboxes_list_sandboxes: {
        parameters: {
            query?: {
                cursor?: string | null;
                include_terminal?: boolean;
                limit?: number;
                status?: components["schemas"]["SandboxStatus"][];
                tag?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxesPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    sandboxes_create: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SandboxBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxInfo"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    sandboxes_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxInfo"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    files_archive: {
        parameters: {
            query: {
                /** @description An absolute path inside the sandbox. */
                path: string;
            };
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-tar": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    files_extract: {
        parameters: {
            query: {
                /** @description An absolute path inside the sandbox. */
                path: string;
            };
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
            507: components["responses"]["Problem507"];
        };
    };
    files_make_dir: {
        parameters: {
            query: {
                parents?: boolean;
                /** @description An absolute path inside the sandbox. */
                path: string;
            };
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
            507: components["responses"]["Problem507"];
        };
    };
    commands_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExecBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.harena.frames": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    commands_kill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                exec_id: string;
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    commands_resize: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                exec_id: string;
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResizeBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    commands_write_stdin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                exec_id: string;
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    commands_close_stdin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                exec_id: string;
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    sandboxes_extend: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExtendBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxInfo"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    files_read: {
        parameters: {
            query: {
                max_bytes?: number | null;
                /** @description An absolute path inside the sandbox. */
                path: string;
            };
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    files_write: {
        parameters: {
            query: {
                mode?: number | null;
                /** @description An absolute path inside the sandbox. */
                path: string;
            };
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
            507: components["responses"]["Problem507"];
        };
    };
    files_append: {
        parameters: {
            query: {
                mode?: number | null;
                /** @description An absolute path inside the sandbox. */
                path: string;
            };
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
            507: components["responses"]["Problem507"];
        };
    };
    files_remove: {
        parameters: {
            query: {
                missing_ok?: boolean;
                /** @description An absolute path inside the sandbox. */
                path: string;
                recursive?: boolean;
            };
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
            507: components["responses"]["Problem507"];
        };
    };
    files_list_files: {
        parameters: {
            query: {
                /** @description An absolute path inside the sandbox. */
                path: string;
            };
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DirectoryListing"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    files_stat: {
        parameters: {
            query: {
                /** @description An absolute path inside the sandbox. */
                path: string;
            };
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileInfo"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    sandboxes_gateway_log: {
        parameters: {
            query?: {
                after?: number;
                limit?: number;
            };
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GatewayLog"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    sandboxes_network_log: {
        parameters: {
            query?: {
                after?: number;
                limit?: number;
            };
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworkLog"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    sandboxes_set_network: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NetworkBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    sandboxes_outputs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommandOutputs"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    sandboxes_processes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessListing"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    sandboxes_signal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pid: number;
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignalBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    sandboxes_stop: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StopBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxInfo"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    sandboxes_usage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxUsage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    sandboxes_wait: {
        parameters: {
            query?: {
                seconds?: number;
            };
            header?: never;
            path: {
                sandbox_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxInfo"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    catalog_list_scenarios: {
        parameters: {
            query?: {
                archived?: boolean;
                cursor?: number | null;
                limit?: number;
                /** @description NAME=VALUE: those whose metadata say so; may be given repeatedly */
                metadata?: string[];
                name?: string | null;
                prefix?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScenariosPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    catalog_create_scenarios: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScenariosBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredScenarios"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    catalog_get_scenarios: {
        parameters: {
            query?: {
                content?: boolean;
            };
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredScenarios"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    catalog_delete_scenarios: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    catalog_archive_scenarios: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArchivedVersions"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    scores_score: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScoreRequest"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunResult"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    catalog_list_contracts: {
        parameters: {
            query?: {
                archived?: boolean;
                cursor?: number | null;
                limit?: number;
                /** @description NAME=VALUE: those whose metadata say so; may be given repeatedly */
                metadata?: string[];
                name?: string | null;
                prefix?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContractsPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    catalog_create_contract: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContractBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScoringContract"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    catalog_get_contract: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScoringContract"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    catalog_delete_contract: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    catalog_archive_contract: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArchivedVersions"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    secrets_list_secrets: {
        parameters: {
            query?: {
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretsPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    secrets_set_secret: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SecretBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    secrets_get_secret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    secrets_delete_secret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    snapshots_list_snapshots: {
        parameters: {
            query?: {
                cursor?: number | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SnapshotsPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    snapshots_create: {
        parameters: {
            query: {
                ends?: boolean;
                in_memory?: boolean;
                name?: string | null;
                sandbox: string;
                ttl_seconds?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
            504: components["responses"]["Problem504"];
        };
    };
    snapshots_get_snapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                snapshot: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    snapshots_remove_snapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                snapshot: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    snapshots_export_snapshot: {
        parameters: {
            query?: {
                form?: "oci" | "docker";
            };
            header?: never;
            path: {
                snapshot: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-tar": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            502: components["responses"]["Problem502"];
            503: components["responses"]["Problem503"];
        };
    };
    training_jobs_list_jobs: {
        parameters: {
            query?: {
                cursor?: number | null;
                limit?: number;
                name?: string | null;
                state?: components["schemas"]["TrainingState"] | null;
                trainer_type?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingJobsPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    training_jobs_create: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                } & (components["schemas"]["SFTRequest"] | components["schemas"]["RLRequest"]);
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingJob"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    training_jobs_get: {
        parameters: {
            query?: {
                wait_seconds?: number;
            };
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingJob"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    training_jobs_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    training_jobs_artifacts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingArtifacts"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    training_jobs_file: {
        parameters: {
            query: {
                path: string;
            };
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    training_jobs_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingJob"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    training_jobs_events: {
        parameters: {
            query?: {
                after?: number;
            };
            header?: {
                "last-event-id"?: number | null;
            };
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": {
                        data: string;
                        event: string;
                        id?: string;
                    };
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    training_jobs_logs: {
        parameters: {
            query?: {
                after?: number;
                limit?: number;
            };
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingLogsPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    training_jobs_metrics: {
        parameters: {
            query?: {
                after?: number;
            };
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingMetrics"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    training_jobs_retry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetryBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingJob"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    training_jobs_plan: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                } & (components["schemas"]["SFTRequest"] | components["schemas"]["RLRequest"]);
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlannedTraining"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    world_jobs_list_jobs: {
        parameters: {
            query?: {
                cursor?: number | null;
                limit?: number;
                world?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorldJobsPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    world_jobs_create: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorldJobBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorldJob"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    world_jobs_get: {
        parameters: {
            query?: {
                wait_seconds?: number;
            };
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorldJob"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    world_jobs_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    world_jobs_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorldJob"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    world_manifests_list_worlds: {
        parameters: {
            query?: {
                cursor?: number | null;
                limit?: number;
                name?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorldsPage"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    world_manifests_create: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorldManifestBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["World"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    world_manifests_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                world: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["World"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    world_manifests_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                world: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    world_manifests_map: {
        parameters: {
            query?: {
                episode?: number;
                job?: string | null;
            };
            header?: never;
            path: {
                world: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorldMap"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            414: components["responses"]["Problem414"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
}
