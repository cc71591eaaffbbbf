"""The port: paths and errors."""

from moldau.coordination.tree import BadVersion, parent_path


def test_the_root_is_its_own_parent() -> None:
    assert parent_path("/") == "/"
    assert parent_path("/a") == "/"
    assert parent_path("/a/b") == "/a"


def test_an_error_names_the_node_and_the_operation() -> None:
    error = BadVersion("/a", 3)
    assert (error.path, error.index, str(error)) == ("/a", 3, "/a")
