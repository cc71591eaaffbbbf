"""The documentation: links lead somewhere, pictures show today's figures, the site is complete."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

import chart
import main as documents
import reference
import site_sources
import terminal
from moldau.cli.main import commands

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
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
    for name in reference.INTERFACES:
        page = site / "reference" / f"api-{name.replace('.', '-')}.html"
        assert page.read_text(encoding="utf-8").count("<h2") > 1, name
    metrics = (site / "reference" / "metrics.html").read_text(encoding="utf-8")
    assert "kafka_server_replicamanager_underreplicatedpartitions" in metrics


def test_a_signature_is_broken_into_lines_where_it_is_long(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    many = ", ".join(f"argument_{number}: dict[str, int] = {{}}" for number in range(4))
    source.write_text(f'def f({many}) -> None:\n    """Do it."""\n\ndef _hidden() -> None: ...\n')
    page = reference.interface_page("moldau.errors", [source])
    assert "    argument_0: dict[str, int]={},\n    argument_1" in page
    assert "_hidden" not in page
    assert "## f" not in reference.interface_page("moldau", [source]), "is not exported"


def test_what_the_site_needs_is_imported_by_its_own_name() -> None:
    """`main` is a common name: the one of bin/documents must have won."""
    assert Path(sys.modules["main"].__file__ or "").parent.name == "documents"
