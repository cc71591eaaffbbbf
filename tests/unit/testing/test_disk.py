"""What tests rely on when they take the disk away."""

import errno
import os
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.runtime.disk import Disk, PosixDisk, write_atomically
from moldau.testing.disk import UNLIMITED_BYTES, MemoryDisk, PowerLost, keep_all, lose_all


def disk_with(path: str, data: bytes = b"", *, capacity_bytes: int = UNLIMITED_BYTES) -> MemoryDisk:
    """A disk with one durable file in one durable directory."""
    disk = MemoryDisk(capacity_bytes=capacity_bytes)
    disk.make_directory("/d")
    disk.sync_directory("/")
    file = disk.open_append(path)
    file.append(data)
    file.sync()
    disk.sync_directory("/d")
    return disk


def names(disk: Disk, path: str) -> list[str]:
    return sorted(entry.name for entry in disk.list_directory(path))


def test_unsynced_bytes_are_lost_with_the_power() -> None:
    disk = disk_with("/d/f", b"durable")
    disk.open_append("/d/f").append(b" and not")

    assert disk.restart(lose_all).read_file("/d/f") == b"durable"
    assert disk.restart(keep_all).read_file("/d/f") == b"durable and not"
    assert disk.restart(lambda count: min(count, 4)).read_file("/d/f") == b"durable and"


def test_lost_bytes_may_come_back_as_zeros() -> None:
    disk = disk_with("/d/f", b"ab")
    disk.open_append("/d/f").append(b"cd")

    after = disk.restart(lambda count: min(count, 1), lost_bytes_are_zero=True)

    assert after.read_file("/d/f") == b"abc\0"


def test_an_unsynced_truncation_may_be_undone_by_power_loss() -> None:
    disk = disk_with("/d/f", b"abcdef")
    file = disk.open_append("/d/f")
    file.truncate(2)
    file.append(b"XY")

    found = {disk.restart(partial(min, k)).read_file("/d/f") for k in range(9)}

    assert found == {b"abcdef", b"ab", b"abX", b"abXY"}


def test_bytes_synced_after_a_truncation_survive() -> None:
    disk = disk_with("/d/f", b"abcdef")
    file = disk.open_append("/d/f")
    file.truncate(2)
    file.append(b"XY")
    file.sync()

    assert disk.restart(lose_all).read_file("/d/f") == b"abXY"


def test_a_name_survives_only_when_its_directory_was_synced() -> None:
    disk = disk_with("/d/old", b"1")
    disk.open_append("/d/new").sync()
    disk.rename("/d/old", "/d/renamed")
    disk.remove("/d/new")

    assert names(disk.restart(lose_all), "/d") == ["old"]
    assert names(disk.restart(lambda count: min(count, 1)), "/d") == ["new", "old"]
    assert names(disk.restart(lambda count: min(count, 2)), "/d") == ["new", "renamed"]
    disk_after_sync = disk.restart(keep_all)
    assert names(disk_after_sync, "/d") == ["renamed"]
    assert names(disk_after_sync.restart(lose_all), "/d") == ["renamed"]


def test_an_atomic_write_leaves_old_or_new_bytes_wherever_the_power_fails() -> None:
    for choice in (lose_all, keep_all):
        number = 0
        is_done = False
        while not is_done:
            number += 1
            disk = disk_with("/d/f", b"old")
            disk.lose_power_at_call(number)
            try:
                write_atomically(disk, "/d/f", b"new")
                is_done = True
            except PowerLost:
                pass
            after = disk.restart(choice)
            assert after.read_file("/d/f") in (b"old", b"new")
        assert after.read_file("/d/f") == b"new"
        assert number == 7


def test_the_chosen_call_fails_and_the_next_works() -> None:
    disk = disk_with("/d/f")
    file = disk.open_append("/d/f")
    disk.fail_call(2)
    file.append(b"a")

    with pytest.raises(OSError, match="Input/output") as caught:
        file.append(b"b")

    assert caught.value.errno == errno.EIO
    file.append(b"c")
    assert disk.read_file("/d/f") == b"ac"


def test_what_is_mended_in_time_does_not_fail() -> None:
    disk = disk_with("/d/f")
    file = disk.open_append("/d/f")
    disk.fail_call(1)
    disk.mend()
    file.append(b"a")
    assert disk.read_file("/d/f") == b"a"


def test_a_cut_write_leaves_a_prefix_and_says_so() -> None:
    disk = disk_with("/d/f", b"x")
    file = disk.open_append("/d/f")
    disk.cut_call(1, kept_bytes=2)

    with pytest.raises(OSError, match="No space"):
        file.append(b"abc")

    assert disk.read_file("/d/f") == b"xab"


def test_a_full_disk_takes_what_fits_and_says_so() -> None:
    disk = disk_with("/d/f", b"x", capacity_bytes=4)
    assert disk.free_bytes("/d") == 3
    assert disk.total_bytes("/d") == 4

    with pytest.raises(OSError, match="No space"):
        disk.open_append("/d/f").append(b"abcdef")

    assert disk.read_file("/d/f") == b"xabc"
    disk.remove("/d/f")
    assert disk.free_bytes("/d") == 4


