"""The whole way through a real OpenSSH server on loopback, with a home folder of its own (conftest.py)."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import threading
import time
from contextlib import closing, suppress
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner
from factories import REPO, make_instance, make_prediction, make_verdict
from histories import History
from namespaces import until
from remote.conftest import Laptop, until_it_answers
from ssh_double import NAME

from pipeline.core import clones
from pipeline.core.decisions import decide, decided, make
from pipeline.core.errors import A11yBenchError, InfrastructureError, UserError
from pipeline.core.git import show
from pipeline.core.record import Record
from pipeline.core.records import Instance, Verdict
from pipeline.core.retry import Patience
from pipeline.core.store import Store, Unit, read_records, write_bytes, write_json, write_records
from pipeline.llm.ledger import OK, Booking, Key, Ledger, Sent
from pipeline.remote import jobs
from pipeline.remote import push as pushing
from pipeline.remote.cli import command
from pipeline.remote.host import Host
from pipeline.remote.prepare import prepare
from pipeline.remote.pull import pull

pytestmark = pytest.mark.engine("rsync")
JUSTFILE = """\
# waits for a file, and says so
wait FILE:
    @echo begun; until [ -e "{{ FILE }}" ]; do sleep 0.1; done; echo ended

say TEXT:
    @echo "{{ TEXT }}"

alias tell := say

keys:
    @echo "${GITHUB_TOKEN:-}"

