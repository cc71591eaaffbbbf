"""Files out of the log wait for their time under another name."""

from moldau.log.doomed import Doomed
from moldau.log.segment import Segment
from moldau.log.snapshots import Snapshots
from unit.log.logs import Workbench


def test_files_are_renamed_at_once_and_handed_out_when_due() -> None:
    bench = Workbench()
    bench.disk.make_directory(bench.folder.path)
    first, second = (Segment.create(bench.folder, offset, now_ms=0) for offset in (0, 10))
    snapshots = Snapshots(bench.folder)
    snapshots.take(0, [])
    snapshots.take(10, [])
    doomed = Doomed(bench.folder)
    assert doomed.next_deadline_ms() is None
    doomed.add([first], snapshots, deadline_ms=50)
    doomed.add([second], snapshots, deadline_ms=70, kept_snapshots=[10])
    kept = {name for name in bench.names() if not name.endswith(".deleted")}
    assert kept == {"00000000000000000010.snapshot"}
    assert doomed.next_deadline_ms() == 50
    assert doomed.take_due(now_ms=49) == []
    due = doomed.take_due(now_ms=50)
    assert len(due) == 4
    assert all(bench.disk.status(path) is not None for path in due)
    assert doomed.next_deadline_ms() == 70
