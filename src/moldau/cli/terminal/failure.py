"""Ends of a command that are not its normal end."""


class CommandFailed(Exception):
    """The command cannot go on; the message is the one line that the user sees."""

    def __init__(self, message: str, *, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


class CommandEnded(Exception):
    """All is done already, as after `--help`."""

    def __init__(self, code: int = 0) -> None:
        super().__init__()
        self.code = code
