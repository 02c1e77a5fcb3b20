"""harena beside what people use already: one file each, each behind an extra of its own."""
