"""What this process takes from the operating system."""

import os
import resource
import socket
import sys

_STATM = "/proc/self/statm"
_DESCRIPTORS = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"


def resident_bytes() -> int:
    """Memory in use now; where the system does not report it, the most there has been."""
    try:
        with open(_STATM, "rb") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except FileNotFoundError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def cpu_seconds() -> float:
    """Processor time used so far, by all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def open_file_count() -> int:
    """Files and sockets that are open now."""
    # Linux reports the number since 6.2; to list a broker's thousands takes milliseconds.
    return os.stat(_DESCRIPTORS).st_size or len(os.listdir(_DESCRIPTORS)) - 1


def open_files_max() -> int:
    """How many may be open at a time."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit


def host_name() -> str:
    """What others can find this machine by."""
    return socket.getfqdn()
