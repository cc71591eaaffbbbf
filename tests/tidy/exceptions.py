"""Places where a rule would make the code worse, each with its reason.

Keys are (rule, place) as a failing test prints them. An exception that is no longer
needed fails as well.
"""

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("unfinished_work", "tests/tidy/words.py"): "names the words that it forbids",
    ("unfinished_work", "tests/tidy/test_words.py"): "plants the words that the rule finds",
    ("machine_names", "tests/tidy/test_words.py"): "plants the words that the rule finds",
    ("module_lines", "src/moldau/errors.py"): "every error code, as a number and as a class",
    ("module_lines", "src/moldau/net/connection.py"): "one machine, the way of every byte",
    ("parameters", "src/moldau/net/channel.py:Channel.__init__"): "TLS and login go apart",
    ("module_lines", "src/moldau/net/tls_transport.py"): "compiled as one, the way of every byte",
    ("module_lines", "src/moldau/records/kernel.py"): "compiled as one, to inline what it calls",
    ("parameters", "src/moldau/protocol/declaration.py:since"): "the language of declarations",
    ("parameters", "src/moldau/client/producer/producer.py:Producer.__init__"): "what users bring",
    ("parameters", "src/moldau/client/blocking/producer.py:Producer.__init__"): "as the other has",
    ("parameters", "src/moldau/client/consumer/consumer.py:Consumer.__init__"): "what users bring",
    ("parameters", "src/moldau/client/blocking/consumer.py:Consumer.__init__"): "as the other has",
    ("parameters", "src/moldau/client/producer/producer.py:Producer.send"): "all a record may have",
    ("parameters", "src/moldau/client/blocking/producer.py:Producer.send"): "as the other form has",
    ("parameters", "src/moldau/client/producer/producer.py:Producer.send_and_wait"): "as send has",
    ("parameters", "src/moldau/client/blocking/producer.py:Producer.send_and_wait"): "as send has",
    ("parameters", "src/moldau/client/producer/intake.py:Intake.append"): "all a record may have",
    ("parameters", "src/moldau/records/kernel.py:ConsumerRecord.__init__"): "a record's parts",
    ("parameters", "src/moldau/client/record.py:ConsumerRecord.__init__"): "a record's parts",
    ("parameters", "src/moldau/client/producer/producer.py:Producer.send_table"): "a name for each",
    ("parameters", "src/moldau/client/blocking/producer.py:Producer.send_table"): "as the other",
    ("parameters", "src/moldau/client/arrow/reading.py:read_topic"): "what, from where, as what",
    ("parameters", "src/moldau/client/arrow/reading.py:stream_topic"): "as read_topic has them",
    (
        "parameters",
        "src/moldau/broker/access/authorizer.py:AclAuthorizer.may",
    ): "the parts of one question",
    ("parameters", "src/moldau/broker/access/authorizer.py:AllowEveryone.may"): "as the other has",
    ("bare_packages", "src/moldau/__init__.py"): "exports clients lazily, so importing stays light",
    ("bare_packages", "src/moldau/broker/handlers/__init__.py"): "loads each with its first use",
    ("bare_packages", "src/moldau/spark/__init__.py"): "exports lazily: executors start quickly",
    ("bare_packages", "src/moldau/client/consumer/__init__.py"): "exports lazily: see producer",
    ("bare_packages", "src/moldau/client/producer/__init__.py"): "its parts are used without it",
    (
        "parameters",
        "src/moldau/streams/builder.py:StreamsBuilder.table",
    ): "what users may say",
    ("constant_time", "src/moldau/cli/users.py"): "both were typed by the same person",
    ("constant_time", "src/moldau/streams/run/manifest.py"): "of a file, and no secret",
    ("import_cycles", "src/moldau/streams/grouped.py"): "groups are made of tables, and make them",
    ("import_cycles", "src/moldau/streams/joins.py"): "what joins make is a stream or a table",
    ("import_cycles", "src/moldau/streams/stream.py"): "streams become tables, and tables streams",
    ("unused_modules", "src/moldau/broker/access/requirements.py"): "made into docs, and tried",
    ("unused_modules", "src/moldau/streams/test_driver.py"): "a name that users import",
    ("unused_modules", "src/moldau/streams/test_driver_processors.py"): "a name users import",
}
