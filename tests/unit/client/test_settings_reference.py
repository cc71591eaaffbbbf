"""The page of client settings says what the clients have."""

from dataclasses import fields
from pathlib import Path

import pytest

from moldau.client.settings import AdminSettings, ConsumerSettings, ProducerSettings, dotted
from moldau.client.settings_reference import ABOUT, main, reference

PAGE = Path(__file__).parents[3] / "docs" / "client-settings.md"


def test_the_page_in_docs_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    assert capsys.readouterr().out == PAGE.read_text(), (
        "run python -m moldau.client.settings_reference"
    )


def test_every_setting_is_explained_and_no_other() -> None:
    names = {
        each.name
        for kind in (AdminSettings, ConsumerSettings, ProducerSettings)
        for each in fields(kind)
    }
    assert ABOUT.keys() == names
    page = "\n".join(reference())
    assert all(f"| `{dotted(name)}` |" in page for name in names)


def test_defaults_are_written_as_kafka_writes_them() -> None:
    page = "\n".join(reference())
    assert "| `acks` | all |" in page
    assert "| `check.crcs` | true |" in page
    assert "| `bootstrap.servers` | must be set |" in page
    assert page.count("| `connections.max.idle.ms` |") == 2, "admin clients have another default"
