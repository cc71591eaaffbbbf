"""Options as Apache's tools take them: `--name value`, `--name=value`, repeated.

Abbreviated they are taken where Apache's tool of 3.9 reads its options by argparse4j; those
that do it by jopt-simple refuse that, and so do commands that Apache does not have.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import moldau
from moldau.cli.terminal.failure import CommandEnded, CommandFailed

KAFKA_VERSION = "3.9.1"
"""The release whose tools these are like; scripts look at the first word of `--version`."""

_COLUMN = 34
_WIDTH = 100

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Option:
    """One option; without `argument` it is a switch."""

    name: str
    help: str
    argument: str = ""
    is_argument_optional: bool = False
    kind: Callable[[str], object] = str
    aliases: tuple[str, ...] = ()


HELP = Option("help", "Print this help.", aliases=("h",))
VERSION = Option("version", "Print the version.")
BOOTSTRAP_SERVER = Option(
    "bootstrap-server", "The brokers to connect to: host:port,host:port.", "SERVERS"
)
COMMAND_CONFIG = Option(
    "command-config", "A file with settings for the client, as Java's clients read it.", "FILE"
)
BOOTSTRAP_CONTROLLER = Option(
    "bootstrap-controller",
    "Refused: controllers are brokers here.",
    "SERVERS",
)
ZOOKEEPER_TLS = Option(
    "zk-tls-config-file", "A file with zookeeper.ssl. settings, as brokers have them.", "FILE"
)
FORMAT = Option("format", "`text` as Apache's tools print it, or `json`.", "FORMAT")


@dataclass(slots=True)
class Given:
    """What stood on the command line."""

    values: dict[str, list[object]] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def texts(self, name: str) -> list[str]:
        """All arguments of an option, in order."""
        return [str(each) for each in self.values.get(name, []) if each is not None]

    def text(self, name: str, default: str = "") -> str:
        """The argument of an option that may come once."""
        return self.last(name, str, default)

    def number(self, name: str, default: int = 0) -> int:
        """The argument of an option that is a whole number."""
        return self.last(name, int, default)

    def last(self, name: str, kind: type[Value], default: Value) -> Value:
        """The argument of an option that may come once, in its type."""
        found = [each for each in self.values.get(name, []) if each is not None]
        if len(found) > 1:
            raise CommandFailed(
                f"Found multiple arguments for option {name}, but you asked for only one"
            )
        if not found:
            return default
        (value,) = found
        assert isinstance(value, kind), f"option {name} is declared with another type"
        return value

    def refuse_controller(self) -> None:
        """End if a controller is to be asked, which a broker is here."""
        if BOOTSTRAP_CONTROLLER.name in self.values:
            raise CommandFailed(
                "--bootstrap-controller is for clusters whose controllers are no brokers: "
                "use --bootstrap-server"
            )

    def require(self, *names: str) -> None:
        """End unless all of these were given."""
        for name in names:
            if name not in self.values:
                raise CommandFailed(f'Missing required argument "[{name}]"')

    def refuse(self, name: str, *others: str) -> None:
        """End if one of the others was given beside this."""
        for other in others:
            if name in self.values and other in self.values:
                raise CommandFailed(f'Option "[{name}]" can\'t be used with option "[{other}]"')

    def refuse_json(self, beside: str) -> None:
        """End if JSON is asked for where there is none."""
        if self.is_json:
            raise CommandFailed(f"--format json is not there with {beside}")

    @property
    def is_json(self) -> bool:
        """Whether `--format json` was asked for."""
        wanted = self.text("format", "text")
        if wanted not in ("text", "json"):
            raise CommandFailed(f"--format is text or json, not {wanted}")
        return wanted == "json"


class Options:
    """All options of one command."""

    def __init__(
        self,
        command: str,
        purpose: str,
        *options: Option,
        arguments: str = "",
        takes_abbreviations: bool = False,
    ) -> None:
        self.command = command
        self._arguments = f" {arguments}" if arguments else ""
        self.purpose = purpose
        self.options = (*options, HELP, VERSION)
        self._takes_abbreviations = takes_abbreviations
        self._by_name = {
            name: option for option in self.options for name in (option.name, *option.aliases)
        }

    def parse(self, arguments: Sequence[str]) -> Given:
        """What was given; `--help` and `--version` print and end the command."""
        given = Given()
        waiting = list(reversed(arguments))
        while waiting:
            argument = waiting.pop()
            if argument == "--":
                given.rest += reversed(waiting)
                break
            if not self._is_option(argument):
                given.rest.append(argument)
                continue
            self._take(argument.lstrip("-"), waiting, given)
        if "help" in given:
            print(self.help_text())
            raise CommandEnded
        if "version" in given:
            print(f"{KAFKA_VERSION} (Moldau:{moldau.__version__})")
            raise CommandEnded
        return given

    def help_text(self) -> str:
        """What `--help` prints."""
        import textwrap  # noqa: PLC0415 - only `--help` needs it

        purpose = [textwrap.fill(line, _WIDTH) for line in self.purpose.splitlines()]
        lines = [f"usage: moldau {self.command}{self._arguments} [options]", "", *purpose, ""]
        indent = " " * _COLUMN
        for option in sorted(self.options, key=lambda each: each.name):
            label = _label(option)
            if option.argument:
                label += f" [{option.argument}]" * option.is_argument_optional
                label += f" {option.argument}" * (not option.is_argument_optional)
            described = textwrap.wrap(option.help, _WIDTH - _COLUMN) or [""]
            head = f"  {label}"
            if len(head) >= _COLUMN:
                lines.append(head)
                head = ""
            lines.append(f"{head:{_COLUMN}}{described[0]}")
            lines += [indent + line for line in described[1:]]
        return "\n".join(lines)

    def _take(self, text: str, waiting: list[str], given: Given) -> None:
        name, equals, attached = text.partition("=")
        option = self._find(name)
        values = given.values.setdefault(option.name, [])
        if not option.argument:
            if equals:
                raise CommandFailed(f"Option {name} takes no argument")
            values.append(None)
        elif equals:
            values.append(_converted(option, attached))
        elif waiting and not (option.is_argument_optional and self._is_option(waiting[-1])):
            values.append(_converted(option, waiting.pop()))
        elif option.is_argument_optional:
            values.append(None)
        else:
            raise CommandFailed(f"Option {option.name} requires an argument")

    def _is_option(self, argument: str) -> bool:
        """A number such as -1 is an argument, unless an option has that name."""
        if not argument.startswith("-") or argument == "-":
            return False
        return argument.startswith("--") or not argument[1:2].isdigit()

    def _find(self, name: str) -> Option:
        exact = self._by_name.get(name)
        if exact is not None:
            return exact
        meant = {option.name for key, option in self._by_name.items() if key.startswith(name)}
        if len(meant) != 1 or not self._takes_abbreviations:
            raise CommandFailed(f"{name} is not a recognized option")
        return self._by_name[meant.pop()]


def _label(option: Option) -> str:
    if len(option.name) > 1:
        return f"--{option.name}"
    return ", ".join([f"-{option.name}", *(f"--{alias}" for alias in option.aliases)])


def warn(message: str) -> None:
    """A line for the user beside what the command prints."""
    print(message, file=sys.stderr)


def _converted(option: Option, text: str) -> object:
    try:
        return option.kind(text)
    except ValueError:
        raise CommandFailed(f"Cannot parse argument '{text}' of option {option.name}") from None
