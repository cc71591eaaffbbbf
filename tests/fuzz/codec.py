"""Feeds mutated messages to the decoders until the count is reached.

PYTHONPATH=src:tests python tests/fuzz/codec.py [count] [seed]

Anything but `ProtocolError` ends the run with the bytes that caused it.
"""

import sys
from itertools import chain, count
from random import Random

from moldau.errors import ProtocolError
from moldau.protocol.codec import decode
from unit.protocol.catalogue import message_versions
from unit.protocol.mutations import encoded_example, flipped, overwritten, spliced

PER_EXAMPLE = 20


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    first_seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    done = refused = 0
    for seed in count(first_seed):
        for cls, version in message_versions():
            draw = Random(f"{seed} {cls.__name__} {version}")
            valid = encoded_example(cls, version, draw)
            for mutated in chain(
                flipped(valid, draw, PER_EXAMPLE),
                overwritten(valid, draw, PER_EXAMPLE),
                spliced(valid, draw, PER_EXAMPLE),
            ):
                refused += is_refused(cls, version, mutated)
                done += 1
            if done >= wanted:
                print(f"{done} mutations, {refused} refused, last seed {seed}")
                return


def is_refused(cls: type, version: int, mutated: bytes) -> bool:
    try:
        decode(cls, version, mutated)
    except ProtocolError:
        return True
    except BaseException:
        print(f"{cls.__name__} v{version}: {mutated.hex()}", file=sys.stderr)
        raise
    return False


if __name__ == "__main__":
    main()
