"""Listening sockets that another process has made, for several to accept from.

A process that is free takes the next connection. As long as one of them lives, or the one that made
the socket, no connection is refused.
"""

import os
import socket
from collections import deque
from collections.abc import Sequence
from errno import EADDRNOTAVAIL

from moldau.net.listener import Bind


def inherited(port: int, descriptors: Sequence[int], otherwise: Bind) -> Bind:
    """Binds that port to these sockets, one after the other, and all others as usual."""
    waiting = deque(descriptors)

    def bind(host: str, wanted: int) -> socket.socket:
        if wanted != port:
            return otherwise(host, wanted)
        if not waiting:
            # A name may have more addresses here than it had for the other process.
            raise OSError(EADDRNOTAVAIL, os.strerror(EADDRNOTAVAIL))
        descriptor = waiting.popleft()
        os.set_inheritable(descriptor, False)
        return socket.socket(fileno=descriptor)

    return bind
