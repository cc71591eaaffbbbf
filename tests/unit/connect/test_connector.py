"""What a connector's author may leave out."""

from moldau.connect.connectors.file_stream import FileStreamSink, FileStreamSource


def test_committing_checking_and_closing_do_nothing_unless_written() -> None:
    source = FileStreamSource({"file": "x", "topic": "t"})
    source.commit({}, {})
    source.close()
    FileStreamSink({}).close()
    assert source.poll_interval_s == 1.0


def test_a_source_has_nothing_against_settings_unless_it_asks() -> None:
    assert FileStreamSource.problems({}) == {}
