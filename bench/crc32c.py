"""CRC-32C of the extension against the crc32c wheel, with zlib's CRC-32 for scale.

bin/bench crc32c
"""

import os
import zlib
from functools import partial

from bench.measure import best_seconds, print_table

import crc32c as wheel
from moldau.records import _crc32c

SIZES = {"64 B": 64, "1 KiB": 1024, "16 KiB": 16384, "1 MiB": 1 << 20}


def main() -> None:
    rows = []
    for name, size in SIZES.items():
        data = bytearray(os.urandom(size))
        best = best_seconds(
            {
                "ours": partial(_crc32c.crc32c, data),
                "portable": partial(_crc32c.crc32c_portable, data),
                "wheel": partial(wheel.crc32c, data),
                "zlib": partial(zlib.crc32, data),
            }
        )
        speeds = [f"{size / seconds / 1e9:.2f}" for seconds in best.values()]
        rows.append([name, *speeds, f"{best['wheel'] / best['ours']:.2f}"])
    title = f"CRC-32C of a bytearray, GB per CPU second ({_crc32c.implementation})"
    print_table(
        title, ["size", "ours", "ours, portable", "wheel", "zlib.crc32", "ours / wheel"], rows
    )


if __name__ == "__main__":
    main()
