"""The documentation: links lead somewhere, pictures show today's figures, the site is complete."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

import chart
import interfaces
import main as documents
import site_sources
import terminal
from moldau.cli.main import commands
from neighbours.copied import lines_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
PYTHON = re.compile(r"^```(?:python|py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IMPORT = re.compile(r"^\s*from (moldau[\w.]*) import ([\w, ]+)", re.MULTILINE)
NAMED = re.compile(r"`(moldau(?:\.[a-z_]+)+)\.([A-Z]\w+)")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    return {slugify(re.sub(r"[`*]", "", heading), "-") for heading in HEADING.findall(text)}


def broken_links(page: Path) -> Iterator[str]:
    for target in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = target.partition("#")
        if ":" in target:
            continue
        other = (page.parent / path).resolve() if path else page
        if not other.exists() or (anchor and anchor not in anchors(other)):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    assert list(broken_links(page)) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One `two`\n[a](page.md#one-two) [b](page.md#three) [c](other.md) [d](#four)\n"
    )
    assert list(broken_links(page)) == ["page.md#three", "other.md", "#four"]


def test_the_chart_shows_the_figures_of_the_benchmarks() -> None:
    drawn = (ROOT / "docs" / "comparison.svg").read_text(encoding="utf-8")
    assert drawn == chart.read(ROOT), "run bin/docs chart"


def test_the_pictures_of_operators_are_up_to_date(tmp_path: Path) -> None:
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    documents.draw_operators(tmp_path)
    for path in (tmp_path / "docs").rglob("*.*"):
        kept = ROOT / path.relative_to(tmp_path)
        assert kept.read_text() == path.read_text(), "run bin/docs operators"


def test_a_figure_that_is_gone_from_the_benchmarks_is_missed() -> None:
    with pytest.raises(ValueError, match="memory idle"):
        chart.figures("## Broker\n| start to first Metadata answer, s | 1 | 2 | 3 |\n")


def test_the_picture_of_a_terminal_has_every_line() -> None:
    drawn = terminal.draw("bin/x", "1. A <broker>\n\n   after 0.2 s, exactly once\n")
    text = re.sub(r"<[^>]+>", "", drawn)
    assert "A &lt;broker&gt;" in text
    assert "after 0.2 s, exactly once" in text
    printed = (ROOT / "docs" / "quickstart.svg").read_text(encoding="utf-8")
    assert "exactly once" in re.sub(r"<[^>]+>", "", printed)


def test_a_long_table_is_shown_by_its_ends() -> None:
    rows = [f"   09:00:{number:02}  {number}" for number in range(20)]
    shown = terminal.shortened("\n".join(["begin", *rows, "end", "Next:", "more"]))
    lines = shown.splitlines()
    assert lines[:6] == ["begin", *rows[:5]]
    assert lines[6].split() == ["⋮", "14", "more", "windows"]
    assert lines[7:] == [rows[-1], "end"]


def test_every_page_is_in_the_menu() -> None:
    menu = site_sources.complete_menu(ROOT / "docs")
    pages = {page for entries in menu.values() for page in entries.values()}
    there = {path.name for path in (ROOT / "docs").glob("*.md")}
    made = {page for page in pages if page.startswith("reference/")}
    assert there == pages - made - {*site_sources.PROJECT, "decisions/README.md"}


def test_the_site_is_built_with_a_page_for_everything(tmp_path: Path) -> None:
    documents.build_site(ROOT, tmp_path)
    site = tmp_path / "site"
    start = (site / "start.html").read_text(encoding="utf-8")
    assert 'href="operations.html"' in start
    assert not re.search(r'(?:src|href)="https?:', start), "nothing is loaded from elsewhere"
    shown = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    assert all(f">moldau {name}<" in shown for name in commands())
    for name in interfaces.PAGES:
        page = site / "reference" / f"api-{name.replace('.', '-')}.html"
        assert page.read_text(encoding="utf-8").count("<h2") > 0, name
    metrics = (site / "reference" / "metrics.html").read_text(encoding="utf-8")
    assert "kafka_server_replicamanager_underreplicatedpartitions" in metrics


def test_what_the_documents_import_is_in_the_reference_of_the_api() -> None:
    pages = interfaces.PAGES.values()
    there = {f"{module}.{name}" for page in pages for module, name in interfaces.named(page)}
    wanted = set()
    for path in PAGES:
        for block in PYTHON.findall(path.read_text(encoding="utf-8")):
            for module, names in IMPORT.findall(block):
                wanted |= {f"{module}.{name.strip()}" for name in names.split(",")}
        for module, name in NAMED.findall(path.read_text(encoding="utf-8")):
            if (ROOT / "src" / module.replace(".", "/")).with_suffix(".py").is_file():
                wanted.add(f"{module}.{name}")
    # A module is no name of an interface, and errors have a page of their own.
    assert {name for name in wanted - there if not is_module(name)} <= errors()


def is_module(name: str) -> bool:
    path = ROOT / "src" / name.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").is_file()


def errors() -> set[str]:
    """The classes that docs/errors.md has."""
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    return {f"moldau.errors.{name}" for name in re.findall(r"^## (\w+)$", text, re.MULTILINE)}


def test_a_class_is_described_with_what_it_inherits() -> None:
    page = interfaces.pages()["api-moldau.md"]
    admin = page.partition("\n## Admin\n")[2].partition("\n## ")[0]
    assert "### Admin.create_topics\n" in admin, "it is defined in another module"
    assert "### Admin.close\n" in admin
    assert "Create topics" in admin
    assert "_" not in {heading[0] for heading in re.findall(r"^### Admin\.(.*)$", admin, re.M)}
    producer = page.partition("\n## Producer\n")[2].partition("\n## ")[0]
    assert "key_serializer: Serializer[SentKey] | None=None,\n" in producer
    data = interfaces.pages()["api-moldau-client-admin.md"].partition("\n## NewTopic\n")[2]
    assert "    partitions: int = BY_DEFAULT\n" in data
    assert "# Brokers by partition, instead of the two numbers." in data


def test_constants_are_shown_with_their_values() -> None:
    page = interfaces.pages()["api-moldau-client.md"]
    assert "In `moldau.client.offset_lookup`:\n\n```python\nEARLIEST = -2\n" in page


def test_a_name_that_is_gone_is_missed() -> None:
    with pytest.raises(ValueError, match=r"moldau\.model has no Nothing"):
        interfaces.interface_page("x", interfaces.Page("", {"moldau.model": "Nothing"}))


@pytest.mark.parametrize("title", ["FastStream", "Quix Streams", "Bytewax", "Faust", "Celery"])
def test_a_neighbour_in_python_has_one_program_to_copy(title: str) -> None:
    program = lines_of(title, "127.0.0.1:7")
    assert "127.0.0.1:7" in program
    compile(program, title, "exec")


def test_what_the_site_needs_is_imported_by_its_own_name() -> None:
    """`main` is a common name: the one of bin/documents must have won."""
    assert Path(sys.modules["main"].__file__ or "").parent.name == "documents"
