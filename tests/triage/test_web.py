"""The viewer's requests: reading, rating, deciding, undoing, exporting; and who is refused."""

from __future__ import annotations

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import factories
import pytest

from pipeline.core import journal
from pipeline.core.names import commit_number
from pipeline.core.ratings import CONDITIONS
from pipeline.core.records import Instance, Issue
from pipeline.core.review_requests import ReviewRequest, answers, ask
from pipeline.core.reviews import all_reviews, standings
from pipeline.core.store import Store, read_records, write_records
from pipeline.triage.web.app import make_app
from pipeline.triage.web.serve import is_loopback

REPO = factories.REPO
ONE = "/candidate/acme__ui-1"


def body(answer: Any) -> str:
    return answer.get_data(as_text=True)


def numbers(answer: Any) -> list[int]:
    """The candidates of a list, in its order."""
    return [int(match) for match in re.findall(r'href="/candidate/acme__ui-(\d+)"', body(answer))]


# -- reading -----------------------------------------------------------------------------------------------------------
def test_the_list_is_newest_first_and_finds_by_words_and_filters(client: Any, store: Store) -> None:
    journal.append(
        store.reviews(REPO), [factories.make_review(1), factories.make_review(1, rater="bob", status="rejected")]
    )
    assert numbers(client.get("/")) == [2, 1, 3]
    assert numbers(client.get("/?q=keyb+dialog")) == [2]
    assert numbers(client.get("/?q=%22+OR+NOT+(")) == []
    assert numbers(client.get("/?q=keyb%00+dialog")) == [2]
    assert numbers(client.get("/?status=disagreement")) == numbers(client.get("/?criterion=4.1.2")) == [1]
    assert numbers(client.get("/?disagreement=status&reviewer=bob&principle=robust")) == [1]
    assert numbers(client.get("/?status=not+rated&build=not+built")) == [2, 3]
    assert "not rated (2)" in body(client.get("/"))


def test_changes_on_disk_are_shown(client: Any, store: Store) -> None:
    assert len(numbers(client.get("/"))) == 3
    write_records(store.raw(REPO) / "candidates.jsonl", [factories.make_candidate(9)])
    assert numbers(client.get("/")) == [9] and numbers(client.get("/?q=keyboard")) == []
    instance = factories.make_instance(9)
    write_records(store.dataset(REPO), [instance])
    assert "qualified" in body(client.get("/candidate/acme__ui-9"))
    journal.append(store.reviews(REPO), [factories.make_review(9, rater="zoe")])
    assert "zoe" in body(client.get("/"))


def test_a_detail_shows_evidence_and_both_sides(client: Any) -> None:
    page = body(client.get(ONE))
    assert "<mark>aria</mark>-label" in page
    assert "<del>export const Menu = () =&gt; &lt;nav /&gt;;</del>" in page
    assert "A screen reader says nothing." in page
    assert len(re.findall(r'name="success_criteria"', page)) == 86


def test_an_issue_without_a_number_is_not_linked(client: Any, store: Store) -> None:
    """A foreign benchmark's records contain only the statement."""
    issue = Issue(number=0, title="A menu is silent", body="")
    candidate = factories.make_candidate(9, resolved_issues=(issue,), merge_sha="")
    write_records(store.raw(REPO) / "candidates.jsonl", [candidate])
    page = body(client.get("/candidate/acme__ui-9"))
    assert "Issue: A menu is silent" in page and "/issues/" not in page and "/commit/" not in page


def test_a_commit_that_counts_as_a_pull_request_is_linked(client: Any, store: Store) -> None:
    """Its number is derived from the commit: there is no pull request of that number, and it could not be asked
    about."""
    number = commit_number("c" * 40)
    write_records(store.raw(REPO) / "candidates.jsonl", [factories.make_candidate(number)])
    page = body(client.get(f"/candidate/acme__ui-{number}"))
    assert page.count(f'href="https://github.com/acme/ui/commit/{"c" * 40}"') == 2 and "/pull/" not in page
    assert f'name="pr" value="{number}"' in body(client.get(f"/ask?repo=acme/ui&pr={number}"))


def test_foreign_text_is_escaped(client: Any) -> None:
    page = body(client.get("/candidate/acme__ui-3")) + body(client.get("/"))
    assert "<script>document" not in page and "&lt;script&gt;document" in page


def test_an_unknown_candidate_lists_the_available_ones(client: Any) -> None:
    answer = client.get("/candidate/acme__ui-77")
    assert answer.status_code == 404 and "acme__ui-1" in body(answer)


