"""As much of a frame as is asked for where a query was stopped, with its session and JVM in one."""

from py4j.protocol import Py4JError


class InterruptedFrame:
    """Its JVM's thread is interrupted when it sleeps, if it was told so before."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> "InterruptedFrame":
        assert name in ("sparkSession", "sparkContext", "_jvm", "java", "lang", "Thread"), name
        return self

    def currentThread(self) -> "InterruptedFrame":  # noqa: N802 - Java's name
        return self

    def interrupt(self) -> None:
        self.calls.append("interrupt")

    def sleep(self, _ms: int) -> None:
        self.calls.append("sleep")
        if "interrupt" in self.calls:
            raise Py4JError("java.lang.InterruptedException: sleep interrupted")
