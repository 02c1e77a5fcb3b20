"""The machine code that templates, inits and forkers run, its sources, and how it is called."""
