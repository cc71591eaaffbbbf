"""Tries a pipeline out: its file without starting it, its first records without writing them."""

from collections.abc import Mapping

from moldau.cli.connecting.pipeline_file import read_connector, read_pipeline
from moldau.cli.terminal.failure import CommandFailed

_EXTRA = "pip install 'moldau[connect]'"


def check_file(path: str) -> int:
    """Print what is wrong with a pipeline, or with a connector; 1 if something is an error."""
    try:
        from moldau.connect.worker.lint import ERROR, lint  # noqa: PLC0415 - --help does without it
        from moldau.connect.worker.plugins import Plugins  # noqa: PLC0415
    except ImportError as error:
        raise CommandFailed(f"{error}: {_EXTRA}") from error
    worker, connectors = _read(path)
    found = lint(worker, connectors, Plugins())
    for each in found:
        print(each)
    errors = sum(each.level == ERROR for each in found)
    count = f"{len(connectors)} connector{'s' if len(connectors) > 1 else ''}"
    print(f"{count}, {errors or 'no'} error{'s' if errors != 1 else ''}")
    return 1 if errors else 0


def _read(path: str) -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    """A TOML file is a pipeline, properties are a connector, and JSON is what it looks like."""
    if path.endswith(".properties"):
        return {}, dict([read_connector(path)])
    try:
        return read_pipeline(path)
    except CommandFailed:
        if not path.endswith(".json"):
            raise
        return {}, dict([read_connector(path)])


def try_out(worker: Mapping[str, str], connectors: Mapping[str, Mapping[str, str]]) -> int:
    """Print the first records of each connector; 1 if one of them fails."""
    try:
        from moldau.connect.errors import ConnectError  # noqa: PLC0415 - --help does without it
        from moldau.connect.worker.plugins import Plugins  # noqa: PLC0415
        from moldau.connect.worker.settings import WorkerSettings  # noqa: PLC0415
        from moldau.connect.worker.trial import first_records  # noqa: PLC0415
    except ImportError as error:
        raise CommandFailed(f"{error}: {_EXTRA}") from error
    failed, plugins = False, Plugins()
    try:
        settings = WorkerSettings(worker).resolved()
        for name, config in connectors.items():
            resolved = settings.providers.resolved(config)
            plugin = plugins.find(config.get("connector.class", ""))
            records = first_records(settings, plugin, resolved)
            print(f"{name}: {plugin.kind}, {len(records) or 'no'} records; nothing is written")
            for each in records:
                failed = failed or each.failure is not None
                print(f"  {each.topic}  ", end="")
                print(f"FAILED: {each.failure}" if each.failure else f"{each.key}  {each.value}")
    except ConnectError as error:
        raise CommandFailed(str(error)) from error
    return 1 if failed else 0
