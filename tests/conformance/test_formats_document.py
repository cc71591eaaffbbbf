"""docs/formats.md names every file that a broker writes, and modules that there are."""

import re
from collections.abc import Iterator
from pathlib import Path

from conformance.our_broker import our_broker
from moldau.client.blocking import Producer

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE))
DIGITS = re.compile(r"^\d{20}")


def written_by_a_broker(directory: Path) -> Iterator[str]:
    """The names of its files, with one for the digits of an offset."""
    with our_broker(directory) as broker:
        with Producer(bootstrap_servers=broker.bootstrap, transactional_id="till-1") as producer:
            for is_committed in (True, False):
                producer.begin_transaction()
                producer.send("orders", b"x").result()
                producer.commit_transaction() if is_committed else producer.abort_transaction()
        while_it_runs = {path.name for path in broker.log_directory.rglob("*") if path.is_file()}
        broker.stop()
    stopped = {path.name for path in broker.log_directory.rglob("*") if path.is_file()}
    for name in while_it_runs | stopped:
        yield DIGITS.sub("…", name).removesuffix("-wal").removesuffix("-shm")


def test_every_file_of_a_broker_is_named(tmp_path: Path) -> None:
    written = set(written_by_a_broker(tmp_path))
    assert {"….log", "….txnindex", ".kafka_cleanshutdown", "moldau-store.sqlite"} <= written
    assert written - NAMED == set()


def test_every_module_that_is_named_exists() -> None:
    modules = re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py)?)/?`", PAGE)
    assert len(modules) > 10
    assert [name for name in modules if not (ROOT / "src" / "moldau" / name).exists()] == []