def test_a_broken_line_is_reported_on_the_page(client: Any, store: Store) -> None:
    store.reviews(REPO).parent.mkdir(parents=True)
    store.reviews(REPO).write_text('{"instance_id": 1}\n')
    page = body(client.get("/"))
    assert "acme__ui.jsonl:1" in page and page.endswith("</html>")


# -- rating ------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("reviews-append-only")
def test_a_rating_is_appended_with_author_and_time(post: Any, store: Store) -> None:
    post("/reviewer", name="Ann  B.", back="/")
    fields = dict.fromkeys(CONDITIONS, "yes") | {"has_unit_test": "yes", "insufficient_evidence": "no"}
    more = {"success_criteria": ["4.1.2", "2.5.8"], "labels": "MTC-like: a text", "confidence": "0.75"}
    answer = post(ONE, act="rate", seen="", status="super", difficulty="no-clue", statement="a\r\nb", **fields, **more)
    assert (answer.status_code, answer.location) == (303, "/candidate/acme__ui-1?said=saved")
    (one,) = all_reviews(store, REPO)
    assert (one.rater, one.status, one.difficulty, one.statement) == ("Ann B.", "super", "no-clue", "a\nb")
    assert one.conditions == dict.fromkeys(CONDITIONS, True) and one.success_criteria == ("4.1.2", "2.5.8")
    assert (one.has_unit_test, one.insufficient_evidence, one.requires_external_setup) == (True, False, None)
    assert one.labels[0].hover_text == "a text" and one.confidence == 0.75 and one.time


@pytest.mark.rule("ratings-agree-with-themselves")
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"status": "super", "S7": "no"}, "undisclosed test identifiers are never super"),
        ({"status": "reworked"}, "reworked needs a problem statement"),
        ({"status": "accepted", "success_criteria": "1.9.99"}, "1.9.99 is not a success criterion"),
        ({"status": "accepted", "confidence": "much"}, "Confidence"),
        ({"status": "great"}, "Status"),
        ({}, "Status: choose one"),
    ],
)
def test_an_invalid_rating_is_shown_again_with_its_text(
    post: Any, store: Store, fields: dict[str, str], words: str
) -> None:
    answer = post(ONE, act="rate", seen="", note="what I wrote", **fields)
    page = body(answer)
    assert answer.status_code == 422 and words in page and "what I wrote</textarea>" in page
    assert not store.reviews(REPO).exists()


def test_a_rating_that_was_changed_elsewhere_is_not_overwritten(post: Any, store: Store) -> None:
    """One reviewer has two pages open: the second one shows a message, keeps its input, and may save it then."""
    post("/reviewer", name="ann")
    post(ONE, act="rate", seen="", status="accepted")
    late = post(ONE, act="rate", seen="", status="rejected", note="late")
    assert late.status_code == 409 and "late</textarea>" in body(late) and len(all_reviews(store, REPO)) == 1
    seen = re.search(r'name="seen" value="(\w+)"', body(late))[1]
    assert post(ONE, act="rate", seen=seen, status="rejected").status_code == 303


def hidden(answer: Any, name: str) -> str:
    """The value of a hidden field."""
    return re.search(rf'name="{name}" value="(\w*)"', body(answer))[1]


def test_a_final_value_that_was_changed_elsewhere_is_not_overwritten(post: Any, client: Any, store: Store) -> None:
    """The second of two people to decide gets a message first. It concerns no rating of their own."""
    for name in ("ann", "bob"):
        post("/reviewer", name=name)
        post(ONE, act="rate", seen="", status="accepted")
    page = client.get(ONE)
    seen = {name: hidden(page, name) for name in ("seen", "seen_final")}
    assert post(ONE, act="decide", **seen, status="accepted").status_code == 303
    wrong = post(ONE, act="decide", **seen, status="reworked")
    assert wrong.status_code == 409 and "The final value was changed elsewhere" in body(wrong)
    assert "Your rating was changed" not in body(wrong)
    assert standings(store, REPO)["acme__ui-1"].status == "accepted"
    assert post(ONE, act="rate", **seen, status="rejected").status_code == 303
    seen = {name: hidden(client.get(ONE), name) for name in ("seen", "seen_final")}
    assert post(ONE, act="decide", **seen, status="rejected").status_code == 303
    assert standings(store, REPO)["acme__ui-1"].status == "rejected"


