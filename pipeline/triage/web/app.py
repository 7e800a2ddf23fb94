"""The application: read candidates, rate them, decide, export. It only appends.

The head of a page is sent at once, slow parts (a list, a diff) after it. The rater's name is kept in a cookie, which is
no authentication. Every stored line has the name and the time.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from flask import Flask, Response, abort, g, redirect, request
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from pipeline.core.decisions import author
from pipeline.core.errors import UserError, unknown
from pipeline.core.names import is_of_commit, parse_repo
from pipeline.core.patches import paths
from pipeline.core.ratings import Review, lacking
from pipeline.core.record import digest
from pipeline.core.records import Candidate
from pipeline.core.review_requests import ReviewAnswer, answer, queue
from pipeline.core.reviews import FIELDS, Standing
from pipeline.core.store import Store, now
from pipeline.core.wcag import CRITERIA
from pipeline.llm.models import SHIPPED
from pipeline.llm.panel import Asked
from pipeline.report import agreement
from pipeline.report.page import environment
from pipeline.triage import exchange, form, sides, stage
from pipeline.triage.asking import Asking
from pipeline.triage.catalog import FILTERS, Catalog, Listed, Shelf
from pipeline.triage.marks import marked
from pipeline.triage.raters.panel import Estimate
from pipeline.triage.web import asks
from pipeline.triage.web.guard import guard

#: candidates on one page of the list; maximum lines of a patch on a page
PAGE, LINES = 50, 6000
REVIEWER = "reviewer"
STYLES = (
    ("pipeline.report", "page.css"),
    ("pipeline.report", "texts.css"),
    ("pipeline.triage.web", "viewer.css"),
)
STATIC = {
    "viewer.css": ("text/css", STYLES),
    "viewer.js": ("text/javascript", (("pipeline.triage.web", "viewer.js"),)),
}


def make_app(store: Store, token: str = "", asker: Asker | None = None) -> Flask:
    """The application over a data directory; with a `token`, it may be served on a network."""
    app = Flask(__name__, static_folder=None, template_folder=None)
    guard(app, token)
    Viewer(store, asker or Asker(asks.Asks())).add_to(app)
    return app


class Asker(NamedTuple):
    """What the viewer needs to ask models: the jobs, the model list, and the environment with the keys."""

    jobs: asks.Asks
    models: Path = SHIPPED
    environ: Mapping[str, str] = os.environ


class Seen(NamedTuple):
    """Digests of the reviewer's own rating and of the final one when a page was loaded; empty if there was none."""

    own: str
    final: str

    def overtaken(self, newest: Seen, is_final: bool) -> Iterator[str]:
        """Messages about what was changed since, and would be overwritten."""
        again = "was changed elsewhere after this page was loaded. Save again to replace it with this one."
        if self.own != newest.own:
            yield f"Your rating {again}"
        if is_final and self.final != newest.final:
            yield f"The final value {again}"


