"""Addresses of both ends become settings of connectors."""

from pathlib import Path

import pytest

from moldau.cli.connecting.addresses import (
    parse_address,
    sink_settings,
    source_settings,
    warn_if_visible,
)
from moldau.cli.terminal.failure import CommandFailed
from moldau.connect.worker.plugins import Plugins


def test_a_topic_has_brokers_and_a_name() -> None:
    found = parse_address("kafka://a:1,b:2/orders")
    assert (found.servers, found.topic) == ("a:1,b:2", "orders")
    for text in ("kafka://a:1", "kafka:///t", "kafka://a/b/c"):
        with pytest.raises(CommandFailed, match="a topic is kafka"):
            parse_address(text)
    with pytest.raises(CommandFailed, match="--command-config") as refused:
        parse_address("kafka://me:secret@a:1/t")
    assert "secret" not in str(refused.value)


def test_a_table_has_options_of_its_own_and_of_its_database() -> None:
    address = parse_address("postgresql://me:secret@h/d?table=s.t&sslmode=require&timestamp=at")
    assert "secret" not in address.identity
    source = source_settings(address, "orders")
    assert source["connection.url"] == "postgresql://me:secret@h/d?sslmode=require"
    assert (source["table.whitelist"], source["mode"]) == ("s.t", "timestamp")
    assert source["transforms.topic.replacement"] == "orders"
    sink = sink_settings(parse_address("sqlite:/a/b?table=t&key=id"), "orders")
    assert sink["connection.url"] == "sqlite:/a/b"
    assert (sink["insert.mode"], sink["pk.fields"], sink["topics"]) == ("upsert", "id", "orders")
    maria = source_settings(parse_address("mysql://me@h/d?table=t"), "orders")
    assert maria["connection.url"] == "mysql://me@h/d"
    with pytest.raises(CommandFailed, match="which table"):
        parse_address("postgresql://me:secret@h/d")


def test_a_directory_is_read_and_written_file_by_file(tmp_path: Path) -> None:
    address = parse_address(f"jsonl:{tmp_path}")
    source, sink = source_settings(address, "t"), sink_settings(address, "t")
    assert source["connector.class"] == "moldau.connect.DirectorySourceConnector"
    assert sink["connector.class"] == "moldau.connect.JsonSinkConnector"
    assert source["directory"] == sink["directory"] == str(tmp_path)
    assert Plugins().find(source["connector.class"]).kind == "source"


def test_files_are_named_in_full_and_what_is_unknown_is_listed() -> None:
    address = parse_address("parquet:a/b.parquet")
    assert address.place.startswith("/")
    assert source_settings(address, "t")["format"] == "parquet"
    assert sink_settings(address, "t")["directory"] == address.place
    for text, why in (("csv:", "path is missing"), ("s3://b/x", "no address is of this kind")):
        with pytest.raises(CommandFailed, match=why):
            parse_address(text)


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("postgresql://shop:sesam@h/d?table=t", "PGPASSWORD or ~/.pgpass"),
        ("postgresql://h/d?table=t&user=shop&password=sesam", "PGPASSWORD or ~/.pgpass"),
        ("mysql://shop:sesam@h/d?table=t", "MYSQL_PWD"),
    ],
)
def test_passwords_that_others_can_see_are_warned_of(
    address: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    warn_if_visible(address)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("WARNING: other users of this machine can see the password")
    assert line.endswith(place)
    assert "sesam" not in line


@pytest.mark.parametrize("address", ["postgresql://shop@h/d?table=t", "kafka://h/t", "csv:f"])
def test_what_has_no_password_comes_without_a_warning(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    warn_if_visible(address)
    assert capsys.readouterr().err == ""


def test_a_password_of_mysql_comes_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYSQL_PWD", "sesam")
    found = source_settings(parse_address("mariadb://shop@h/d?table=t"), "t")
    assert (found["connection.url"], found["connection.password"]) == (
        "mariadb://shop@h/d",
        "sesam",
    )
    for other in ("mariadb://shop:own@h/d?table=t", "postgresql://shop@h/d?table=t"):
        assert "connection.password" not in sink_settings(parse_address(other), "t")
