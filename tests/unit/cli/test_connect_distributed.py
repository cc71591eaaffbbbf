"""The script starts a worker with Java's file of properties."""

import pytest

from moldau.cli import connect_distributed


def test_the_file_is_read_and_served(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    served: list[object] = []
    monkeypatch.setattr(
        connect_distributed,
        "serve_worker",
        lambda properties, users: served.extend([properties, users]),
    )
    path = f"{tmp_path}/worker.properties"
    with open(path, "w") as file:
        file.write("group.id=g\n")
    assert connect_distributed.main(["-daemon", path]) == 0
    assert served == [{"group.id": "g"}, None]
