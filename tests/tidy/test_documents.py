"""The document rules find claims that are not true."""

from pathlib import Path

from tidy import documents
from tidy.import_map import MAY_IMPORT
from tidy.plant import places, plant

NOTHING = dict.fromkeys(documents.DOCUMENTS, "")


def rows(state: str, *left_out: str) -> str:
    return "\n".join(f"| `{part}/` | x | {state} |" for part in MAY_IMPORT if part not in left_out)


def test_a_link_or_a_script_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    text = "[a](docs/a.md) [b](docs/b.md) [web](https://example.org/c) [top](#top) `bin/test`"
    root = plant(tmp_path, {**NOTHING, "README.md": text, "docs/a.md": ""})
    assert [found.detail for found in documents.known_files(root)] == [
        "there is no bin/test",
        "there is no docs/b.md",
    ]


def test_a_part_without_a_row_is_found(tmp_path: Path) -> None:
    root = plant(tmp_path, {"ARCHITECTURE.md": rows("planned", "log")})
    assert places(documents.table_of_parts, root) == ["ARCHITECTURE.md"]


def test_a_part_with_the_wrong_state_is_found(tmp_path: Path) -> None:
    files = {"src/moldau/model.py": "", "src/moldau/net/listener.py": ""}
    claims = "| `log/` | x | here |\n| `model.py` | x | here |\n| `net/` | x | planned |"
    text = f"{rows('planned', 'log', 'model', 'net')}\n{claims}"
    root = plant(tmp_path, {"ARCHITECTURE.md": text, **files})
    assert [found.detail for found in documents.table_of_parts(root)] == [
        "log is 'here', but is not there",
        "net is 'planned', but is there",
    ]


def test_a_sentence_that_is_too_long_is_found(tmp_path: Path) -> None:
    long = " ".join(["word"] * documents.WORDS_MAX)
    text = (
        f"# Heading {long} {long}\n\n{long}. {long.capitalize()}\n\n```\n{long} {long}\n```\n"
        f"\n* {long}\n* [{long}](https://example.org/a)\n\n"
        f"| a | {long} |\n|---|---|\n| {long} | b |\n"
        f"\nBegin {long}\n"
    )
    root = plant(tmp_path, {"README.md": "", "docs/a.md": text})
    found = list(documents.short_sentences(root))
    assert [each.detail for each in found] == ["37 words after 'Begin word word word word'"]
