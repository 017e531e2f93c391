"""Many episodes: cells of environment, method and model over lists of tasks, on the engine of one's choice.

``plan``      what is to be played, from flags or a file       ``store``     the folder: what has ended
``conduct``   playing what is left, within a budget            ``engines``   threads, processes, Dask, Ray
``compare``   two cells, task by task                          ``papers``    what others have published
"""

from __future__ import annotations

from codeplan.bench.conduct import Allowance, Conducted, conduct
from codeplan.bench.store import Bench, Cell, Ended, Grid, read
from codeplan.bench.suite import Row, Suite, summarise

__all__ = ["Allowance", "Bench", "Cell", "Conducted", "Ended", "Grid", "Row", "Suite", "conduct", "read", "summarise"]