wrong:
    @echo "it broke" >&2; exit 4
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two recipes, and the program that runs jobs."""
    history = History(tmp_path / "project")
    history.commit("all", {"justfile": JUSTFILE, jobs.SCRIPT: jobs.LOCAL_SCRIPT.read_bytes(), "gone.py": "old"})
    return history.folder


def wait_for(laptop: Laptop, name: str, state: str) -> jobs.Job:
    until = time.monotonic() + 30
    while (job := jobs.find(laptop.host, name)).state != state:
        assert time.monotonic() < until, job
        time.sleep(0.1)
    return job


# -- the project and its recipes -------------------------------------------------------------------------------------
def test_the_project_goes_there_as_git_tracks_it(laptop: Laptop, project: Path) -> None:
    (project / "untracked.env").write_text("a secret")
    (project / "justfile").write_text("# changed, and not committed\n")
    (laptop.there / "data").mkdir(parents=True)
    (laptop.there / "data/theirs.json").write_text("{}")
    pushing.push_project(laptop.host, project)
    assert (laptop.there / "justfile").read_text() == "# changed, and not committed\n"
    assert (laptop.there / "gone.py").exists() and not (laptop.there / "untracked.env").exists()
    (project / "gone.py").unlink()
    pushing.push_project(laptop.host, project)
    assert not (laptop.there / "gone.py").exists()
    assert (laptop.there / "data/theirs.json").read_text() == "{}"


def test_the_project_is_not_replaced_under_running_jobs(laptop: Laptop, project: Path) -> None:
    """A job imports its modules when it needs them, so it would go on with two versions."""
    pushing.push_project(laptop.host, project)
    name = jobs.begin(laptop.host, "wait there")
    wait_for(laptop, name, "running")
    (project / "justfile").write_text("# changed\n")
    with pytest.raises(UserError, match=rf"jobs run on {NAME}: {name} \(wait there\)") as error:
        pushing.push_project(laptop.host, project)
    assert f"just remote-stop {NAME} {name}" in str(error.value.hint) and "--force" in str(error.value.hint)
    assert (laptop.there / "justfile").read_text() == JUSTFILE
    pushing.push_project(laptop.host, project, force=True)
    (laptop.there / "there").touch()
    wait_for(laptop, name, "ended")
    pushing.push_project(laptop.host, project)
    assert (laptop.there / "justfile").read_text() == "# changed\n"


def test_this_project_works_there(laptop: Laptop) -> None:
    pushing.push_project(laptop.host)
    assert "collect" in laptop.host.bench("--help")
    assert not (laptop.there / ".git").exists()


def test_a_recipe_continues_if_the_connection_is_lost(laptop: Laptop, project: Path) -> None:
    pushing.push_project(laptop.host, project)
    name = jobs.begin(laptop.host, "wait there")
    assert jobs.find(laptop.host).state == "running"
    laptop.server.stop()
    with pytest.raises(InfrastructureError, match=f"no connection to {NAME}"):
        jobs.jobs(laptop.host)
    laptop.server.start()
    until_it_answers(laptop)
    (laptop.there / "there").touch()
    assert wait_for(laptop, name, "ended")[:3] == (name, "ended", "0")
    assert (laptop.there / jobs.FOLDER / name / "log").read_text() == "begun\nended\n"


def test_a_failing_recipe_is_reported(laptop: Laptop, project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pushing.push_project(laptop.host, project)
    assert jobs.follow(laptop.host, jobs.begin(laptop.host, "wrong")) == 4
    assert "it broke" in capfd.readouterr().out
    job = wait_for(laptop, jobs.begin(laptop.host, "wrong"), "ended")
    assert (job.code, job.command) == ("4", "wrong")
    assert jobs.log(laptop.host, job) == 0
    assert "it broke" in capfd.readouterr().out


def test_a_log_is_followed_to_its_end(laptop: Laptop, project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pushing.push_project(laptop.host, project)
    name = jobs.begin(laptop.host, "wait there")
    job = wait_for(laptop, name, "running")
    threading.Timer(1, (laptop.there / "there").touch).start()
    jobs.log(laptop.host, job, follow=True)
    assert capfd.readouterr().out.splitlines()[-1] == "ended"


def test_arguments_of_a_recipe_are_not_executed(laptop: Laptop, project: Path) -> None:
    pushing.push_project(laptop.host, project)
    job = wait_for(laptop, jobs.begin(laptop.host, "tell 'a; touch no'"), "ended")
    assert job.command == "tell 'a; touch no'"
    assert (laptop.there / jobs.FOLDER / job.name / "log").read_text() == "a; touch no\n"
    with pytest.raises(UserError, match="no recipe is given"):
        jobs.begin(laptop.host, "--version")
    with pytest.raises(A11yBenchError, match="there is no recipe 'waits' there: just --list"):
        jobs.begin(laptop.host, "waits 1")
    assert len(jobs.jobs(laptop.host)) == 1


def test_a_server_without_the_project_is_refused(laptop: Laptop) -> None:
    with pytest.raises(A11yBenchError, match="the project is not in .*: just remote-push"):
        jobs.begin(laptop.host, "wait there")
    shutil.rmtree(laptop.there)
    with pytest.raises(A11yBenchError, match="the project is not in .*: just remote-push"):
        jobs.jobs(laptop.host)


@pytest.mark.invariant(6)
def test_keys_are_sent_only_on_request(laptop: Laptop, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "gh-'quoted' $key")
    pushing.push_project(laptop.host, project)
    name = jobs.begin(laptop.host, "keys")
    wait_for(laptop, name, "ended")
    assert (laptop.there / jobs.FOLDER / name / "log").read_text() == "\n"
    assert "GITHUB_TOKEN" in pushing.push_secrets(laptop.host)
    assert (laptop.there / pushing.SECRETS).stat().st_mode & 0o777 == 0o600
    pushing.push_project(laptop.host, project)
    name = jobs.begin(laptop.host, "keys")
    wait_for(laptop, name, "ended")
    assert (laptop.there / jobs.FOLDER / name / "log").read_text() == "gh-'quoted' $key\n"


# -- data ------------------------------------------------------------------------------------------------------------
def book(side: Store, request: str, cost: str) -> None:
    with closing(Ledger(side.ledger)) as ledger:
        if not ledger.key("hash"):
            ledger.issue("hash", Key("alias", "exp", str(REPO), "model-a", "magentless", "settings", "acme__ui-1"))
        ledger.record(Sent(request, "2026-01-01", "hash", "model-a", "llm"), Booking(OK, cost_usd=Decimal(cost)))


def records(path: Path, *those: Record) -> None:
    write_records(path, those)


def test_a_batch_on_a_server_and_work_here_meanwhile_are_both_kept(laptop: Laptop) -> None:
    ours, theirs = laptop.store, laptop.remote
    ours.begin()
    records(ours.dataset(REPO), make_instance(1, title="sent"))
    write_bytes(ours.subset("lite"), b"acme__ui-1\n")
    book(ours, "here", "0.1")
    (ours.root / "05_analysis").mkdir()
    (ours.root / "05_analysis/report.html").write_text("made here")
    assert pushing.push_data(laptop.host, ours) == {"new": 2}
    assert theirs.subset("lite").read_bytes() == b"acme__ui-1\n"
    assert not (theirs.root / "05_analysis").exists()

    # the server builds one anew and one more; here another one is built
    records(theirs.dataset(REPO), make_instance(1, title="built anew"), make_instance(2))
    Unit(theirs.qualification(REPO) / "units/acme__ui-2").keep({"run.log": b"log"}, made_of="all")
    records(theirs.evaluation(REPO, "magentless", "model-a") / "verdicts.jsonl", make_verdict(make_prediction(2)))
    book(theirs, "there", "0.2")
    records(ours.dataset(REPO), make_instance(1, title="sent"), make_instance(3))
    book(ours, "meanwhile", "0.00001")

    done = pull(laptop.host, ours)
    assert done == {"new": 2, "merged": 1, "kept": 1}
    assert [(instance.number, instance.title) for instance in read_records(ours.dataset(REPO), Instance)][:1] == [
        (1, "built anew")
    ]
    assert [instance.number for instance in read_records(ours.dataset(REPO), Instance)] == [1, 2, 3]
    assert len(read_records(ours.evaluation(REPO, "magentless", "model-a") / "verdicts.jsonl", Verdict)) == 1
    assert "0.30001" in ours.costs.read_text()
    assert pull(laptop.host, ours) == {"kept": 4}

    # and back again
    pushing.push_data(laptop.host, ours)
    assert theirs.dataset(REPO).read_bytes() == ours.dataset(REPO).read_bytes()
    assert theirs.costs.read_bytes() == ours.costs.read_bytes()


def test_a_rating_during_a_pull_is_not_taken_for_the_servers(laptop: Laptop) -> None:
    """The copy of the server's data shared its file with ours, so it received the rating, and the server never did."""
    ours = laptop.store
    decide(ours, REPO, [make("acme__ui-1", "exclude", reason="no")])
    pushing.push_data(laptop.host, ours)
    pull(laptop.host, ours)
    (copy,) = ours.root.glob(".remote/*/incoming/00_viewer/decisions/*.jsonl")
    decide(ours, REPO, [make("acme__ui-2", "exclude", reason="no")])
    assert len(copy.read_text().splitlines()) == 1
    pushing.push_data(laptop.host, ours)
    assert decided(laptop.remote, REPO) == decided(ours, REPO)


