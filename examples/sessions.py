"""Visits to a site: clicks of a user belong together until he is away for half an hour.

    moldau streams run examples/sessions.py --bootstrap-server localhost:9092

reads clicks, with the user as key and JSON like {"page": "/cart", "millis": 1200} as value, and
writes each visit to visits when it is over.
"""

from datetime import timedelta

from moldau.streams import SessionWindows, StreamsBuilder, Topology, json

application = "visits"
CLICK = json("page string, millis bigint")
VISITS = SessionWindows.of_inactivity_gap_and_grace(timedelta(minutes=30), timedelta(minutes=1))


def topology() -> Topology:
    builder = StreamsBuilder()
    clicks = builder.stream("clicks", value=CLICK, dead_letters="clicks-unreadable")
    visits = clicks.group_by_key().windowed_by(VISITS)
    told = visits.summarize(
        pages="count(*)", millis="sum(value.millis)", cart="bool_or(value.page = '/cart')"
    )
    # The end of a visit is known when it is over: half an hour and a minute of grace later.
    told.suppress_until_window_closes().to_stream().select_key("key.key").to("visits")
    return builder.build()


if __name__ == "__main__":
    print(topology().describe())