def test_a_form_that_is_shown_again_does_not_hide_a_new_final_value(post: Any, client: Any, store: Store) -> None:
    post("/reviewer", name="ann")
    post(ONE, act="rate", seen="", status="accepted")
    seen = hidden(client.get(ONE), "seen")
    post(ONE, act="decide", seen=seen, seen_final="", status="accepted")
    again = post(ONE, act="rate", seen=seen, seen_final="", status="reworked")
    assert (again.status_code, hidden(again, "seen_final")) == (422, "")


def test_undo_goes_back_step_by_step(post: Any, client: Any, store: Store) -> None:
    post("/reviewer", name="ann")
    for status in ("accepted", "rejected", "accepted"):
        seen = re.search(r'name="seen" value="(\w*)"', body(client.get(ONE)))[1]
        post(ONE, act="rate", seen=seen, status=status)
    steps = []
    for _ in range(4):
        answer = post(f"{ONE}/undo")
        steps.append((answer.location.rpartition("=")[2], standings(store, REPO).get("acme__ui-1")))
    assert [(said, standing and standing.status) for said, standing in steps] == [
        ("undone", "rejected"),
        ("undone", "accepted"),
        ("undone", None),
        ("nothing", None),
    ]
    assert len(all_reviews(store, REPO)) == 6


@pytest.mark.rule("one-rule-for-what-is-built")
def test_a_disagreement_is_in_the_queue_until_somebody_decides(post: Any, client: Any, store: Store) -> None:
    for name, status in (("ann", "super"), ("bob", "rejected")):
        post("/reviewer", name=name)
        post(ONE, act="rate", seen="", status=status)
    assert numbers(client.get("/queue")) == [1]
    seen = re.search(r'name="seen" value="(\w*)"', body(client.get(ONE)))[1]
    post(ONE, act="decide", seen=seen, status="accepted")
    assert numbers(client.get("/queue")) == []
    standing = standings(store, REPO)["acme__ui-1"]
    assert (standing.status, standing.final.rater) == ("accepted", "bob") and len(standing.reviews) == 2
    post(f"{ONE}/undo", act="decide")
    assert standings(store, REPO)["acme__ui-1"].status is None


def test_an_unrated_candidate_cannot_be_decided(post: Any) -> None:
    assert post(ONE, act="decide", seen="", status="accepted").status_code == 404


def rate(app: Any, number: int) -> int:
    """The status code after a reviewer of its own saves a rating."""
    client = app.test_client()
    client.set_cookie("reviewer", f"r{number}".encode().hex())
    client.get("/")
    token = client.get_cookie("form_token").value
    return client.post(ONE, data={"form_token": token, "seen": "", "status": "accepted"}).status_code


def test_concurrent_ratings_are_all_kept(store: Store) -> None:
    app = make_app(store)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(partial(rate, app), range(24))) == {303}
    assert {review.rater for review in all_reviews(store, REPO)} == {f"r{number}" for number in range(24)}


def test_concurrent_ratings_and_a_build_lose_nothing(store: Store) -> None:
    """While people rate, a build repeatedly reads the ratings and writes its results: no line is lost or half read, and
    the viewer shows the last results."""
    app, done, built = make_app(store), threading.Event(), []

    def build() -> None:
        while not done.is_set():
            rated = standings(store, REPO)  # raises for half a line
            built.append(len(rated["acme__ui-1"].reviews) if rated else 0)
            store.replace_records(store.dataset(REPO), [factories.make_instance(1, repeats=1 + len(built) % 2)])

    with ThreadPoolExecutor(5) as pool:
        building = pool.submit(build)
        codes = list(pool.map(partial(rate, app), range(12)))
        done.set()
        building.result(20)
    assert set(codes) == {303} and built == sorted(built)
    assert {review.rater for review in all_reviews(store, REPO)} == {f"r{number}" for number in range(12)}
    assert len(read_records(store.dataset(REPO), Instance)) == 1
    assert "qualified" in body(app.test_client().get(ONE))


def test_requests_for_a_review_are_answered(post: Any, client: Any, store: Store) -> None:
    asked = ReviewRequest(kind="case", id="menu-1", version="v", why="confidence 0.2", asked_by="pages", time="2025")
    ask(store, [asked])
    assert "confidence 0.2" in body(client.get("/queue"))
    post(f"/queue/{asked.key}", note="it is fine")
    assert answers(store)[asked.key][0].note == "it is fine"
    assert "confidence 0.2" not in body(client.get("/queue"))
    assert post(f"/queue/{asked.key}").status_code == 404


