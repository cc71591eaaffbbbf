"""The reference of settings, and the files that ship with the project."""

from pathlib import Path

import pytest

from moldau.config.broker.broker import broker_settings
from moldau.config.broker.startup import read_startup
from moldau.config.properties import parse_properties
from moldau.config.reference import main, reference
from moldau.config.topic import topic_settings

_PROJECT = Path(__file__).parents[3]


def test_the_page_in_docs_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    written = (_PROJECT / "docs" / "configuration.md").read_text()
    assert capsys.readouterr().out == written, "run python -m moldau.config.reference"


def test_every_setting_has_a_row_except_internal_ones() -> None:
    rows = [line for line in reference() if line.startswith("| `")]
    named = {row.split("`")[1] for row in rows}
    for setting in [*broker_settings().values(), *topic_settings().values()]:
        assert (setting.name in named) != setting.is_internal


def test_the_shipped_server_properties_start_a_broker_alone() -> None:
    texts = parse_properties((_PROJECT / "config" / "server.properties").read_text())
    startup = read_startup(texts)
    assert startup.warnings == ()
    assert startup.config.is_standalone
    assert startup.config.general.broker_id == 0
    assert "log.dirs" not in texts, "`moldau serve` has a better place than /tmp/kafka-logs"


def test_what_the_shipped_file_shows_commented_out_is_a_setting() -> None:
    text = (_PROJECT / "config" / "server.properties").read_text()
    shown = [
        line[1:] for line in text.splitlines() if line.startswith("#") and line[1:2] not in " #"
    ]
    for name in parse_properties("\n".join(shown)):
        assert name in broker_settings()
    read_startup(parse_properties("\n".join(shown)))


def test_the_shipped_zookeeper_properties_fit_the_brokers() -> None:
    texts = parse_properties((_PROJECT / "config" / "zookeeper.properties").read_text())
    assert texts == {
        "dataDir": "/tmp/zookeeper",
        "clientPort": "2181",
        "clientPortAddress": "localhost",
        "maxClientCnxns": "0",
        "admin.enableServer": "false",
    }
