"""Whether a connection was refused, by every address that a name stands for."""

import re
from errno import ECONNREFUSED

_ERRNO = re.compile(r"\[Errno (\d+)\]")


def as_refusal(error: OSError) -> OSError:
    """The error itself, or ConnectionRefusedError if it says of several addresses just that.

    `localhost` mostly has two addresses. asyncio then raises a plain OSError with the messages
    of all attempts in its text.
    """
    numbers = _ERRNO.findall(str(error)) if type(error) is OSError else []
    if numbers and all(int(number) == ECONNREFUSED for number in numbers):
        return ConnectionRefusedError(ECONNREFUSED, str(error))
    return error
