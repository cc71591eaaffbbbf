"""What a crash leaves half done is finished or undone."""

from moldau.log import leftovers
from moldau.records.batch import stamp
from unit.log.logs import Workbench, batch


def workbench(**files: bytes) -> Workbench:
    """File names by base offset and kind: `log0_swap=b"..."`."""
    bench = Workbench()
    bench.disk.make_directory(bench.folder.path)
    for name, data in files.items():
        kind, _, suffix = name.partition("_")
        offset = int("".join(filter(str.isdigit, kind)))
        kind = kind.rstrip("0123456789")
        bench.overwrite(f"{offset:020d}.{kind}{'.' + suffix if suffix else ''}", data)
    return bench


def at(offset: int, count: int = 1) -> bytes:
    data = batch(*[b"v"] * count)
    stamp(data, 0, base_offset=offset, leader_epoch=0)
    return bytes(data)


def short(names: set[str]) -> set[str]:
    return {name.lstrip("0") or name for name in names}


def test_a_directory_in_order_is_left_alone() -> None:
    bench = workbench(log0=at(0), index0=b"", timeindex0=b"")
    before = bench.names()
    assert set(leftovers.settle(bench.folder)) == before == bench.names()


def test_deleted_cleaned_and_temporary_files_are_removed() -> None:
    bench = workbench(log0=at(0), index0=b"", log5_deleted=b"x", log0_cleaned=b"y")
    bench.overwrite("leader-epoch-checkpoint.tmp", b"0")
    leftovers.settle(bench.folder)
    assert short(bench.names()) == {".log", ".index"}


def test_indexes_without_a_segment_are_removed() -> None:
    bench = workbench(log0=at(0), index0=b"", index7=b"", timeindex7=b"", txnindex7=b"")
    bench.overwrite("00000000000000000007.snapshot", b"")
    assert short(set(leftovers.settle(bench.folder))) == {".log", ".index", "7.snapshot"}
    assert short(bench.names()) == {".log", ".index", "7.snapshot"}


def test_a_swapped_segment_takes_the_place_of_those_it_was_made_from() -> None:
    bench = workbench(
        log0=at(0), index0=b"", log5=at(5), index5=b"", log9=at(9), index9=b"",
        log0_swap=at(0, 7), index0_swap=b"new",
    )  # fmt: skip
    leftovers.settle(bench.folder)
    assert short(bench.names()) == {".log", ".index", "9.log", "9.index"}
    assert bench.read("00000000000000000000.log") == at(0, 7)
    assert bench.read("00000000000000000000.index") == b"new"


def test_a_swap_without_records_still_replaces_its_segment() -> None:
    bench = workbench(log0=at(0), index0=b"", log5=at(5), log0_swap=b"", index0_swap=b"")
    leftovers.settle(bench.folder)
    assert bench.read("00000000000000000000.log") == b""
    assert bench.read("00000000000000000005.log") == at(5)


def test_indexes_follow_a_segment_that_was_swapped_in_already() -> None:
    bench = workbench(log0=at(0, 7), index0_swap=b"new", txnindex0_swap=b"aborted")
    leftovers.settle(bench.folder)
    assert bench.read("00000000000000000000.index") == b"new"
    assert bench.read("00000000000000000000.txnindex") == b"aborted"


def test_swaps_of_a_split_that_is_not_complete_are_dropped() -> None:
    bench = workbench(log0=at(0, 9), index0=b"", log5_swap=at(5), log3_cleaned=at(3))
    leftovers.settle(bench.folder)
    assert short(bench.names()) == {".log", ".index"}
    assert bench.read("00000000000000000000.log") == at(0, 9)
