"""Topologies of ours and of Kafka Streams make the same of the same records."""

from conformance import topology_transcripts as transcripts
from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache


@needs_apache("streams-3.9")
def test_the_transcripts_are_what_kafka_streams_does() -> None:
    with JavaProgram("topologies", "streams-3.9") as program:
        assert set(program.call("names")) == {
            transcripts.read(name).topology for name in transcripts.names()
        }
        for name in transcripts.names():
            transcript = transcripts.read(name)
            assert transcripts.run_kafka_streams(program, transcript) == transcript.outputs, name