def test_after_power_loss_the_old_disk_does_nothing() -> None:
    disk = disk_with("/d/f", b"1")
    file = disk.open_append("/d/f")
    disk.lose_power_at_call(1)

    with pytest.raises(PowerLost):
        file.append(b"2")
    with pytest.raises(PowerLost):
        file.append(b"3")

    assert disk.restart(keep_all).read_file("/d/f") == b"1"


def test_a_lock_is_held_while_it_is_referenced_and_not_longer() -> None:
    disk = disk_with("/d/f")
    held = disk.lock("/d/.lock")

    with pytest.raises(BlockingIOError):
        disk.lock("/d/.lock")

    del held
    disk.lock("/d/.lock")


def test_a_chilled_file_has_to_be_read_before_it_is_cached() -> None:
    disk = disk_with("/d/f", b"abc")
    file = disk.open_read("/d/f")
    disk.chill("/d/f")

    assert file.read_cached(0, 2) is None
    assert file.read(1, 5) == b"bc"
    assert file.read_cached(0, 2) == b"ab"
    assert file.fileno() == -1


def test_every_call_is_counted() -> None:
    disk = MemoryDisk()
    disk.make_directory("/d")
    disk.open_append("/d/f").append(b"1")

    assert disk.calls == ["make_directory", "open_append", "append"]


def test_a_move_between_directories_may_happen_in_halves_when_power_is_lost() -> None:
    disk = disk_with("/d/f", b"1")
    disk.make_directory("/e")
    disk.sync_directory("/")

    disk.rename("/d/f", "/e/g")
    assert names(disk, "/d") == []
    assert disk.read_file("/e/g") == b"1"
    disk.sync_directory("/e")

    after = disk.restart(lose_all)
    assert names(after, "/d") == ["f"]
    assert names(after, "/e") == ["g"]


def test_the_size_and_time_of_a_file_are_known() -> None:
    disk = disk_with("/d/f", b"abc")
    disk.set_modified("/d/f", 1234)

    assert disk.open_read("/d/f").size() == 3
    assert disk.status("/d/f") == ("f", 3, 1234, False)
    assert disk.status("/d/f/g") is None


def test_a_file_is_no_directory_and_a_directory_no_file() -> None:
    disk = disk_with("/d/f", b"abc")

    with pytest.raises(NotADirectoryError):
        disk.list_directory("/d/f")
    with pytest.raises(IsADirectoryError):
        disk.open_read("/d")
    with pytest.raises(NotADirectoryError):
        disk.rename("/d", "/d/f")
    with pytest.raises(IsADirectoryError):
        disk.rename("/d/f", "/d")
    with pytest.raises(IsADirectoryError):
        disk.remove("/d")
    disk.make_directory("/e")
    with pytest.raises(OSError, match="not empty"):
        disk.remove_directory("/d")
    with pytest.raises(OSError, match="not empty"):
        disk.rename("/e", "/d")
    disk.remove_directory("/e")
    disk.remove_directory("/e")


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["append", "truncate", "read", "rename", "remove", "mkdir", "rmdir", "list", "status"]
        ),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["a", "b", "c"]),
        st.integers(0, 9),
    ),
    max_size=30,
)


@settings(max_examples=100, deadline=None)
@given(steps=STEPS)
def test_it_answers_like_the_real_file_system(
    steps: list[tuple[str, str, str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = str(tmp_path_factory.mktemp("disk"))
    memory = MemoryDisk()
    for end in range(1, len(Path(root).parts)):
        memory.make_directory(os.path.join(*Path(root).parts[: end + 1]))

    for step in steps:
        answers = [outcome(disk, root, step) for disk in (PosixDisk(), memory)]
        assert answers[0] == answers[1], step


def outcome(disk: Disk, root: str, step: tuple[str, str, str, int]) -> object:
    """The visible result of one step: a value, or the class of the error."""
    verb, name, other, number = step
    path = f"{root}/{name}"
    try:
        if verb == "append":
            disk.open_append(path).append(b"0123456789"[:number])
        elif verb == "truncate":
            disk.open_append(path).truncate(number)
        elif verb == "read":
            return disk.open_read(path).read(number // 2, number)
        elif verb == "rename":
            disk.rename(path, f"{root}/{other}")
        elif verb == "remove":
            disk.remove(path)
        elif verb == "mkdir":
            disk.make_directory(path)
        elif verb == "rmdir":
            disk.remove_directory(path)
        elif verb == "status":
            entry = disk.status(path)
            return entry and (entry.name, entry.is_directory)
        else:
            return sorted((e.name, e.is_directory) for e in disk.list_directory(root))
    except OSError as error:
        return type(error)
    return None


def test_the_end_of_a_process_keeps_what_the_power_can_still_take() -> None:
    disk = disk_with("/d/f", b"durable")
    file = disk.open_append("/d/f")
    file.append(b" and not")

    after = disk.end_process()

    with pytest.raises(PowerLost):
        file.append(b"too late")
    assert after.read_file("/d/f") == b"durable and not"
    assert after.restart().read_file("/d/f") == b"durable"


def test_whoever_owns_the_machine_hears_first_of_a_power_loss() -> None:
    disk = disk_with("/d/f")
    heard: list[str] = []
    disk.on_power_lost = lambda: heard.append("power lost")
    disk.lose_power_at_call(1)
    with pytest.raises(PowerLost):
        disk.open_append("/d/f")
    assert heard == ["power lost"]
