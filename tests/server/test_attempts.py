"""Guessing is slow, and keeps nobody else out for long."""

from server.attempts import IN_TOTAL, PER_ADDRESS, PER_BROWSER, Attempts
from server.classroom.codes import network_of


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def guess(attempts: Attempts, address: str, tries: int) -> int:
    """How many of an address's tries are heard."""
    heard = 0
    for _ in range(tries):
        if not attempts.wait(address):
            attempts.wrong(address)
            heard += 1
    return heard


def test_one_address_is_slowed_down_and_no_other() -> None:
    clock = Clock()
    attempts = Attempts(clock)
    assert guess(attempts, "192.0.2.1", 1000) == PER_ADDRESS.burst
    assert attempts.wait("192.0.2.1") == PER_ADDRESS.retry_seconds and attempts.wait("192.0.2.2") == 0
    clock.now += PER_ADDRESS.retry_seconds
    assert guess(attempts, "192.0.2.1", 1000) == 1


def test_an_hour_of_guesses_from_one_address_never_reaches_the_limit_of_all() -> None:
    clock = Clock()
    attempts, heard = Attempts(clock), 0
    for _ in range(3600):
        heard += guess(attempts, "192.0.2.1", 5)
        assert attempts.wait("192.0.2.2") == 0
        clock.now += 1
    assert heard <= PER_ADDRESS.burst + 3600 / PER_ADDRESS.retry_seconds


def test_many_addresses_share_a_limit_that_is_over_at_once() -> None:
    clock = Clock()
    attempts = Attempts(clock)
    assert sum(guess(attempts, f"192.0.2.{i}", 10) for i in range(100)) == IN_TOTAL.burst
    assert attempts.wait("198.51.100.1") == 1
    clock.now += 1
    assert attempts.wait("198.51.100.1") == 0


def test_it_forgets() -> None:
    """Guesses from ever new addresses fill no memory."""
    clock = Clock()
    attempts, most = Attempts(clock), 0
    for i in range(2000):
        guess(attempts, f"10.0.{i // 256}.{i % 256}", 1)
        most = max(most, len(attempts.debts))
        clock.now += 1
    assert most <= 2 * IN_TOTAL.burst
    clock.now += PER_ADDRESS.burst * PER_ADDRESS.retry_seconds
    attempts.wrong("192.0.2.1")
    assert len(attempts.debts) == 1


def test_a_home_has_one_limit() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1") != network_of("2001:db8:0:1::1")
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1") != network_of("::ffff:192.0.2.2")


def test_one_browser_never_uses_up_what_its_address_may_try() -> None:
    clock = Clock()
    attempts = Attempts(clock)
    for second in range(3600):
        clock.now += 1
        if not attempts.wait("192.0.2.1", "a browser"):
            attempts.wrong("192.0.2.1", "a browser")
        assert attempts.wait("192.0.2.1", "another") == attempts.wait("192.0.2.1") == 0, second
        assert attempts.wait("192.0.2.1", "a browser") <= PER_BROWSER.retry_seconds
    clock.now += PER_BROWSER.burst * PER_BROWSER.retry_seconds
    assert attempts.wait("192.0.2.1", "a browser") == 0
