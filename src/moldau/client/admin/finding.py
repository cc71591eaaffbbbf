"""One thing that an examination has looked at."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """What was seen; `advice` says what to do, with a command where there is one."""

    is_well: bool
    text: str
    advice: str = ""
