"""Which files of a log directory belong to a backup, and hard links to them."""

from pathlib import Path

import pytest

from moldau.cli.backups.files import LINKS, linked, listed, remove_links


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name in ("orders-0", "store.sqlite-0", "orders-1.0123-delete", "orders-1.0123-future"):
        (tmp_path / name).mkdir()
    kept = (
        "meta.properties",
        "store.sqlite",
        "store.sqlite-wal",
        "orders-0/1.log",
        "store.sqlite-0/0.log",
    )
    left_out = (".lock", ".backup.lock", "checkpoint.tmp", "points.prepared")
    unfinished = ("orders-0/0.log.deleted", "orders-0/1.log.cleaned", "orders-0/1.index.swap")
    for name in (*kept, *left_out, *unfinished, "orders-1.0123-delete/0.log"):
        (tmp_path / name).write_bytes(b"abc")
    return tmp_path


def test_what_a_start_would_find_is_listed_with_its_size(directory: Path) -> None:
    names = ["meta.properties", "orders-0/1.log", "store.sqlite-0/0.log"]
    names += ["store.sqlite", "store.sqlite-wal"]
    assert listed(str(directory)) == dict.fromkeys(names, 3)


def test_links_show_the_files_as_they_were(directory: Path) -> None:
    sizes = linked(str(directory), omitted=["store.sqlite"])
    assert sizes == {"meta.properties": 3, "orders-0/1.log": 3, "store.sqlite-0/0.log": 3}
    with (directory / "orders-0" / "1.log").open("ab") as segment:
        segment.write(b"def")
    (directory / "meta.properties").unlink()
    links = directory / LINKS
    assert (links / "meta.properties").read_bytes() == b"abc"
    assert (links / "orders-0" / "1.log").read_bytes()[: sizes["orders-0/1.log"]] == b"abc"


def test_links_are_no_part_of_the_next_backup_and_go_when_they_are_not_needed(
    directory: Path,
) -> None:
    before = listed(str(directory))
    linked(str(directory), omitted=["store"])
    assert listed(str(directory)) == before
    remove_links(str(directory))
    remove_links(str(directory))
    assert not (directory / LINKS).exists()
