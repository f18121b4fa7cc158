"""Becomes another program that dies with the one that started it.

Run as a script: `exec_shim.py PARENT PROGRAM [ARGUMENT…]`. Where prctl is missing the program simply starts;
the reaper is what ends it then.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, argv: list[str]) -> None:
    """Ask for SIGKILL at the death of `parent`, then become `argv`."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit("the parent died before the program started")
    os.execv(argv[0], argv)  # noqa: S606 - an argv list without a shell is what this file is for


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
