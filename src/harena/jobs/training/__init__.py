"""Training jobs as a node keeps them: their queue, their owner, the process that does one, and their answers."""
