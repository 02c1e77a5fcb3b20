"""When pydantic builds the validators of scenarios and contracts: with their class, or with the first value of it.

A data set's scenarios have contracts of a few kinds, and a model that stands in another is built in that one once more:
to build all of them takes a fiftieth of a second of a job's start. Before 2.14 pydantic does not build safely where two
threads check the first values of a model at one time (its issues 11849 and 13419): there it builds with the class.
"""

from __future__ import annotations

from pydantic import VERSION

_SAFE_SINCE = (2, 14)
BUILT_WITH_FIRST_VALUE = tuple(map(int, VERSION.split(".")[:2])) >= _SAFE_SINCE
