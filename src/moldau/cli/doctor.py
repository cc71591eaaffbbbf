"""Show what a client at an address receives, and what is wrong with it."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from moldau.cli.terminal.administration import run_admin, settings
from moldau.cli.terminal.options import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Options,
    warn,
)
from moldau.client.admin.examination import ExaminingAdmin, Finding, examine, is_reachable
from moldau.client.connection.addresses import Address, parse_addresses
from moldau.client.settings import AdminSettings, read_settings

DEFAULT_SERVER = "localhost:9092"

OPTIONS = Options(
    "doctor",
    "Shows what a client at an address, localhost:9092 without one, receives: brokers, "
    "TLS and login, controller, clock, partitions.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; the exit code is 1 if something is wrong."""
    given = OPTIONS.parse(arguments)
    if "bootstrap-server" not in given:
        warn(f"asking {DEFAULT_SERVER}; --bootstrap-server names another address")
        given.values["bootstrap-server"] = [DEFAULT_SERVER]
    asked = given.text("bootstrap-server")
    findings = asyncio.run(_unreached(parse_addresses(asked)))
    if not findings:
        findings = _protection(settings(given), asked)
    if all(each.is_well for each in findings):
        findings += run_admin(given, ExaminingAdmin, lambda admin: examine(admin, asked))
    if given.is_json:
        print(json.dumps([asdict(each) for each in findings]))
    else:
        for each in findings:
            print(f"{'ok  ' if each.is_well else 'FAIL'} {each.text}")
            if each.advice:
                print(f"     {each.advice}")
    return 0 if all(each.is_well for each in findings) else 1


def _protection(values: Mapping[str, object], asked: str) -> list[Finding]:
    from moldau.cli.terminal import protection  # noqa: PLC0415 - brings TLS along

    client = read_settings(AdminSettings, values, {})
    return asyncio.run(
        protection.examine(client, parse_addresses(asked), now_ms=time.time_ns() // 1_000_000)
    )


async def _unreached(addresses: Sequence[Address]) -> list[Finding]:
    """Findings if no broker is there: a client would wait, but a doctor is asked how it is now."""
    if any(await asyncio.gather(*(is_reachable(*each) for each in addresses))):
        return []
    advice = "Is the broker up? Look at its log, its listeners, the address and firewalls."
    return [Finding(False, f"{each} cannot be reached from here", advice) for each in addresses]