def test_two_sides_without_data_agree(laptop: Laptop) -> None:
    assert pull(laptop.host, laptop.store) == pushing.push_data(laptop.host, laptop.store) == {}


def test_a_conflict_is_named_by_pull_and_push(laptop: Laptop) -> None:
    for side, title in ((laptop.store, "here"), (laptop.remote, "there")):
        side.begin()
        records(side.dataset(REPO), make_instance(1, title=title))
    with pytest.raises(UserError, match="acme__ui-1"):
        pull(laptop.host, laptop.store)
    with pytest.raises(UserError, match="acme__ui-1"):
        pushing.push_data(laptop.host, laptop.store)
    pushing.push_data(laptop.host, laptop.store, prefer="ours")
    assert read_records(laptop.remote.dataset(REPO), Instance)[0].title == "here"


def test_only_selected_and_missing_files_are_transferred(laptop: Laptop) -> None:
    ours, theirs = laptop.store, laptop.remote
    ours.begin()
    other = make_instance(1).repository.__class__("other", "lib")
    for repo in (REPO, other):
        records(theirs.dataset(repo), make_instance(1, repo))
        Unit(theirs.qualification(repo) / "units/one").keep({"run.log": b"log" * 1000}, made_of="all")
        write_json(theirs.raw(repo) / "source.json", {"kind": "git"})
    theirs.begin()
    pull(laptop.host, ours, stages=["build"], repos=[REPO])
    paths = {str(path.relative_to(ours.root)) for path in ours.root.glob("0*/**/*") if path.is_file()}
    unit = f"02_dataset/{REPO.slug}/units/one"
    assert paths - {f"02_dataset/{REPO.slug}/units/.keep.lock"} == {
        f"02_dataset/{REPO.slug}.jsonl",
        f"{unit}/manifest.json",
        f"{unit}/run.log",
    }
    shutil.rmtree(ours.root / ".remote")
    pull(laptop.host, ours)
    (copy,) = ours.root.glob(f".remote/*/incoming/{unit}/run.log")
    assert copy.samefile(ours.root / unit / "run.log")
    assert len(ours.repositories("02_dataset")) == 2


