"""A file is an application if it defines a topology."""

from pathlib import Path

import pytest

from moldau.streams.run.app import NoTopology, load_app

BUILDER = """
from moldau.streams import StreamsBuilder
builder = StreamsBuilder()
builder.stream("a").to("b")
"""


def file(directory: Path, text: str) -> str:
    path = directory / "copying.py"
    path.write_text(text)
    return str(path)


def test_a_file_gives_its_name_to_the_application(tmp_path: Path) -> None:
    path = file(tmp_path, f"{BUILDER}\ntopology = builder.build()\n")
    assert load_app(path).application == "copying"
    assert load_app(path, "other").application == "other"
    assert len(load_app(path).topology.nodes) == 2


def test_a_file_may_name_the_application_and_build_by_a_function(tmp_path: Path) -> None:
    text = f"{BUILDER}\napplication = 'mine'\ndef topology():\n    return builder.build()\n"
    app = load_app(file(tmp_path, text))
    assert (app.application, len(app.topology.sinks)) == ("mine", 1)


def test_a_file_that_runs_itself_is_not_run_twice(tmp_path: Path) -> None:
    text = (
        f"{BUILDER}\ntopology = builder.build()\nif __name__ == '__main__':\n    raise SystemExit\n"
    )
    assert load_app(file(tmp_path, text)).application == "copying"


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(NoTopology, match="must define `topology`"):
        load_app(file(tmp_path, "topology = 1\n"))
    with pytest.raises(NoTopology, match="there is no file"):
        load_app(str(tmp_path / "nothing.py"))


def test_a_file_that_is_no_python_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_text("topology = 1\ntopology = = 2\n")
    with pytest.raises(NoTopology, match=r"app\.py, line 2: invalid syntax"):
        load_app(str(file))
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(NoTopology, match=r"app\.py.*: "):
        load_app(str(file))
