"""Events as lines of JSON, for scripts that watch a command."""

import json
import time


def print_event(name: str, **fields: object) -> None:
    """Print what has happened, with the time."""
    event = {"timestamp": time.time_ns() // 1_000_000, "name": name, **fields}
    print(json.dumps(event, separators=(",", ":")), flush=True)
