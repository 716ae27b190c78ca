"""Who may come in, as the settings say it."""

import pytest

from server.access import Access, access


def settings(address: str = "127.0.0.1", *arguments: str, public: bool = False, **environment: str) -> Access:
    return access(address, {f"HEADLIGHT_{name}": value for name, value in environment.items()}, arguments, public)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.10", "::1", "localhost"])
def test_nobody_is_asked_on_the_machine_itself(address: str) -> None:
    assert settings(address).is_local_only


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.5", "fe80::1", "class.example"])
def test_where_others_come_it_starts_only_by_ones_word(address: str) -> None:
    with pytest.raises(ValueError, match=r"HEADLIGHT_PASSWORD.*HEADLIGHT_PUBLIC=1.*--no-password"):
        settings(address)
    assert not settings(address, "--no-password").is_local_only
    assert not settings(address, public=True).is_local_only
    assert settings(address, PASSWORD="long enough").password == "long enough"


def test_a_name_for_others_lets_others_come() -> None:
    """A proxy on the same machine reaches the loopback for the whole world."""
    with pytest.raises(ValueError, match=r"as class\.example.*HEADLIGHT_PASSWORD"):
        settings(HOSTS="class.example")
    assert settings(HOSTS="localhost,app.localhost").is_local_only
    assert settings(HOSTS="class.example", PASSWORD="long enough").allows("class.example")


@pytest.mark.parametrize(
    ("address", "environment", "match"),
    [
        ("127.0.0.1", {"PASSWORD": "short"}, "has 5 characters: choose one of at least 8"),
        ("127.0.0.1", {"HOSTS": "https://class.example"}, "give host names"),
        ("127.0.0.1", {"HOSTS": "*"}, "give host names"),
        ("127.0.0.1", {"HOSTS": "a.example b.example"}, "give host names"),
    ],
)
def test_what_cannot_be_meant_is_refused(address: str, environment: dict[str, str], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        settings(address, "--no-password" if "HOSTS" in environment else "", **environment)


def test_a_password_and_none_contradict_each_other() -> None:
    with pytest.raises(ValueError, match="remove one of them"):
        settings("0.0.0.0", "--no-password", PASSWORD="long enough")


def test_the_password_is_not_printed() -> None:
    assert "long enough" not in repr(settings(PASSWORD="long enough"))


@pytest.mark.parametrize(
    ("address", "name", "allowed"),
    [
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "LOCALHOST.", True),
        ("127.0.0.1", "headlight.localhost", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "127.200.3.4", True),
        ("127.0.0.1", "::1", True),
        ("127.0.0.1", "evil.example", False),
        ("127.0.0.1", "localhost.evil.example", False),
        ("127.0.0.1", "notlocalhost", False),
        ("127.0.0.1", "127.0.0.1.evil.example", False),
        ("127.0.0.1", "192.168.1.5", False),
        ("127.0.0.1", "0.0.0.0", False),
        ("127.0.0.1", "2130706433", False),  # 127.0.0.1 for a resolver; no browser sends it
        ("0.0.0.0", "192.168.1.5", True),
        ("0.0.0.0", "2001:db8::1", True),
        ("0.0.0.0", "evil.example", False),
        ("192.168.1.5", "192.168.1.5", True),
        ("Lab.example", "lab.example", True),
        ("lab.example", "other.example", False),
    ],
)
def test_names_that_it_answers_to(address: str, name: str, allowed: bool) -> None:
    assert bool(settings(address, "--no-password").allows(name)) is allowed


def test_names_of_others_are_named() -> None:
    access = settings("0.0.0.0", "--no-password", HOSTS=" Class.example, *.school.example ")
    assert access.allows("class.example") and access.allows("a.school.example") and access.allows("a.b.school.example")
    assert not access.allows("school.example") and not access.allows("x.class.example")
    assert not access.allows("evilschool.example")
