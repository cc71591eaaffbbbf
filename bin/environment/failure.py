"""The one error of the set-up: something the user can act on."""


class SetupError(Exception):
    """Its message is shown as it is; no traceback would help."""
