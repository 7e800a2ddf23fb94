"""Access to the viewer, and what its pages may do.

On loopback, requests must use the machine's own names (against DNS rebinding). Elsewhere, they need the token, which is
made at every start and kept in a cookie. Always, requests that write must come from our pages (checked by origin, and
by a token in the form that equals the cookie's), and pages load nothing from other origins.
"""

from __future__ import annotations

import hmac
import secrets
from urllib.parse import urlsplit

from flask import Flask, Response, abort, g, redirect, request
from werkzeug.wrappers import Response as BaseResponse

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
FORM, KEY = "form_token", "access_token"
#: the maximum size of a form, in bytes
MOST = 256 * 1024
_SAFE = {"GET", "HEAD", "OPTIONS"}


def guard(app: Flask, token: str = "") -> None:
    """Apply these rules to every request of an application; without a `token`, it serves loopback only."""
    app.config["MAX_CONTENT_LENGTH"] = MOST

    @app.before_request
    def admit() -> BaseResponse | None:
        if token:
            if answer := _let_in(token):
                return answer
        elif _name(request.host) not in LOOPBACK:
            abort(403, "unknown host name")
        g.form_token = request.cookies.get(FORM) or secrets.token_urlsafe(24)
        if request.method not in _SAFE:
            _require_our_page()
        return None

    @app.after_request
    def seal(answer: Response) -> Response:
        for name, value in HEADERS.items():
            answer.headers[name] = value
        form_token = g.get("form_token")
        if form_token and request.cookies.get(FORM) != form_token:
            answer.set_cookie(FORM, form_token, httponly=True, samesite="Strict")
        return answer


def _let_in(token: str) -> BaseResponse | None:
    """Move the token from the address into a cookie, or require the cookie."""
    presented = request.args.get("token", "")
    if presented and hmac.compare_digest(presented.encode(), token.encode()):
        answer = redirect("/")
        answer.set_cookie(KEY, token, httponly=True, samesite="Strict")
        return answer
    if not hmac.compare_digest(request.cookies.get(KEY, "").encode(), token.encode()):
        abort(401, "open the address with its token, as the program printed it")
    return None


def _require_our_page() -> None:
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        abort(403, "this request comes from another site")
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.host:
        abort(403, "this request comes from another site")
    from_cookie, from_form = request.cookies.get(FORM, ""), request.form.get(FORM, "")
    if not from_cookie or not hmac.compare_digest(from_cookie.encode(), from_form.encode()):
        abort(403, "this form is from another session: reload the page; your draft is kept")


def _name(host: str) -> str:
    """The host name without the port."""
    return host if host.endswith("]") else host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
