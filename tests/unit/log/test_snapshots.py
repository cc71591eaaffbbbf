"""Snapshots are taken, found, and go with their segments."""

from moldau.log.producer_state import ProducerEntry
from moldau.log.snapshots import Snapshots
from unit.log.logs import Workbench


def workbench() -> Workbench:
    bench = Workbench()
    bench.disk.make_directory(bench.folder.path)
    return bench


def test_the_newest_readable_snapshot_in_bounds_is_found() -> None:
    bench = workbench()
    snapshots = Snapshots(bench.folder)
    assert not snapshots
    for offset in (10, 20, 30, 40):
        snapshots.take(offset, [ProducerEntry(offset)])
    bench.flip("00000000000000000030.snapshot", 12)
    found = snapshots.newest(start_offset=0, end_offset=35)
    assert found is not None
    assert (found[0], found[1][0].producer_id) == (20, 20)
    assert "00000000000000000030.snapshot" not in bench.names()
    assert snapshots.newest(start_offset=20, end_offset=35) is None
    assert snapshots.after(20) == [40]


def test_a_snapshot_is_doomed_or_removed_with_its_file() -> None:
    bench = workbench()
    snapshots = Snapshots(bench.folder)
    for offset in (10, 20):
        snapshots.take(offset, [])
    assert snapshots.doom(10) == [bench.path("00000000000000000010.snapshot.deleted")]
    assert snapshots.doom(10) == []
    snapshots.remove([20])
    assert 20 not in snapshots
    assert bench.names() == {"00000000000000000010.snapshot.deleted"}


def test_the_files_of_a_range_are_handed_out_to_be_synced() -> None:
    bench = workbench()
    snapshots = Snapshots(bench.folder)
    for offset in (10, 20, 30):
        snapshots.take(offset, [])
    assert len(snapshots.files(10, 30)) == 2
    assert snapshots.strays([10, 20]) == []
    assert snapshots.strays([20, 40]) == [10, 30]
