"""Interactive queries: the rows of a table as its changelog topic has them, committed only."""

from moldau.streams.queries.serving import TableServer
from moldau.streams.queries.view import TableView

__all__ = ["TableServer", "TableView"]
