"""How a server that runs already is reached, and what of it is secret."""

from pathlib import Path

import pytest

from harness.artifacts.endpoint import Endpoint, Secret
from harness.core.errors import EnvironmentProblem

ADDRESS = "https://trino.example:8443"


def endpoint(secret: Secret | None = None, *, address: str = ADDRESS) -> Endpoint:
    return Endpoint("trino-476", address, {"hive": "hive"}, "me", password=secret)


def test_a_password_is_sent_with_the_name_of_its_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORD", "Aladdin")
    # RFC 7617, 2: the scheme, and user and password in base64
    assert endpoint(Secret("WORD")).headers() == {"Authorization": "Basic bWU6QWxhZGRpbg=="}


def test_a_token_is_sent_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a.b.c\n", encoding="ascii")
    (tmp_path / "token").chmod(0o600)
    with_token = Endpoint("trino-476", ADDRESS, {}, token=Secret(file=tmp_path / "token"))
    assert with_token.headers() == {"Authorization": "Bearer a.b.c"}


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "word").write_text("canary", encoding="ascii")
    (tmp_path / "word").chmod(0o640)
    with pytest.raises(EnvironmentProblem, match="chmod 600") as refused:
        Secret(file=tmp_path / "word").read()
    assert "canary" not in str(refused.value)


def test_a_secret_of_several_lines_is_refused_and_not_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD", "canary \n")
    assert Secret("WORD").read() == "canary"
    monkeypatch.setenv("WORD", "canary\nrow")
    (tmp_path / "word").write_text("canary\nrow\n", encoding="ascii")
    (tmp_path / "word").chmod(0o600)
    for secret in (Secret("WORD"), Secret(file=tmp_path / "word")):
        with pytest.raises(EnvironmentProblem, match="has several lines") as refused:
            secret.read()
        assert "canary" not in str(refused.value)


def test_a_secret_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="the variable NO_SUCH_WORD is not set"):
        Secret("NO_SUCH_WORD").read()
    with pytest.raises(EnvironmentProblem, match="nothing: the secret cannot be read"):
        Secret(file=tmp_path / "nothing").read()


@pytest.mark.parametrize("address", ["trino:8080", "https://me:word@trino", "ftp://trino", ""])
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(ValueError, match="allowed: https://host:port"):
        endpoint(address=address)


def test_no_secret_is_sent_in_the_open() -> None:
    with pytest.raises(ValueError, match="secrets are sent to https addresses"):
        endpoint(Secret("WORD"), address="http://trino:8080")


@pytest.mark.parametrize(
    ("address", "reached"),
    [
        (ADDRESS, ("trino.example", 8443)),
        ("https://trino", ("trino", 443)),
        ("http://trino/", ("trino", 80)),
    ],
)
def test_where_it_is_reached(address: str, reached: tuple[str, int]) -> None:
    assert endpoint(address=address).host_and_port == reached


def test_a_certificate_that_is_none_is_named(tmp_path: Path) -> None:
    with_certificate = Endpoint("trino-476", ADDRESS, {}, certificate=tmp_path / "ca.pem")
    with pytest.raises(EnvironmentProblem, match=r"ca\.pem: no certificates can be read"):
        with_certificate.tls()
