"""`a11y-bench dataset`: `agree`, `audit`, `check`, `export`, `grade`, `stats`, `subset`, `lock`, `rebuild`, `show`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from pipeline.core.options import (
    A_FILE,
    PULL_REQUEST,
    Group,
    data_option,
    engine_option,
    is_given,
    jobs_option,
    new_data_option,
    repo_argument,
    repos_argument,
    sandbox_option,
    subset_options,
    tries_option,
    trust_local_option,
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
force_option = click.option("--force", is_flag=True, help="Replace a file, or an earlier export in a folder.")


@click.group(cls=Group)
def command() -> None:
    """Check, export, measure and publish datasets. REPOS are org/repo [default: all]."""


@command.command()
@repos_argument
@click.option("--quick", is_flag=True, help="Only check the records; do not run the tests with oracle and nop.")
@click.option(
    "--stress",
    "repeats",
    type=click.IntRange(1),
    metavar="N",
    help="Only run gold's tests, N times with one job and N times with 8.",
)
@json_option
@sandbox_option
@trust_local_option
@jobs_option
@data_option
def check(
    repos: Any,
    quick: bool,
    repeats: int | None,
    as_json: bool,
    sandbox: str,
    trust_local: bool,
    jobs: int,
    store: Any,
) -> None:
    """Check whether datasets are sound.

    \b
    Checks records, digests, patches and expected results of every instance, then oracle and nop.
    Reads DATA/02_dataset/<repo>.jsonl and the clone; oracle and nop go through stages 03 and 04 and write there.
    --stress runs gold's tests repeatedly instead, alone and under load, to see how often their results change.
    Examples: a11y-bench dataset check grommet/grommet --quick
              a11y-bench dataset check --stress 5 --json
    Exit code: 0 no problems, 1 problems.
    """
    from pipeline.core.cache import cache_root
    from pipeline.core.dataset import built
    from pipeline.dataset import present
    from pipeline.dataset.examine import RunOptions, examine
    from pipeline.dataset.stress import stress
    from pipeline.predict.references import REQUIRED
    from pipeline.sandbox import open_sandbox

    if quick and repeats:
        raise click.UsageError("--quick and --stress exclude each other")
    options = None if quick else RunOptions(open_sandbox(sandbox, cache_root()), jobs, trust_local)
    if options and repeats:
        stressed = [result for repo in built(store, repos) for result in stress(store, repo, repeats, options)]
        present.stressed(stressed, as_json=as_json)
        raise SystemExit(int(any(result.flips or result.not_evaluated for result in stressed)))
    findings = [finding for repo in built(store, repos) for finding in examine(store, repo, options)]
    present.findings(findings, REQUIRED if quick else (), as_json=as_json)
    if findings:
        raise SystemExit(1)


@command.command()
@repos_argument
@click.option(
    "--format",
    "form",
    required=True,
    help="multi-swe-bench or swe-bench (files); harbor, inspect, swe-bench-5 or hugging-face (folders).",
)
@click.option("--output", type=click.Path(path_type=Path), required=True, help="The file or folder to write.")
@subset_options
@force_option
@data_option
def export(repos: Any, form: str, output: Path, subset: Any, force: bool, store: Any) -> None:
    """Export datasets in another benchmark's or program's format.

    \b
    multi-swe-bench (with our fields added) and swe-bench are JSON Lines: `collect --source dataset` reads both.
    harbor, inspect and swe-bench-5 are folders that these programs run, graded by `dataset grade --serve`;
    hugging-face is read by datasets.load_dataset.
    Warns of instances without current verdicts of oracle (resolved) and nop (not resolved): run `dataset check` first.
    Exports contain other people's code and the solutions: use them yourself, do not publish them.
    Example: a11y-bench dataset export grommet/grommet --format harbor --output tasks --limit 10
    """
    from pipeline.core.console import counted, say
    from pipeline.core.dataset import built, read_dataset
    from pipeline.core.errors import unknown
    from pipeline.dataset.files import write_new
    from pipeline.dataset.foreign.folders import FOLDERS, write_folder
    from pipeline.dataset.forms import FORMATS, lines
    from pipeline.dataset.references import require

    if form not in (*FORMATS, *FOLDERS):
        raise unknown("format", form, [*FORMATS, *FOLDERS])
    chosen = {repo: subset.of(read_dataset(store, repo)) for repo in built(store, repos)}
    for repo, records in chosen.items():
        require(store, repo, records, unchecked=True)
    instances = [instance for records in chosen.values() for instance in records]
    if form in FOLDERS:
        write_folder(form, instances, output, replace=force)
    else:
        write_new(output, lines(form, instances), replace=force)
    say(f"{counted(len(instances), 'instance')}: {output}")


@command.command()
@click.argument("instance")
@click.option(
    "--dir", "folder", type=click.Path(path_type=Path, file_okay=False), required=True, help="The folder to write."
)
@force_option
@data_option
def show(instance: str, folder: Path, force: bool, store: Any) -> None:
    """Write INSTANCE as a folder that people can read and compare.

    \b
    Reads DATA/02_dataset/<repo>.jsonl. Writes statement.md, gold.patch, test.patch, tests.csv, environment.toml and
    instance.toml. The folder contains other people's code and the solution: do not publish it.
    Example: a11y-bench dataset show grommet/grommet#7428 --dir 7428
    """
    from pipeline.core.console import say
    from pipeline.core.dataset import read_dataset
    from pipeline.core.errors import unknown
    from pipeline.core.names import parse_instance_id
    from pipeline.dataset.readable import write

    repo, number = parse_instance_id(instance)
    records = {record.instance_id: record for record in read_dataset(store, repo)}
    name = repo.instance_id(number)
    if name not in records:
        raise unknown("instance", name, list(records))
    say(f"{name}: {', '.join(path.name for path in write(records[name], folder, replace=force))}")


@command.command()
@click.argument("instance", required=False)
@click.argument("patch", type=click.File("rb"), required=False)
@click.option("--serve", is_flag=True, help="Serve verdicts over HTTP until interrupted.")
@click.option("--address", default="127.0.0.1:8765", show_default=True, help="The HOST:PORT to serve at.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The token file of an exported folder.",
)
@sandbox_option
@trust_local_option
@tries_option
@jobs_option
@data_option
def grade(
    instance: str | None,
    patch: Any,
    serve: bool,
    address: str,
    token_file: Path | None,
    sandbox: str,
    trust_local: bool,
    tries: int,
    jobs: int,
    store: Any,
) -> None:
    """Give the verdict on one PATCH (a file, or -) for INSTANCE, or serve verdicts to other harnesses.

    \b
    Stage 04 gives the verdict and stores it as usual, but it appears in no table.
    Example: a11y-bench dataset grade grommet__grommet-7428 fix.diff
             a11y-bench dataset grade --serve --address 0.0.0.0:8765 --token-file tasks/grader.token
    Exit code: 0 resolved, 1 not resolved, 75 not evaluated.
    """
    from pipeline.core.cache import cache_root
    from pipeline.core.retry import Patience
    from pipeline.dataset.foreign.grader import Grader
    from pipeline.evaluate.runs import How
    from pipeline.sandbox import open_sandbox
    from pipeline.sandbox.base import DEFAULT

    if serve == bool(instance and patch) or (serve and not token_file):
        raise click.UsageError("name an INSTANCE and a PATCH, or --serve with the --token-file of an exported folder")
    how = How(open_sandbox(sandbox, cache_root()), DEFAULT, Patience(tries))
    make = partial(Grader, store, how, trust_local=trust_local, jobs=jobs)
    if token_file and serve:
        _serve(make(), address, token_file)
    else:
        _grade(make, instance, patch)


def _grade(make: Callable[[], Any], instance: str | None, patch: Any) -> None:
    """Print the verdict on one patch, and exit with its code."""
    import json

    from pipeline.core.console import say
    from pipeline.core.errors import A11yBenchError, UserError
    from pipeline.dataset.foreign.grader import described

    try:
        text = patch.read().decode()
    except UnicodeDecodeError:
        raise UserError("the patch is not UTF-8", path=patch.name, hint="make it with: git diff --binary") from None
    try:
        verdict = described(make().grade(instance, text))
    except UserError:
        raise
    except Exception as error:  # exit code 1 would say that the patch is not resolved
        say(f"not evaluated: {error if isinstance(error, A11yBenchError | OSError) else repr(error)}")
        raise SystemExit(75) from error
    click.echo(json.dumps(verdict, indent=2))
    raise SystemExit(0 if verdict["resolved"] else 75 if verdict["outcome"] == "not_evaluated" else 1)


def _serve(grader: Any, address: str, token_file: Path) -> None:
    """Serve verdicts until interrupted."""
    import re

    from pipeline.core.console import say
    from pipeline.core.errors import UserError
    from pipeline.core.texts import read_text
    from pipeline.dataset.foreign.grader import server

    host, _, port = address.rpartition(":")
    if not host or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise click.BadParameter(f"'{address}' is not HOST:PORT", param_hint="--address")
    if not (token := read_text(token_file).strip()):
        raise UserError("the file is empty, and anybody could ask", path=token_file, hint="export the folder again")
    try:
        opened = server(grader, host, int(port), token)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UserError(f"nothing can be served at '{address}': {why}", field="--address") from None
    with opened as serving:
        say(f"grading at http://{host}:{serving.server_address[1]} (Ctrl-C stops it)")
        serving.serve_forever()


@command.command()
@click.argument("name")
@repos_argument
@click.option("--size", type=click.IntRange(1), default=50, show_default=True, help="The number of instances in lite.")
@click.option("--seed", type=int, default=20251203, show_default=True, help="The seed of the sample.")
@data_option
def subset(name: str, repos: Any, size: int, seed: int, store: Any) -> None:
    """Write the named subset lite (a seeded sample) or reviewed (rated super or reworked).

    \b
    Writes DATA/subsets/NAME.txt and, as a numbered version, NAME-vN.txt. If the instances change, there is a new
    version, and the old ones stay. Campaigns (instances = "lite") and commands (--instances lite) use a subset by
    its name.
    Example: a11y-bench dataset subset lite --size 100
    """
    from pipeline.core.console import say
    from pipeline.core.dataset import built
    from pipeline.dataset.subsets import Sampling, make

    if name == "reviewed" and (given := [option for option in ("size", "seed") if is_given(option)]):
        raise click.UsageError(f"--{given[0]} is for lite: reviewed has all instances with such a rating")
    written = make(store, name, built(store, repos), Sampling(size, seed))
    say(f"{name}, version {written.version}: {len(written.names)} instances: {written.path}")


@command.command()
@repos_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="A table for people, or all counts for programs.",
)
@data_option
def stats(repos: Any, form: str, store: Any) -> None:
    """Show statistics of datasets.

    \b
    Counts tests and their classes, WCAG principles and criteria, statements, eras, years and sizes of gold patches, by
    repository and in total; also shows the test strength if `dataset audit` measured it.
    Reads DATA/02_dataset/ and, for WCAG principles and criteria, DATA/00_viewer/.
    Example: a11y-bench dataset stats --format csv > stats.csv
    """
    from pipeline.core.dataset import built
    from pipeline.dataset import present
    from pipeline.dataset.stats import stats as count

    present.numbers(count(store, built(store, repos)), form)


@command.command()
@repo_argument
@click.option(
    "--path",
    type=click.Path(path_type=Path),
    required=True,
    help="The benchmark: its file of records, or its folder of tasks.",
)
@json_option
@data_option
def agree(repo: Any, path: Path, as_json: bool, store: Any) -> None:
    """Compare our transitions with another benchmark's, and classify each difference.

    \b
    Reads the benchmark's records (what `collect --source dataset` reads), DATA/01_raw/<repo>/, DATA/02_dataset/ and the
    clone. Writes nothing.
    Example: a11y-bench dataset agree PrismJS/prism --path ~/swe-bench-mm
    Exit code: 0 all built instances agree or are explained, 1 some are not.
    """
    from pipeline.dataset import present
    from pipeline.dataset.agree import agree as compare

    compared, problems = compare(store, repo, path)
    present.agreement(compared, problems, as_json=as_json)
    if any(comparison.is_qualified and comparison.word == "unexplained" for comparison in compared):
        raise SystemExit(1)


@command.command()
@repos_argument
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="The folder [default: DATA/locks].")
@click.option("--unchecked", is_flag=True, help="Only warn of instances without current verdicts of oracle and nop.")
@force_option
@data_option
def lock(repos: Any, output: Path | None, unchecked: bool, force: bool, store: Any) -> None:
    """Write the list of each dataset for publication: facts, without third-party code.

    \b
    A list has the facts needed to rebuild a dataset and to check that it is the same, but no patches and no texts of
    other people. Every instance needs current verdicts of oracle (resolved) and nop (not resolved): run `dataset check`
    first.
    Writes <org>__<repo>.jsonl for each repository (see: a11y-bench schema Lock).
    Example: a11y-bench dataset lock grommet/grommet
    """
    from pipeline.core.console import say
    from pipeline.core.dataset import built, read_dataset
    from pipeline.dataset.files import write_all
    from pipeline.dataset.lock import lines
    from pipeline.dataset.references import require
    from pipeline.dataset.set_up import proposed

    lists = {}
    for repo in built(store, repos):
        instances = read_dataset(store, repo)
        require(store, repo, instances, unchecked=unchecked)
        path = output / f"{repo.slug}.jsonl" if output else store.published(repo)
        lists[path] = lines(instances, proposed(store, repo, instances))
    write_all(lists, replace=force)
    for path in lists:
        say(f"written: {path}")


@command.command()
@click.argument("file", metavar="LOCK", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--path", type=click.Path(path_type=Path), help="The repository's clone (never changed).")
@click.option(
    "--github", is_flag=True, help="Take issues from GitHub (GITHUB_TOKEN) and, without --path, the clone too."
)
@click.option(
    "--issues",
    type=A_FILE,
    help="Issues for a clone, as JSON Lines with number, title and, optionally, body, state and labels.",
)
@click.option(
    "--dataset",
    type=click.Path(path_type=Path, exists=True),
    help="The benchmark from which the listed records were imported.",
)
@click.option(
    "--ratings",
    type=A_FILE,
    help="Ratings with rewritten statements (from: a11y-bench triage export --status reworked --format metadata).",
)
@subset_options
@json_option
@sandbox_option
@trust_local_option
@jobs_option
@new_data_option
def rebuild(
    file: Path,
    path: Path | None,
    github: bool,
    issues: Path | None,
    dataset: Path | None,
    ratings: Path | None,
    subset: Any,
    as_json: bool,
    sandbox: str,
    trust_local: bool,
    jobs: int,
    store: Any,
) -> None:
    """Rebuild a dataset from its list, and report every difference.

    \b
    Collects and builds what LOCK lists, or a part of it, and names every fact that differs.
    Writes DATA/01_raw/<repo>/ and DATA/02_dataset/. If DATA has a dataset of this
    repository that you want to keep, use another data directory.
    Examples: a11y-bench dataset rebuild data/locks/grommet__grommet.jsonl --path ~/clones/grommet --limit 3
              a11y-bench dataset rebuild data/locks/radix-ui__primitives.jsonl --github --data rebuilt
    Exit code: 0 the same, or only digests of environments differ; 1 different, or the
    machine failed for some instances (run it again).
    """
    from pipeline.build.qualify import Settings
    from pipeline.core.cache import cache_root
    from pipeline.dataset import present
    from pipeline.dataset.rebuild import read_list, source_of
    from pipeline.dataset.rebuild import rebuild as make_again
    from pipeline.sandbox import open_sandbox
    from pipeline.triage import exchange

    repo, listed = read_list(file)
    entries = subset.of(listed)
    rated = exchange.read(ratings) if ratings else ()
    settings = Settings(open_sandbox(sandbox, cache_root()))
    source = source_of(store, repo, entries, path, issues, dataset, github=github)
    differences = make_again(store, source, repo, entries, settings, ratings=rated, jobs=jobs, trust_local=trust_local)
    present.differences(differences, len(entries), as_json=as_json)
    if any(difference.is_telling for difference in differences):
        raise SystemExit(1)


@command.command()
@repos_argument
@click.option("--pr", "numbers", type=PULL_REQUEST, multiple=True, help="Only this instance (repeatable).")
@click.option(
    "--variants", type=click.IntRange(1), default=20, show_default=True, help="Variants of each kind per instance."
)
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the sample.")
@click.option(
    "--limit", type=click.IntRange(1), help="Run only N variants, drawn by the seed; a larger N adds to the sample."
)
@click.option(
    "--checker/--no-checker", default=True, show_default=True, help="Also give rates with the accessibility assessment."
)
@click.option("--timeout", type=click.IntRange(1), default=1800, show_default=True, help="Seconds for one test run.")
@json_option
@sandbox_option
@trust_local_option
@jobs_option
@tries_option
@engine_option
@data_option
def audit(
    repos: Any,
    numbers: tuple[int, ...],
    variants: int,
    seed: int,
    limit: int | None,
    checker: bool,
    timeout: int,
    as_json: bool,
    sandbox: str,
    trust_local: bool,
    jobs: int,
    tries: int,
    engine: str,
    store: Any,
) -> None:
    """Measure how often our verdicts are wrong, and how strong the tests are.

    \b
    Variants of gold with the same meaning must be resolved, harmful ones must not. Each hunk of gold is left out in
    turn; the share that a test notices is the test strength. Variants go through stage 04 like any patch. Stored test
    runs are reused, so an interrupted audit resumes. docs/verdict-error.md explains the result.
    Writes DATA/02_dataset/<repo>/audit.jsonl (see: a11y-bench schema VerdictAudit).
    Examples: a11y-bench dataset audit grommet/grommet --pr 7428
              a11y-bench dataset audit --limit 200 --json
    Exit code: 0 all have a verdict, 1 some are not evaluated (run it again).
    """
    from pipeline.core.cache import cache_root
    from pipeline.core.dataset import built
    from pipeline.core.retry import Patience
    from pipeline.dataset.audit import rates, run
    from pipeline.evaluate.runs import How
    from pipeline.sandbox import open_sandbox
    from pipeline.sandbox.base import Limits

    how = How(open_sandbox(sandbox, cache_root()), Limits(seconds=timeout), Patience(tries))
    options = run.AuditOptions(variants, seed, limit or 0, numbers, checker)
    by_repo = run.audit(store, built(store, repos), how, options, run.Work(jobs, engine, trust_local))
    records = [record for audits in by_repo.values() for record in audits]
    rates.present(records, as_json=as_json)
    if run.incomplete(records):
        raise SystemExit(1)