# -- exporting ---------------------------------------------------------------------------------------------------------
def test_the_export_has_only_super_candidates_and_a_preview(client: Any, store: Store) -> None:
    ratings = [factories.make_review(1), factories.make_review(2, status="accepted"), factories.make_review(3)]
    journal.append(store.reviews(REPO), ratings)
    write_records(store.qualification(REPO) / "rejections.jsonl", [factories.make_rejection(3)])
    assert "&#34;acme__ui-1&#34;" in body(client.get("/export"))
    taken = client.get("/export/python")
    assert body(taken) == 'INSTANCES = [\n    "acme__ui-1",\n]\n'
    assert 'filename="instances.py"' in taken.headers["Content-Disposition"]
    assert json.loads(body(client.get("/export/json?errors=on"))) == ["acme__ui-1", "acme__ui-3"]
    assert json.loads(body(client.get("/export/json?status=super&status=accepted&group=status"))) == {
        "accepted": ["acme__ui-2"],
        "super": ["acme__ui-1"],
    }
    (entry,) = json.loads(body(client.get("/export/metadata")))
    assert (entry["instance_id"], entry["review_status"], entry["wcag_codes"]) == ("acme__ui-1", "super", ["4.1.2"])
    assert client.get("/export/python?preview=").headers["X-Count"] == "1"


def test_every_page_can_be_opened(client: Any, store: Store) -> None:
    both = [factories.make_review(1), factories.make_review(1, rater="m", by="model", status="rejected")]
    journal.append(store.reviews(REPO), both)
    for path in ("/", "/statistics", "/queue", "/agreement", "/export", ONE, "/static/viewer.js", "/static/viewer.css"):
        assert client.get(path).status_code == 200 and body(client.get(path)), path
    assert client.get("/static/../app.py").status_code == client.get("/export/exe").status_code == 404


def test_a_repository_is_counted_by_every_filter(client: Any, store: Store) -> None:
    journal.append(store.reviews(REPO), [factories.make_review(1)])
    shown = body(client.get(f"/statistics?repo={REPO}"))
    assert (
        '<a href="/?repo=acme/ui&amp;status=super">super</a></th><td class="number">1</td><td class="number">33%'
        in shown
    )
    assert '<a href="/?repo=acme/ui&amp;criterion=4.1.2">4.1.2 Name, Role, Value</a>' in shown
    assert '<th scope="row">2025</th><td class="number">1</td>' in shown
    assert f'<a href="/statistics?repo={REPO}">' in body(client.get("/statistics"))
    unknown = client.get("/statistics?repo=acme/other")
    assert unknown.status_code == 404 and "acme/ui" in body(unknown)


# -- who is refused ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8011", "10.0.0.1"])
def test_a_foreign_host_name_is_refused(client: Any, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 403
    assert client.get("/", headers={"Host": "127.0.0.1:8011"}).status_code == 200
    assert client.get("/", headers={"Host": "[::1]:8011"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_site_cannot_write(post: Any, store: Store, headers: dict[str, str]) -> None:
    assert post(ONE, headers, act="rate", seen="", status="accepted").status_code == 403
    assert not store.reviews(REPO).exists()
    assert post(ONE, {"Origin": "http://localhost"}, act="rate", seen="", status="accepted").status_code == 303


def test_a_form_without_its_token_is_refused(client: Any, store: Store) -> None:
    fields = {"act": "rate", "seen": "", "status": "accepted"}
    assert client.post(ONE, data=fields).status_code == 403
    client.get("/")
    assert client.post(ONE, data=fields | {"form_token": "guessed"}).status_code == 403
    assert not store.reviews(REPO).exists()


def test_a_network_needs_the_token(store: Store) -> None:
    client = make_app(store, "secret").test_client()
    assert client.get("/").status_code == client.get("/?token=wrong").status_code == 401
    origin = "http://viewer.example"
    let_in = client.get("/?token=secret", base_url=origin)
    assert let_in.status_code == 302 and "HttpOnly" in let_in.headers["Set-Cookie"]
    assert client.get("/", base_url=origin).status_code == 200
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")] == [True] * 3 + [
        False
    ] * 2


def test_every_answer_has_a_strict_policy(client: Any) -> None:
    for path in ("/", "/candidate/acme__ui-77", "/static/viewer.js"):
        policy = client.get(path).headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert not re.search(r"<script>|\son\w+=|style=", body(client.get(ONE)))


def test_redirects_stay_on_the_site(post: Any) -> None:
    for back in ("//evil.example", "/\\evil.example", "https://evil.example"):
        assert post("/reviewer", name="ann", back=back).location == "/"
