"""Files of connectors in each of their forms."""

from pathlib import Path

import pytest

from moldau.cli.connecting.pipeline_file import read_connector, read_pipeline, texts
from moldau.cli.terminal.failure import CommandFailed


def written(directory: Path, name: str, text: str) -> str:
    (directory / name).write_text(text)
    return str(directory / name)


def test_properties_and_both_forms_of_json_say_the_same(tmp_path: Path) -> None:
    wanted = ("a", {"name": "a", "tasks.max": "1"})
    assert read_connector(written(tmp_path, "a.properties", "name=a\ntasks.max=1\n")) == wanted
    assert read_connector(written(tmp_path, "b.json", '{"name":"a","tasks.max":1}')) == wanted
    nested = written(tmp_path, "c.json", '{"name":"a","config":{"tasks.max":"1"}}')
    assert read_connector(nested) == wanted


def test_a_pipeline_has_a_worker_and_connectors(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "p.toml",
        '[worker]\n"group.id" = "g"\n[connectors.a]\ntopic = "t"\ntasks.max = 2\nflag = true\n',
    )
    assert read_pipeline(path) == (
        {"group.id": "g"},
        {"a": {"topic": "t", "tasks.max": "2", "flag": "true", "name": "a"}},
    )
    assert texts({"a": [1, "b"], "c": None}) == {"a": "1,b"}


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.properties", "x=1"), ("a.json", "{"), ("a.json", "[]"), ("a.json", '{"config":5}')],
)
def test_a_connector_file_that_is_none_is_named(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(CommandFailed, match=name):
        read_connector(written(tmp_path, name, text))


@pytest.mark.parametrize("text", ["", "x", "[connectors]\na = 5\n"])
def test_a_pipeline_without_connectors_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CommandFailed, match=r"p\.toml"):
        read_pipeline(written(tmp_path, "p.toml", text))
    with pytest.raises(CommandFailed, match="No such file"):
        read_pipeline(str(tmp_path / "none.toml"))
