"""Stop the brokers that this installation has started; how they are found is terminal/servers."""

from unit.cli.command import run


def test_scripts_of_apache_have_these_names() -> None:
    for name in ("kafka-server-stop.sh", "zookeeper-server-stop.sh"):
        done = run(name, "--help")
        assert (done.code, "Sends the signal TERM" in done.stdout) == (0, True)
