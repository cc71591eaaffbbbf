"""A backup on disk."""

import json
from pathlib import Path

import pytest

from moldau.cli.backups.archive import LIST, restore_archive, write_archive
from moldau.cli.backups.asking import Frozen
from moldau.cli.terminal.failure import CommandFailed


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    (source / "orders-0").mkdir(parents=True)
    (source / "orders-0" / "0.log").write_bytes(b"abcdef")
    (source / "meta.properties").write_bytes(b"x")
    target = tmp_path / "archive"
    frozen = Frozen(str(source), {"orders-0/0.log": 3, "meta.properties": 1})
    assert write_archive([frozen], str(target), created="2026-01-31T12:00:00Z") == (2, 4)
    return target


def test_what_was_appended_since_is_not_copied(archive: Path, tmp_path: Path) -> None:
    target = tmp_path / "restored"
    assert restore_archive(str(archive), [str(target)]) == (2, 4)
    assert (target / "orders-0" / "0.log").read_bytes() == b"abc"
    assert target.stat().st_mode & 0o777 == 0o700
    assert (target / "meta.properties").stat().st_mode & 0o777 == 0o600


def test_files_keep_their_times(archive: Path, tmp_path: Path) -> None:
    source, copy = tmp_path / "source", archive / "0"
    name = "orders-0/0.log"
    assert (source / name).stat().st_mtime_ns == (copy / name).stat().st_mtime_ns


def test_a_directory_in_use_is_not_written_to(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="is not empty"):
        restore_archive(str(archive), [str(tmp_path)])
    with pytest.raises(CommandFailed, match="is not empty"):
        write_archive([], str(archive), created="")


def test_damage_is_found(archive: Path, tmp_path: Path) -> None:
    (archive / "0" / "orders-0" / "0.log").write_bytes(b"abd")
    with pytest.raises(CommandFailed, match=r"0\.log is damaged"):
        restore_archive(str(archive), [str(tmp_path / "a")])
    (archive / "0" / "orders-0" / "0.log").write_bytes(b"ab")
    with pytest.raises(CommandFailed, match="ends 1 bytes early"):
        restore_archive(str(archive), [str(tmp_path / "b")])


def test_what_is_no_backup_is_refused(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="of 1 log directories, not 2"):
        restore_archive(str(archive), [str(tmp_path / "a"), str(tmp_path / "b")])
    (archive / LIST).write_text(json.dumps({"version": 2}))
    with pytest.raises(CommandFailed, match="version 2"):
        restore_archive(str(archive), [str(tmp_path / "a")])
    (archive / LIST).unlink()
    with pytest.raises(CommandFailed, match="no complete backup"):
        restore_archive(str(archive), [str(tmp_path / "a")])
