"""Run a program that is killed when the process that started it dies, however that happens.

`python -I -S parent_guard.py PARENT_PID PROGRAM ARGUMENT…` asks the kernel for SIGKILL at the
parent's death and becomes the program. It imports nothing of the harness, and is a program because
code between fork and exec is not safe in a process with threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
"""From `linux/prctl.h`, see prctl(2)."""


def main() -> None:
    """Guard and exec, or end quietly when the parent is gone already."""
    parent, program = int(sys.argv[1]), sys.argv[2:]
    libc = ctypes.CDLL(None, use_errno=True)
    # Only Linux has it; elsewhere a harness that is killed leaves its servers running.
    if hasattr(libc, "prctl") and libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent:
        return
    os.execvp(program[0], program)  # noqa: S606 - a list, never a shell


if __name__ == "__main__":
    main()
