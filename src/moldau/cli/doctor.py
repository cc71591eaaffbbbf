"""Examine a cluster as a client sees it, or the machine of a broker; say what to do."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from moldau.cli.terminal.administration import run_admin, settings
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Given,
    Options,
    warn,
)
from moldau.cli.terminal.surroundings import examine_machine
from moldau.client.admin.examination import ExaminingAdmin, examine, is_reachable
from moldau.client.admin.finding import Finding
from moldau.client.connection.addresses import Address, parse_addresses
from moldau.client.settings import AdminSettings, read_settings

DEFAULT_SERVER = "localhost:9092"

OPTIONS = Options(
    "doctor",
    "Examines a cluster as a client of this machine sees it: names, TLS and login, addresses, "
    "controller, clock, partitions, versions, disks, groups and their lag. "
    "Without --bootstrap-server it examines localhost:9092.\n"
    "With a broker's properties FILE: whether a broker can run with it on this machine: settings, "
    "directories, ports, limits, certificates, ZooKeeper.\n"
    "The exit code is 1 if something is wrong.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    arguments="[FILE]",
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; the exit code is 1 if something is wrong."""
    given = OPTIONS.parse(arguments)
    if len(given.rest) > 1:
        raise CommandFailed(f"one file at a time, not {' '.join(given.rest)}")
    findings = _of_broker(given.rest[0]) if given.rest else _of_cluster(given)
    if given.is_json:
        print(json.dumps([asdict(each) for each in findings]))
    else:
        for each in findings:
            print(f"{'ok  ' if each.is_well else 'FAIL'} {each.text}")
            if each.advice:
                print(f"     {each.advice}")
    return 0 if all(each.is_well for each in findings) else 1


def _of_broker(path: str) -> list[Finding]:
    from moldau.cli.terminal.broker_machine import examine_file  # noqa: PLC0415 - with a file only

    return examine_file(path)


def _of_cluster(given: Given) -> list[Finding]:
    if "bootstrap-server" not in given:
        warn(f"asking {DEFAULT_SERVER}; --bootstrap-server names another address")
        given.values["bootstrap-server"] = [DEFAULT_SERVER]
    asked = given.text("bootstrap-server")
    addresses = parse_addresses(asked)
    machine = examine_machine(address.host for address in addresses)
    findings = asyncio.run(_unreached(addresses))
    if not findings:
        findings = _protection(settings(given), asked)
    if all(each.is_well for each in findings):
        findings += run_admin(given, ExaminingAdmin, lambda admin: examine(admin, asked))
    return machine + findings


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
    advice = (
        "Is the broker up? On its machine: ss -ltnp; its log and its listeners say more. If it is "
        "up, a firewall is between."
    )
    return [Finding(False, f"{each} cannot be reached from here", advice) for each in addresses]
