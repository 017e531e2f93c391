"""Landlock: the kernel refuses files, TCP, abstract sockets and signals, because the rule set is empty.

System calls 444 and 446 have the same numbers on every architecture; see landlock(7).
"""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Final

_CREATE_RULESET: Final = 444
_RESTRICT_SELF: Final = 446
_ASK_VERSION: Final = 1

_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15}
"""The number of file rights that each ABI version knows; 16 since version 5."""

_TCP_RIGHTS: Final = 0b11
_SCOPES: Final = 0b11


def abi_version(libc: ctypes.CDLL) -> int:
    """The ABI version of this kernel. Raises OSError if there is no Landlock."""
    found = int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION))
    if found <= 0:
        raise OSError(ctypes.get_errno(), "Landlock is not in this kernel, or is switched off")
    return found


def build_ruleset(abi: int) -> bytes:
    """The attribute block that handles, and so denies, every right that ``abi`` knows."""
    files = (1 << _FILE_RIGHTS.get(abi, 16)) - 1
    if abi < 4:
        return struct.pack("=Q", files)
    if abi < 6:
        return struct.pack("=QQ", files, _TCP_RIGHTS)
    return struct.pack("=QQQ", files, _TCP_RIGHTS, _SCOPES)


def apply_ruleset(libc: ctypes.CDLL) -> str:
    """Permanently deny this process everything that Landlock can deny. Returns a description. Raises OSError."""
    abi = abi_version(libc)
    attributes = build_ruleset(abi)
    fd = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset failed")
    try:
        if libc.syscall(_RESTRICT_SELF, fd, 0) != 0:
            raise OSError(ctypes.get_errno(), "landlock_restrict_self failed")
    finally:
        os.close(fd)
    return f"version {abi}, no rule"
