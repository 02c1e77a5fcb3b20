"""How a database comes to its tables: one numbered step after the other, each of which is never changed again."""