def test_a_lost_connection_is_tried_again(laptop: Laptop) -> None:
    laptop.remote.begin()
    records(laptop.remote.dataset(REPO), make_instance(1))
    laptop.server.stop()
    threading.Timer(1.5, laptop.server.start).start()
    patient = Host(NAME, laptop.host.folder, Patience(tries=6, seconds=0.5))
    assert pull(patient, laptop.store) == {"new": 1}


def test_a_clone_is_sent_and_found(laptop: Laptop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = History(tmp_path / "clone")
    commit = history.commit("first", {"a.js": "1"})
    history.git("gc", "-q")  # its objects and references are then in packs
    history.git("config", "remote.origin.url", "https://user:password@example.org/acme/ui")
    write_bytes(history.folder / ".git/modules/lib/config", b"url = https://user:password@example.org/acme/lib\n")
    write_json(laptop.store.raw(REPO) / "source.json", {"kind": "git", "commit": commit})
    laptop.store.begin()
    clones.remember(REPO, history.folder)
    pushing.push_data(laptop.host, laptop.store)
    assert pushing.push_clones(laptop.host, laptop.store) == [REPO]
    monkeypatch.setenv("A11Y_BENCH_CLONES", str(laptop.there / "clones"))
    found = clones.find(laptop.remote, REPO)
    assert found.place.is_relative_to(laptop.there)
    assert show(found, commit, "a.js") == "1"
    assert b"password" not in b"".join(path.read_bytes() for path in laptop.there.rglob("*") if path.is_file())


def test_the_state_of_a_server_is_shown(laptop: Laptop, tmp_path: Path) -> None:
    found = dict(reversed(row) for row in prepare(laptop.host, dry_run=True, root=str(tmp_path / "root")))
    assert found["/etc/docker/daemon.json"] == "would"
    assert {"load", "disk", "engine"} <= dict(jobs.machine(laptop.host)).keys()


@pytest.mark.rule("bad-input")
def test_missing_programs_of_a_server_are_named_at_once(laptop: Laptop, tmp_path: Path) -> None:
    """A server without rsync looked like a lost connection, and was waited for."""
    impatient = Host(NAME, laptop.host.folder, Patience(tries=2, seconds=600))
    (tmp_path / "home/.local/bin/uv").unlink()
    path = laptop.there / "bin"
    path.mkdir()
    for program in ("bash", "mkdir", "sh"):
        (path / program).symlink_to(shutil.which(program) or "")
    laptop.server.stop()
    laptop.server.environment = {**laptop.server.environment, "PATH": str(path)}
    laptop.server.configure()
    laptop.server.start()
    until_it_answers(laptop)
    with pytest.raises(UserError, match="(?s)a program is missing on .*rsync.*just remote-setup"):
        impatient.send(laptop.store.root.parent, "anything/")
    with pytest.raises(UserError, match="(?s)a program is missing on .*uv.*just remote-setup"):
        impatient.bench("--help")


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--models", "mine.yaml"], "--with-secrets, which is not given"),
        (["--with-secrets", "--models", "nowhere.yaml"], "nowhere.yaml"),
        (["--without-data", "--repo", "acme/ui"], "have no effect"),
    ],
)
def test_contradictory_options_send_nothing(words: list[str], message: str) -> None:
    result = CliRunner().invoke(command, ["push", "no-such-server", *words])
    assert result.exit_code and message in f"{result.output}{result.exception}"
    assert "no-such-server" not in f"{result.output}{result.exception}"


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("ssh: Could not resolve hostname x: Name or service not known", "~/.ssh/config"),
        ("me@x: Permission denied (publickey,password).", "ssh-copy-id server"),
        ("Host key verification failed.", "ssh server"),
    ],
)
def test_permanent_failures_are_reported_at_once(
    tmp_path: Path, message: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for program in ("ssh", "rsync"):  # rsync hands on what its ssh says
        (tmp_path / program).write_text(f"#!/bin/sh\necho '{message}' >&2\nexit 255\n")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    host = Host("server", patience=Patience(tries=2, seconds=600))
    for attempt in (lambda: host.run("true"), lambda: host.send(tmp_path, "")):
        with pytest.raises(UserError) as error:
            attempt()
        assert message in error.value.message and hint in (error.value.hint or "")


def test_an_interrupted_transfer_is_resumed(laptop: Laptop, tmp_path: Path) -> None:
    """The connection breaks while a large file is under way: its first part is not sent again."""
    wrapper, log = laptop.server.folder / "rsync", tmp_path / "partial"
    find = f"find {laptop.store.root} -path '*.rsync-partial/*' -size +1M >> {log}"
    wrapper.write_text(f'#!/bin/sh\n{find}\nexec /usr/bin/rsync --bwlimit=4m "$@"\n')
    wrapper.chmod(0o755)
    laptop.remote.begin()
    content = random.Random(18).randbytes(8_000_000)
    write_bytes(laptop.remote.root / "02_dataset/large.log", content)

    def cut() -> None:
        until(lambda: any(size > 2**21 for size in sizes(laptop.store.root, ".large.log.*")))
        for process in connections(laptop.server.folder):
            os.kill(process, signal.SIGKILL)

    cutting = threading.Thread(target=cut)
    cutting.start()
    assert pull(laptop.host, laptop.store) == {"new": 1}
    cutting.join()
    assert (laptop.store.root / "02_dataset/large.log").read_bytes() == content
    assert "large.log" in log.read_text()


def connections(folder: Path) -> list[int]:
    """The processes of the `ssh` in this folder."""
    listed = subprocess.run(["pgrep", "--full", f"^/usr/bin/ssh -F {folder}"], capture_output=True, text=True)
    return [int(process) for process in listed.stdout.split()]


def sizes(folder: Path, pattern: str) -> list[int]:
    """The sizes of files that may vanish."""
    found = []
    for path in folder.rglob(pattern):
        with suppress(FileNotFoundError):
            found.append(path.stat().st_size)
    return found


@pytest.mark.parametrize("name", ["", "-oProxyCommand=touch /tmp/no", "a b"])
def test_a_host_is_a_name(name: str) -> None:
    with pytest.raises(UserError, match="is not a host"):
        Host(name)
