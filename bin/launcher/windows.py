"""What Windows tells about processes, by its own interface. Imported there only."""

from __future__ import annotations

import ctypes
import sys

QUERY_LIMITED = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION
STILL_ACTIVE = 259


def process_start(pid: int) -> str:
    """When process `pid` began, as Windows' own number; empty when it does not run."""
    if sys.platform != "win32":
        return ""
    kernel = ctypes.windll.kernel32
    kernel.OpenProcess.restype = ctypes.c_void_p
    opened = ctypes.c_void_p(kernel.OpenProcess(QUERY_LIMITED, False, pid))
    if not opened.value:
        return ""
    try:
        code = ctypes.c_ulong()
        times = [ctypes.c_ulonglong() for _ in range(4)]
        kernel.GetExitCodeProcess(opened, ctypes.byref(code))
        kernel.GetProcessTimes(opened, *(ctypes.byref(moment) for moment in times))
        return str(times[0].value) if code.value == STILL_ACTIVE else ""
    finally:
        kernel.CloseHandle(opened)
