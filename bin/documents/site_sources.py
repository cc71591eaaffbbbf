"""The pages of the site: documents as they are, and references that are made of the code."""

import re
import shutil
from pathlib import Path

import yaml

import reference

# Title -> page, in the order of the menu. Pages of the reference are made.
MENU: dict[str, dict[str, str]] = {
    "Start here": {
        "Overview": "index.md",
        "Ten minutes": "start.md",
        "Test with pytest": "testing.md",
    },
    "Guides": {
        "Operate a broker or a cluster": "operations.md",
        "Monitoring": "monitoring.md",
        "Security": "security.md",
        "From Apache's brokers, and back": "migration-brokers.md",
        "Log directories": "log-directories.md",
        "From other clients": "migration.md",
        "Python clients": "clients.md",
        "Topics as columns": "columns.md",
        "Spark": "spark.md",
        "Streams": "streams.md",
        "SQL": "sql.md",
        "Schema registry": "registry.md",
        "All cores of one machine": "one-machine.md",
        "Connect": "connect.md",
        "Console": "console.md",
        "Neighbours": "neighbours.md",
    },
    "Reference": {
        "Settings of brokers": "configuration.md",
        "Settings of clients": "client-settings.md",
        "Errors": "errors.md",
        "Metrics": "reference/metrics.md",
        "Operators of Streams": "streams-operators.md",
        "Command lines": "command-lines.md",
        "All commands": "reference/commands.md",
    },
    "How it works": {
        "Architecture": "ARCHITECTURE.md",
        "Decisions": "decisions/README.md",
        "Formats": "formats.md",
        "Reliability": "reliability.md",
        "Benchmarks": "benchmarks.md",
        "How cost grows": "scale.md",
        "Contributing": "CONTRIBUTING.md",
        "Changelog": "CHANGELOG.md",
    },
}
PROJECT = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
THEME = Path(__file__).parent / "theme"
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


def gather(root: Path, folder: Path) -> Path:
    """Write the pages and the settings of the site; returns the settings."""
    pages = folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(root / "docs", pages)
    for name in PROJECT:
        text = (root / name).read_text(encoding="utf-8")
        (pages / name).write_text(text.replace("](docs/", "]("), encoding="utf-8")
    made = reference.pages()
    (pages / "reference").mkdir()
    for name, text in made.items():
        (pages / "reference" / name).write_text(text, encoding="utf-8")
    for page in pages.rglob("*.md"):
        page.write_text(_within_site(page, pages), encoding="utf-8")
    settings = folder / "site.yml"
    settings.write_text(yaml.safe_dump(_settings(pages, folder, made), sort_keys=False))
    return settings


def complete_menu(pages: Path) -> dict[str, dict[str, str]]:
    """The menu; a page that it does not know yet is a guide, under its own title."""
    known = {page for entries in MENU.values() for page in entries.values()}
    new = {
        path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# "): path.name
        for path in sorted(pages.glob("*.md"))
        if path.name not in known
    }
    return {**MENU, "Guides": MENU["Guides"] | new}


def _within_site(page: Path, pages: Path) -> str:
    """A link to a document that became a page leads there; one to a source becomes its name."""
    depth = len(page.relative_to(pages).parents) - 1

    def rewritten(found: re.Match[str]) -> str:
        text, target = found[1], found[2]
        path, hash_sign, anchor = target.partition("#")
        if ":" in target or not path or (page.parent / path).exists():
            return found[0]
        name = path.rpartition("/")[2]
        if name in PROJECT:
            return f"[{text}]({'../' * depth}{name}{hash_sign}{anchor})"
        return text

    return _LINK.sub(rewritten, page.read_text(encoding="utf-8"))


def _settings(pages: Path, folder: Path, made: dict[str, str]) -> dict[str, object]:
    menu: list[object] = [
        {title: [{name: page} for name, page in entries.items()]}
        for title, entries in complete_menu(pages).items()
    ]
    interfaces = [f"reference/{name}" for name in made if name.startswith("api-")]
    menu.insert(3, {"Python API": interfaces})
    return {
        "site_name": "Moldau",
        "site_description": "Kafka in Python: broker, clients, stream processing",
        "docs_dir": str(pages),
        "site_dir": str(folder / "site"),
        "nav": menu,
        "theme": {"name": None, "custom_dir": str(THEME)},
        "use_directory_urls": False,
        "markdown_extensions": ["tables", "fenced_code", {"toc": {"permalink": True}}],
        "validation": {
            "nav": {"omitted_files": "ignore", "not_found": "warn"},
            "links": {"not_found": "warn", "anchors": "warn", "unrecognized_links": "warn"},
        },
    }
