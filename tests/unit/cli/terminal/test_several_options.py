"""Options for several brokers, and a broker that ends with its supervisor."""

import argparse
import asyncio
import os
import sys

import pytest

from moldau.cli.terminal.several_options import (
    add_options,
    bind_of,
    end_with_input,
    require_brokers,
)
from moldau.net.listener import listen
from moldau.supervisor.child import shared_option
from unit.waiting import settled, until


def test_the_options_are_known_and_the_inner_one_is_not_shown() -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)
    found = parser.parse_args(["--brokers", "auto", "--ports", "1,2", "--advertised-host", "a"])
    assert (found.brokers, found.ports, found.advertised_host) == ("auto", "1,2", "a")
    assert not found.until_input_ends
    assert "until-input-ends" not in parser.format_help()
    assert "shared-port" not in parser.format_help()


def test_what_is_about_several_brokers_is_refused_for_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)
    several = ["--ports", "1,2", "--tree-port", "2181"]
    require_brokers(parser.parse_args(["--brokers", "2", *several]), parser)
    require_brokers(parser.parse_args(["--advertised-host", "a"]), parser)
    with pytest.raises(SystemExit):
        require_brokers(parser.parse_args(several), parser)
    expected = "--ports, --tree-port: only with --brokers"
    assert expected in capsys.readouterr().err


def test_a_port_that_brokers_share_is_the_supervisor_s() -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)
    assert bind_of(parser.parse_args([])) is listen
    with listen("127.0.0.1", 0) as made:
        port = made.getsockname()[1]
        given = shared_option(port, [os.dup(made.fileno())])
        with bind_of(parser.parse_args(given))("127.0.0.1", port) as ours:
            assert ours.getsockname() == made.getsockname()
    assert shared_option(None, []) == []


async def test_a_broker_stops_when_its_input_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    stop = asyncio.Event()
    with os.fdopen(reading) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        end_with_input(stop)
        os.write(writing, b"what is said does not matter")
        await settled()
        assert not stop.is_set()
        os.close(writing)
        await until(stop.is_set)
