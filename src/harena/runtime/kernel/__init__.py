"""One file per kernel concept, no policy. All but `cgroups` and `seccomp_policy` also run inside sandboxes, so they
use the standard library only and syntax that any Python >= 3.8 understands."""
