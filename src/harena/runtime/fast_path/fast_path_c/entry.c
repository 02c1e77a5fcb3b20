/* What a template and its inits do most of the time, as one function of machine code.
 *
 * They are forks: each page that they write to must first be copied, and the interpreter writes to a few hundred for
 * what they do here (every use of an object changes its reference count). This does the same and writes to its stack
 * and to one struct. It does what is common and plain; all else it returns to its caller, who does it in Python and
 * comes back.
 *
 * Built by scripts/build-fast-path into fast_path_code.py. It may call nothing but the kernel and the functions that
 * it is given in the context.
 */

#include "kernel.h"
#include "context.h"
#include "init.c"
#include "template.c"

/* The last eight bytes of the code; whoever loads it writes the address here. */
__attribute__((section(".here"), used)) static struct context *volatile const here = 0;

i64 entry(void)
{
    struct context *context = here;
    if (context->is_template == PARKS)
        return park(context);
    return context->is_template ? fork_on_request(context) : serve(context);
}
