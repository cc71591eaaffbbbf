"""How long the longest list of each API holds the broker's loop: bin/bench long_lists [API].

The processor time of the loop's thread in the longest round of the loop, for each list of each
request as long as it may be, named in three ways. The aim is 20 ms.
"""

import gc
import logging
import sys

from conformance.test_long_requests import CASES, frame_of, held_ms, wide_broker


def main() -> None:
    logging.disable(logging.CRITICAL)
    wanted = sys.argv[1:]
    rows = []
    with wide_broker(partitions=2_000) as kafka:
        for case in CASES:
            route, path, naming = case.values
            if not wanted or route.name in wanted:
                frame = frame_of(route, path, naming)
                # What this process has made is not the broker's: the collector passes it over.
                gc.collect()
                gc.freeze()
                longest_ms = held_ms(kafka, frame)
                gc.unfreeze()
                rows.append((longest_ms, route.name, ".".join(path), naming.value))
                print(f"{longest_ms:6.1f} ms  {case.id}", flush=True)
    rows.sort(reverse=True)
    over = [row for row in rows if row[0] >= 20]
    print(f"\n{len(rows)} lists, {len(over)} of them 20 ms or more; the longest:")
    for longest_ms, *names in rows[:10]:
        print(f"{longest_ms:6.1f} ms  {' '.join(names)}")


if __name__ == "__main__":
    main()
