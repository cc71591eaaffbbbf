"""The word rules read every text file, and only what could be committed."""

import subprocess
from pathlib import Path

import pytest

from tidy import words
from tidy.plant import places, plant


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX"])
def test_unfinished_work_is_found(tmp_path: Path, word: str) -> None:
    files = {"docs/a.md": f"later: {word} more", "docs/b.md": f"{word}LIST is another word"}
    assert places(words.unfinished_work, plant(tmp_path, files)) == ["docs/a.md"]


@pytest.mark.parametrize(
    "text",
    [
        "cd /work/main",
        'open("/root/x")',
        "in /home/jan/kafka",
        "https://pypi.org/simple",
        "https://repo1.maven.org/maven2",
        "https://registry.npmjs.org/",
    ],
)
def test_a_machine_or_a_registry_is_found(tmp_path: Path, text: str) -> None:
    root = plant(tmp_path, {"a.txt": text})
    assert places(words.machine_names, root) == ["a.txt"]


@pytest.mark.parametrize("text", ["src/work/x", "${root}/root.txt", "a/root/b", "org.maven.x"])
def test_other_paths_are_fine(tmp_path: Path, text: str) -> None:
    assert places(words.machine_names, plant(tmp_path, {"a.txt": text})) == []


def test_bytes_are_not_text(tmp_path: Path) -> None:
    (tmp_path / "image.bin").write_bytes(b"\xff TODO \xfe")
    assert places(words.unfinished_work, tmp_path) == []


@pytest.mark.needs("git")
def test_what_git_ignores_is_not_read(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    files = {".gitignore": "/build", "build/a.txt": "TODO", "b.txt": "TODO"}
    assert places(words.unfinished_work, plant(tmp_path, files)) == ["b.txt"]


@pytest.mark.parametrize(
    "line",
    [
        '_log.warning("%s cannot be told to broker %d", what, broker)',
        '_log.info(f"the controller does not hear of {path}")',
        'raise ValueError("nobody knows")',
        'raise ValueError(f"{path} is not understood") from None',
        'Option("all", "Let it go to whoever asks.")',
        'parser.add_argument("--all", help="nobody is asked")',
    ],
)
def test_a_message_in_words_of_our_own_is_found(tmp_path: Path, line: str) -> None:
    root = plant(tmp_path, {"src/moldau/a.py": line})
    assert places(words.plain_messages, root) == ["src/moldau/a.py"]


def test_a_message_in_plain_words_is_fine(tmp_path: Path) -> None:
    text = (
        '_log.warning("Failed to send %s to broker %d: %s", what, broker, error)\ntold = "told"\n'
    )
    assert places(words.plain_messages, plant(tmp_path, {"src/moldau/a.py": text})) == []


@pytest.mark.parametrize(
    "line", ["_is_told = True", "def tell(): ...", "# Whoever asks.", "LAST_HEARD"]
)
def test_a_name_or_comment_in_words_of_our_own_is_found(tmp_path: Path, line: str) -> None:
    assert places(words.plain_code, plant(tmp_path, {"src/moldau/a.py": line})) == [
        "src/moldau/a.py"
    ]


def test_words_that_only_begin_alike_are_fine(tmp_path: Path) -> None:
    files = {"src/moldau/log/a.py": "hearing = stretched = indoors = 'untold'"}
    assert places(words.plain_code, plant(tmp_path, files)) == []


def test_a_document_in_words_of_our_own_is_found(tmp_path: Path) -> None:
    files = {
        "docs/a.md": "The controller tells the brokers.",
        "docs/b.md": "Dead letters, and letters, digits; `told` and\n```\ntold\n```\n",
        "README.md": "whoever",
    }
    assert places(words.plain_documents, plant(tmp_path, files)) == ["README.md", "docs/a.md"]
