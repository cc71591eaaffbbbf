"""Files appear as a whole, in folders that say what is in them."""

from pathlib import Path

from moldau.connect.connectors.files.folders import folder_of, name_of, sync_folder, unfinished
from moldau.connect.connectors.holding import HeldPart
from unit.connect.connectors.records import records


def test_names_sort_as_offsets_do() -> None:
    assert folder_of("/d", HeldPart("t", 3, records(0, 1))) == "/d/t/partition=3"
    assert sorted(map(name_of, (100, 9, 2**62))) == [name_of(9), name_of(100), name_of(2**62)]


def test_what_is_unfinished_does_not_stay(tmp_path: Path) -> None:
    with unfinished(str(tmp_path)) as path:
        Path(path).write_text("x")
        assert Path(path).name.startswith(".")
    with unfinished(str(tmp_path)):
        pass
    sync_folder(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
