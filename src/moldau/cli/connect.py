"""Run pipelines of connectors, and control a Connect worker."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from urllib.parse import quote

from moldau.cli.connecting.checks import check_file, try_out
from moldau.cli.connecting.pipeline_file import read_connector, read_pipeline
from moldau.cli.connecting.requests import add_address, address_of
from moldau.cli.connecting.serving import serve_worker
from moldau.cli.terminal.log_options import add_log_options, start_log

_PIPELINE = {
    "group.id": "moldau-pipeline",
    "config.storage.topic": "moldau-pipeline-configs",
    "offset.storage.topic": "moldau-pipeline-offsets",
    "status.storage.topic": "moldau-pipeline-status",
    "offset.storage.partitions": "1",
    "status.storage.partitions": "1",
}
_VERBS = {"pause": "PUT", "resume": "PUT", "stop": "PUT"}


def main(arguments: Sequence[str]) -> int:
    """Run or control connectors; returns the exit code."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options)


def _run(options: argparse.Namespace) -> int:
    worker, connectors = read_pipeline(options.file)
    if options.dry_run:
        return try_out(worker, connectors)
    start_log(options)
    serve_worker({**_PIPELINE, **worker}, connectors, options.users)
    return 0


def _list(options: argparse.Namespace) -> int:
    found = _ask(options, "GET", "connectors?expand=status&expand=info")
    assert isinstance(found, dict)
    if not found:
        print("there are no connectors")
    for name, each in sorted(found.items()):
        status = each.get("status", {})
        states = [task["state"] for task in status.get("tasks", [])]
        state = status.get("connector", {}).get("state", "UNASSIGNED")
        kind = each["info"]["config"].get("connector.class", "").rpartition(".")[2]
        tasks = ", ".join(f"{states.count(each)} {each}" for each in dict.fromkeys(states))
        print(f"{name:24} {state:10} tasks: {tasks or 'none':20} {kind}")
    return 0


def _status(options: argparse.Namespace) -> int:
    found = _ask(options, "GET", f"connectors/{quote(options.name, safe='')}/status")
    assert isinstance(found, dict)
    failed = False
    for label, each in (
        ("connector", found["connector"]),
        *((f"task {task['id']}", task) for task in found["tasks"]),
    ):
        failed = failed or each["state"] == "FAILED"
        print(f"{label}: {each['state']} at {each['worker_id']}")
        if "trace" in each:
            shown = each["trace"] if options.trace else each["trace"].partition("\n")[0]
            print(f"  {shown}")
    return 1 if failed else 0


def _create(options: argparse.Namespace) -> int:
    name, config = read_connector(options.file)
    found = _ask(options, "PUT", f"connectors/{quote(name, safe='')}/config", config)
    assert isinstance(found, dict)
    print(f"{found['name']}: {found['type']}")
    return 0


def _change(options: argparse.Namespace) -> int:
    name, verb = quote(options.name, safe=""), options.command
    if verb == "restart":
        _ask(options, "POST", f"connectors/{name}/restart?includeTasks=true")
    elif verb == "delete":
        _ask(options, "DELETE", f"connectors/{name}")
    else:
        _ask(options, _VERBS[verb], f"connectors/{name}/{verb}")
    return 0


def _show(options: argparse.Namespace) -> int:
    path = "connector-plugins?connectorsOnly=false"
    if options.command != "plugins":
        path = f"connectors/{quote(options.name, safe='')}/{options.command}"
    json.dump(_ask(options, "GET", path), sys.stdout, indent=2)
    print()
    return 0


def _ask(options: argparse.Namespace, method: str, path: str, body: object = None) -> object:
    return address_of(options).ask(method, path, body)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="moldau connect", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    running = commands.add_parser(
        "run",
        help="run the connectors of a file until stopped",
        description="Run the connectors of a file, and no others, until stopped.",
    )
    about = "settings of the worker and its connectors"
    running.add_argument("file", metavar="PIPELINE.toml|json", help=about)
    running.add_argument(
        "--users", metavar="FILE", help="a file of users who may use REST, see docs/connect.md"
    )
    add_log_options(running)
    running.add_argument(
        "--dry-run", action="store_true", help="show the first ten records of each, write nothing"
    )
    running.set_defaults(run=_run)
    checking = commands.add_parser(
        "lint",
        help="say what is wrong in a file",
        description="Say what is wrong in the file of a pipeline or a connector; starts nothing.",
    )
    checking.add_argument(
        "file",
        metavar="PIPELINE.toml|json, CONNECTOR.properties|json",
        help="the file, with a connector or with several",
    )
    checking.set_defaults(run=lambda options: check_file(options.file))
    _add_controls(commands)
    return parser


def _add_controls(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The commands for a worker that runs."""
    for name, run, about in (
        ("list", _list, "list connectors and their states"),
        ("plugins", _show, "list the installed plugins"),
        ("create", _create, "create a connector from a file, or change it"),
        ("status", _status, "show the state of a connector and its tasks"),
        ("config", _show, "show its settings"),
        ("offsets", _show, "show its offsets"),
        ("restart", _change, "restart it and its tasks"),
        ("pause", _change, "pause it"),
        ("resume", _change, "resume it"),
        ("stop", _change, "stop it and release what it holds"),
        ("delete", _change, "delete it; its offsets stay"),
    ):
        described = f"{about[0].upper()}{about[1:]}."
        one = commands.add_parser(name, help=about, description=described)
        add_address(one)
        if name == "create":
            one.add_argument("file", metavar="CONNECTOR.properties|json", help="its settings")
        elif name not in ("list", "plugins"):
            one.add_argument("name", help="the connector")
        if name == "status":
            one.add_argument("--trace", action="store_true", help="all that is known of a failure")
        one.set_defaults(run=run)
