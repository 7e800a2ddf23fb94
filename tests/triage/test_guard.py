"""Who may use the viewer: on this machine by its own names, elsewhere with the token, and only from our pages."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from pipeline.triage.web.guard import FORM, HEADERS, KEY, MOST, POLICY, guard

TOKEN = "a-token"


def client(token: str = "") -> Any:
    """A client that reads a page's form fields."""
    app = Flask(__name__)
    guard(app, token)
    app.add_url_rule("/", "read", lambda: "page")
    app.add_url_rule("/", "write", lambda: "written", methods=["POST"])
    return app.test_client()


def form_token(asked: Any) -> str:
    asked.get("/")
    return asked.get_cookie(FORM).value


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:8000", "localhost", "[::1]", "[::1]:8000"])
def test_this_machine_is_known_by_its_own_names(host: str) -> None:
    assert client().get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["example.org", "127.0.0.1.example.org", "localhost.example.org:80", "10.0.0.1", "evil:127.0.0.1", "[::2]:80"],
)
def test_a_foreign_name_is_refused(host: str) -> None:
    """Another site can point a name of its own at this machine (DNS rebinding)."""
    assert client().get("/", headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("name", HEADERS)
def test_every_answer_is_sealed(name: str) -> None:
    for path, status in (("/", 200), ("/none", 404)):
        answer = client().get(path)
        assert (answer.status_code, answer.headers[name]) == (status, HEADERS[name])


@pytest.mark.parametrize(
    "kind", ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]
)
def test_pages_load_nothing_from_elsewhere(kind: str) -> None:
    assert kind in POLICY and "unsafe" not in POLICY


# -- writing -----------------------------------------------------------------------------------------------------------
def test_our_own_form_is_accepted() -> None:
    asked = client()
    assert asked.post("/", data={FORM: form_token(asked)}).data == b"written"


def test_the_token_of_a_form_stays_the_same_within_a_session() -> None:
    asked = client()
    assert form_token(asked) == form_token(asked)


@pytest.mark.parametrize("given", ["", "guess", None])
def test_a_form_without_the_token_of_its_cookie_is_refused(given: str | None) -> None:
    asked = client()
    form_token(asked)
    answer = asked.post("/", data={} if given is None else {FORM: given})
    assert answer.status_code == 403 and b"another session" in answer.data


def test_two_empty_tokens_are_not_equal() -> None:
    assert client().post("/", data={FORM: ""}).status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://localhost"}, 200),
        ({"Origin": "http://localhost:81"}, 403),
        ({"Origin": "http://example.org"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ],
)
def test_another_site_cannot_write(headers: dict[str, str], status: int) -> None:
    asked = client()
    assert asked.post("/", data={FORM: form_token(asked)}, headers=headers).status_code == status


def test_a_huge_form_is_refused() -> None:
    asked = client()
    assert asked.post("/", data={FORM: form_token(asked), "note": "x" * (MOST + 1)}).status_code == 413


# -- a network ---------------------------------------------------------------------------------------------------------
def test_on_a_network_the_token_is_needed() -> None:
    answer = client(TOKEN).get("/")
    assert answer.status_code == 401 and b"open the address with its token" in answer.data


@pytest.mark.parametrize("given", ["", "wrong", TOKEN[:-1], f"{TOKEN}x", "é"])
def test_a_wrong_token_is_refused(given: str) -> None:
    asked = client(TOKEN)
    assert asked.get("/", query_string={"token": given}).status_code == 401
    asked.set_cookie(KEY, "wrong")
    assert asked.get("/").status_code == 401


def test_the_token_moves_from_the_address_into_a_cookie() -> None:
    """URLs are kept in histories and sent as the referrer."""
    asked = client(TOKEN)
    answer = asked.get("/", query_string={"token": TOKEN})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
    cookie = next(text for text in answer.headers.getlist("Set-Cookie") if text.startswith(KEY))
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert asked.get("/").status_code == 200


def test_with_a_token_any_name_will_do() -> None:
    asked = client(TOKEN)
    asked.get("/", query_string={"token": TOKEN})
    asked.set_cookie(KEY, TOKEN, domain="example.org")
    assert asked.get("/", headers={"Host": "example.org"}).status_code == 200