class Viewer:
    """The pages of one catalog, shared between threads."""

    def __init__(self, store: Store, asker: Asker) -> None:
        self.store, self.catalog, self.asker = store, Catalog(store), asker
        self.templates = environment("pipeline.triage.web")
        self.templates.globals |= {"criteria": CRITERIA, "link": _link}

    def add_to(self, app: Flask) -> None:
        routes: tuple[tuple[str, str, Callable[..., Any]], ...] = (
            ("GET", "/", self.listing),
            ("GET", "/statistics", self.statistics),
            ("GET", "/candidate/<name>", self.detail),
            ("POST", "/candidate/<name>", self.rate),
            ("POST", "/candidate/<name>/undo", self.undo),
            ("GET", "/queue", self.queue),
            ("POST", "/queue/<key>", self.answer_request),
            ("GET", "/agreement", self.agreement),
            ("GET", "/ask", self.ask),
            ("POST", "/ask", self.start_asking),
            ("GET", "/ask/state", self.ask_state),
            ("GET", "/export", self.export),
            ("GET", "/export/<name>", self.download),
            ("POST", "/reviewer", self.name_reviewer),
            ("GET", "/static/<name>", self.static),
        )
        for method, path, view in routes:
            app.add_url_rule(path, f"{method} {path}", view, methods=[method])
        app.register_error_handler(UserError, self._bad_input)
        for status in (400, 401, 403, 404, 405, 413):
            app.register_error_handler(status, self._refused)

    # -- reading ----------------------------------------------------------------------------------------------------
    def listing(self) -> Response:
        filters = {name: request.args.get(name, "") for name in FILTERS}
        words = request.args.get("q", "")

        def body() -> str:
            found = self.catalog.search(words, filters)
            number = max(1, request.args.get("page", 1, int))
            pages = max(1, -(-len(found.listed) // PAGE))
            shown = found.listed[(number - 1) * PAGE : number * PAGE]
            return self._part(
                "list", found=found, shown=shown, filters=filters, words=words, number=number, pages=pages
            )

        return self._page("Candidates", body)

    def statistics(self) -> Response:
        """All repositories; for the chosen one, the number of candidates by value of each filter."""
        repo = request.args.get("repo", "")
        if not repo:
            return self._page("Repositories", lambda: self._part("statistics", rows=self._statistics()))
        found = self.catalog.search("", {"repo": repo})
        if not found.listed:
            raise unknown("repository", repo, [str(shelf.repo) for shelf in self.catalog.shelves()])
        merged = Counter(listed.row.merged_at[:4] for listed in found.listed)
        sizes = sorted(listed.row.added + listed.row.removed for listed in found.listed)
        shares = {name: counts.most_common() for name, counts in found.counts.items() if name != "repo" and counts}
        shown = {"repo": repo, "found": found, "shares": shares, "merged": sorted(merged.items()), "sizes": sizes}
        return self._page(repo, lambda: self._part("repository", **shown))

    def detail(self, name: str) -> Response:
        shelf, listed = self.catalog.get(name)
        own = self._own_review(listed.standing)
        return self._detail(shelf, listed, form.values(own), self._newest(listed))

    def queue(self) -> Response:
        divided = [listed for listed in self.catalog.search("", {}).listed if listed.standing.disagreements]
        requests = queue(self.store)
        return self._page("Queue", lambda: self._part("queue", divided=divided, requests=requests, fields=FIELDS))

    def agreement(self) -> Response:
        def body() -> str:
            standings = {
                name: standing for shelf in self.catalog.shelves() for name, standing in shelf.standings.items()
            }
            fields = agreement.agreement_by_field(standings.values())
            size, seed = (request.args.get(name, default, int) for name, default in (("size", 30), ("seed", 1)))
            checks = agreement.model_checks(standings, max(1, size), seed)
            return self._part("agreement", fields=fields, checks=checks, size=size, seed=seed)

        return self._page("Agreement", body)

    def ask(self, wrong: str = "", status: int = 200) -> Response:
        """The models that can be asked about a repository, the estimate, and the jobs so far."""

        def body() -> str:
            selection, message = asks.Selection(request.values.get("repo", "")), wrong
            estimates: list[tuple[Estimate, Decimal]] = []
            try:
                selection = _ask_selection()
                estimates = [(asking.estimate(), asking.spent()) for asking in self._askings(selection)]
            except UserError as error:
                message = message or str(error)
            return self._part(
                "ask",
                selection=selection,
                wrong=message,
                estimates=estimates,
                budget=request.form.get("budget", ""),
                repos=[str(shelf.repo) for shelf in self.catalog.shelves()],
                models=list(asks.priced(self.asker.models, self.asker.environ)),
                jobs=self.asker.jobs.jobs(),
            )

        return self._page("Ask models", body, status=status)

    def ask_state(self) -> Response:
        """The progress of the jobs, as a part of the page."""
        return Response(self._part("asks", jobs=self.asker.jobs.jobs()), mimetype="text/html")

    def export(self) -> Response:
        def body() -> str:
            selection = _export_selection()
            chosen = exchange.chosen(self.catalog.search("", {}).listed, selection)
            return self._part(
                "export",
                selection=selection,
                count=len(chosen),
                preview=exchange.export_text(chosen, selection, self._candidate),
                repos=[str(shelf.repo) for shelf in self.catalog.shelves()],
                forms=exchange.FORMS,
                query=urlencode(request.args.to_dict(flat=False), doseq=True),
                statuses=form.MEANINGS,
            )

        return self._page("Export", body)

    def download(self, name: str) -> Response:
        """The file to download, in the format of this name; with `preview`, the same as plain text."""
        if name not in exchange.FORMS:
            abort(404, f"unknown format {name}")
        selection = _export_selection()._replace(form=name)
        chosen = exchange.chosen(self.catalog.search("", {}).listed, selection)
        answer = Response(exchange.export_text(chosen, selection, self._candidate), mimetype="text/plain")
        if "preview" in request.args:
            answer.headers["X-Count"] = str(len(chosen))
        else:
            answer.headers["Content-Disposition"] = f'attachment; filename="{exchange.FORMS[name]}"'
        return answer

    def static(self, name: str) -> Response:
        if name not in STATIC:
            abort(404, "no such file")
        kind, texts = STATIC[name]
        return Response(_text(texts), mimetype=kind)

    # -- writing ----------------------------------------------------------------------------------------------------
    def rate(self, name: str) -> BaseResponse:
        """Append a rating or the final one. A form that is invalid, or was changed elsewhere, is shown again."""
        shelf, listed = self.catalog.get(name)
        lists = {field: request.form.getlist(field) for field in ("success_criteria", "principles")}
        values, is_final = form.submitted(request.form, lists), request.form.get("act") == "decide"
        seen, newest = Seen(request.form.get("seen", ""), request.form.get("seen_final", "")), self._newest(listed)
        if wrong := list(seen.overtaken(newest, is_final)):
            return self._detail(shelf, listed, values, newest, wrong, 409)
        review = form.review(values, instance_id=listed.row.instance_id, rater=self._reviewer(), time=now())
        if isinstance(review, list):
            return self._detail(shelf, listed, values, seen, review, 422)
        if is_final:
            stage.decide(self.store, shelf.repo, review)
        else:
            stage.append(self.store, shelf.repo, [review])
        notice = "decided" if is_final else "saved"
        return redirect(f"/candidate/{listed.row.instance_id}?said={notice}", 303)

    def undo(self, name: str) -> BaseResponse:
        shelf, listed = self.catalog.get(name)
        if request.form.get("act") == "decide":
            undone = stage.undo_decision(self.store, shelf.repo, listed.row.instance_id)
        else:
            undone = stage.undo(self.store, shelf.repo, listed.row.instance_id, self._reviewer())
        notice = "undone" if undone else "nothing"
        return redirect(f"/candidate/{listed.row.instance_id}?said={notice}", 303)

    def answer_request(self, key: str) -> BaseResponse:
        if key not in {pending.key for pending in queue(self.store)}:
            abort(404, "this review is no longer requested")
        note = request.form.get("note", "").strip()
        answer(self.store, [ReviewAnswer(request=key, reviewer=self._reviewer(), time=now(), note=note)])
        return redirect("/queue", 303)

    def start_asking(self) -> BaseResponse:
        """Let models rate, each within a budget. If that is not possible, the page shows why."""
        try:
            budget = asks.budget(request.form.get("budget", ""))
            self.asker.jobs.start(self._askings(_ask_selection(), budget))
        except UserError as error:
            return self.ask(str(error), 422)
        return redirect("/ask", 303)

    def name_reviewer(self) -> BaseResponse:
        name = " ".join(request.form.get("name", "").split())[:80]
        back = request.form.get("back", "/")
        answer = redirect(back if back.startswith("/") and not back.startswith(("//", "/\\")) else "/", 303)
        answer.set_cookie(REVIEWER, name.encode().hex(), max_age=365 * 86400, httponly=True, samesite="Strict")
        return answer

    # -- parts ------------------------------------------------------------------------------------------------------
    def _detail(
        self,
        shelf: Shelf,
        listed: Listed,
        values: dict[str, Any],
        seen: Seen,
        wrong: list[str] | None = None,
        status: int = 200,
    ) -> Response:
        name, notice = listed.row.instance_id, request.args.get("said", "")
        own = self._own_review(listed.standing)

        def head() -> str:
            candidate = shelf.candidate(listed.row)
            return self._part(
                "rating",
                listed=listed,
                candidate=candidate,
                address=_address(candidate),
                of_commit=is_of_commit(candidate.number),
                mark=lambda text, field: marked(text, field, candidate.a11y_reason),
                sizes={"source": paths(candidate.fix_patch), "tests": paths(candidate.test_patch)},
                own=own,
                seen=seen,
                wrong=wrong or [],
                notice=notice,
                lacks=lacking(own) if own else [],
                **form.template_data(values),
            )

        def body() -> str:
            candidate = shelf.candidate(listed.row)
            patches = {"Source": sides.files(candidate.fix_patch), "Tests": sides.files(candidate.test_patch)}
            return self._part(
                "detail",
                listed=listed,
                patches=patches,
                most=LINES,
                outcome=shelf.outcome(name),
                history=shelf.history(name),
            )

        return self._page(listed.row.title, body, head, status)

    def _page(self, title: str, body: Callable[[], str], head: Callable[[], str] | None = None, status: int = 200):
        """A page in two or three pieces, each sent as soon as it is ready."""
        shell = {
            "title": title,
            "reviewer": self._reviewer(),
            "form_token": g.form_token,
            "path": request.path,
            "here": request.full_path.rstrip("?"),
        }
        first = self._part("head", **shell)
        texts = [self._guarded(piece, g.form_token) for piece in (head, body) if piece]
        if status != 200:  # a refusal is short and is rendered completely before it is sent
            return Response([first, *(text() for text in texts), "</main></body></html>"], status)

        def pieces() -> Iterator[str]:
            yield first
            for text in texts:
                yield text()
            yield "</main></body></html>"

        from flask import stream_with_context

        return Response(stream_with_context(pieces()), mimetype="text/html")

    def _guarded(self, piece: Callable[[], str], token: str) -> Callable[[], str]:
        """Show an unreadable file as an error on the page, whose head was sent already."""

        def rendered() -> str:
            try:
                return piece()
            except UserError as error:
                return self._part("error", message=str(error))

        return rendered

    def _part(self, name: str, **context: Any) -> str:
        token = g.get("form_token", "")
        return self.templates.get_template(f"{name}.html.j2").render(**{"form_token": token, **context})

    def _askings(self, selection: asks.Selection, budget: Decimal | None = None) -> list[Asking]:
        asker = self.asker
        models = [Asked(name, 1, budget, asker.models, asker.environ) for name in selection.models]
        return [Asking(self.store, parse_repo(selection.repo), model, selection.numbers) for model in models]

    def _newest(self, listed: Listed) -> Seen:
        own, final = self._own_review(listed.standing), listed.standing.final
        return Seen(digest(own) if own else "", digest(final) if final else "")

    def _own_review(self, standing: Standing) -> Review | None:
        name = self._reviewer()
        return next((review for review in standing.reviews if review.rater == name), None)

    def _reviewer(self) -> str:
        try:
            return bytes.fromhex(request.cookies.get(REVIEWER, "")).decode() or author()
        except ValueError:
            return author()

    def _candidate(self, listed: Listed) -> Any:
        return self.catalog.get(listed.row.instance_id)[0].candidate(listed.row)

    def _statistics(self) -> list[dict[str, Any]]:
        rows = []
        for shelf in self.catalog.shelves():
            listed = [shelf.listed(row) for row in shelf.rows.values()]
            rows.append(
                {
                    "repo": str(shelf.repo),
                    "candidates": len(listed),
                    "with issue": sum(entry.row.source == "issue" for entry in listed),
                    "rated": sum(bool(entry.standing.reviews) for entry in listed),
                    **{status: sum(entry.status == status for entry in listed) for status in form.MEANINGS},
                    "disagreements": sum(bool(entry.standing.disagreements) for entry in listed),
                    "qualified": sum(entry.state == "qualified" for entry in listed),
                    "not qualified": sum(entry.state.startswith("rejected") for entry in listed),
                }
            )
        return rows

    # -- errors -----------------------------------------------------------------------------------------------------
    def _bad_input(self, error: UserError) -> Response:
        return self._error(str(error), 404)

    def _refused(self, error: Any) -> Response:
        return self._error(error.description or error.name, error.code)

    def _error(self, message: str, status: int) -> Response:
        shell = {"title": "This cannot be shown", "reviewer": author(), "form_token": "", "path": "", "here": "/"}
        texts = [self._part("head", **shell), self._part("error", message=message), "</main></body></html>"]
        return Response("".join(texts), status, mimetype="text/html")


def _address(candidate: Candidate) -> str:
    """Where a candidate is on GitHub: a pull request, or a commit that counts as one."""
    is_commit = is_of_commit(candidate.number)
    place = f"commit/{candidate.merge_sha}" if is_commit else f"pull/{candidate.number}"
    return f"https://github.com/{candidate.repository}/{place}"


def _export_selection() -> exchange.Selection:
    """What to export, from the query."""
    arguments = request.args
    statuses = tuple(arguments.getlist("status")) or ("super",)
    chosen = {name: arguments.get(name, "") for name in ("repo", "group")}
    forms = arguments.get("form", "python")
    return exchange.Selection(
        statuses, form=forms if forms in exchange.FORMS else "python", with_errors="errors" in arguments, **chosen
    )


def _ask_selection() -> asks.Selection:
    """Which models to ask about what, from the query or a form. Raises UserError."""
    arguments = request.values
    return asks.parse_selection(arguments.get("repo", ""), arguments.getlist("model"), arguments.get("pr", ""))


def _link(**changes: Any) -> Markup:
    """The address of this page with some arguments replaced."""
    arguments = {**request.args.to_dict(), **changes}
    return Markup.escape("?" + urlencode({name: value for name, value in arguments.items() if value}))


@cache
def _text(texts: tuple[tuple[str, str], ...]) -> str:
    return "".join(files(package).joinpath(name).read_text(encoding="utf-8") for package, name in texts)
