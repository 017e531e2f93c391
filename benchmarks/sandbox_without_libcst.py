"""The zygote for checks without libcst and without its fresh heap. The benchmark compares it with the usual one."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Final, NoReturn

from codeplan.sandbox.cage import check_zygote, zygote

_READS: Final = "parse_layout"


class _NoLibcst(ModuleType):
    """Has every class of libcst, so that the check's module loads, but no parser."""

    def __getattr__(self, name: str) -> type:
        return object


def main(control_fd: int) -> NoReturn:
    """Serve as the zygote for checks."""
    sys.modules["libcst"] = _NoLibcst("libcst")
    from codeplan.sandbox.language import checking

    setattr(checking, _READS, lambda source, tree: None)
    zygote.main(control_fd, check_zygote.ROLE._replace(fresh_heap=False))
