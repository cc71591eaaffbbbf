"""Plays faults on three brokers and a ZooKeeper, and tells which invariants broke.

bin/faults                    all of them, one after the other
bin/faults F1 F8              some of them
bin/faults F1 --rounds 5      each happens five times under the same load
bin/faults F1 --guarded       with TLS, logins, access rules and quotas, as F43 always has
bin/faults F1 -v              with the brokers' log lines
bin/faults --brokers          those that can be played on `moldau serve --brokers 3`, on that
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from faults.catalogue import FAULTS
from faults.fault import Fault, Result, played
from faults.supervised import APPLYING

_VIOLATIONS_TOLD = 10


def main() -> int:
    options = _options(sys.argv[1:])
    logging.basicConfig(level=logging.INFO if options.verbose else logging.CRITICAL)
    if not options.verbose:
        # The brokers and librdkafka write there.
        sys.stderr.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    results = []
    print("| Fault | What was done | Result | Seconds |\n|---|---|---|---|", flush=True)
    names = options.faults or (on_brokers() if options.brokers else ())
    for one in chosen(names, is_guarded=options.guarded):
        results.append(played(one, options.rounds, is_supervised=options.brokers))
        print(line(results[-1]), flush=True)
    failed = [result for result in results if result.violations]
    for result in failed:
        print(told(result))
    print(f"{len(results)} faults, {len(failed)} failed")
    return 1 if failed else 0


def line(result: Result) -> str:
    """A fault's line in the table."""
    found = f"{len(result.violations)} violations" if result.violations else "holds"
    outcome = "; ".join([found, *result.notes])
    return f"| {result.fault.name} | {result.fault.does} | {outcome} | {result.duration_s:.0f} |"


def told(result: Result) -> str:
    """What went wrong, and how to see it again."""
    return "\n".join(
        [
            f"{result.fault.name}: {len(result.violations)} violations",
            f"  again      bin/faults {result.fault.name} -v",
            *(f"  violation  {found}" for found in result.violations[:_VIOLATIONS_TOLD]),
        ]
    )


def chosen(names: Sequence[str], *, is_guarded: bool = False) -> list[Fault]:
    """The faults of these names, or all of them; all that can be guarded, if they are to be."""
    everything = [one for one in FAULTS.values() if not one.is_supervised]
    wanted = [FAULTS[name] for name in names] or everything
    if is_guarded:
        return [replace(one, is_guarded=True) for one in wanted if not one.is_linked]
    return wanted


def on_brokers() -> list[str]:
    """The faults that can be played on `moldau serve --brokers`."""
    return [*APPLYING, *(one.name for one in FAULTS.values() if one.is_supervised)]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bin/faults", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "faults", nargs="*", type=str.upper, metavar="fault", help="by default all of them"
    )
    parser.add_argument("--rounds", type=int, default=1, help="how often each of them happens")
    parser.add_argument("--guarded", action="store_true", help="with TLS, logins, rules, quotas")
    parser.add_argument(
        "--brokers", action="store_true", help="on a cluster of `moldau serve --brokers 3`"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="tell everything")
    options = parser.parse_args(arguments)
    if options.brokers and options.guarded:
        parser.error("--brokers and --guarded do not go together")
    for name in options.faults:
        if name not in FAULTS:
            parser.error(f"no fault {name}; there are {', '.join(FAULTS)}")
        if options.guarded and FAULTS[name].is_linked:
            parser.error(f"{name} cuts links, which a guard's listeners go past")
        if options.brokers and name not in on_brokers():
            parser.error(f"{name} is not for --brokers; those are {', '.join(on_brokers())}")
        if FAULTS[name].is_supervised and not options.brokers:
            parser.error(f"{name} is for --brokers alone")
    return options


if __name__ == "__main__":
    sys.exit(main())
