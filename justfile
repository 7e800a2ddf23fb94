# A11y-Bench: real accessibility pull requests as executable repair tasks.
# Most recipes call the console program and pass options on; `uv run a11y-bench COMMAND --help` lists all options.
# REPO is org/repo or org__repo. MODEL is a name in docker/proxy/models.yaml, or oracle, or nop.

set positional-arguments
set quiet
set no-exit-message

import 'pipeline/collect/collect.just'
import 'pipeline/triage/triage.just'
import 'pipeline/build/build.just'
import 'pipeline/dataset/dataset.just'
import 'pipeline/predict/agents.just'
import 'pipeline/evaluate/evaluation.just'
import 'pipeline/analyze/analysis.just'
import 'pipeline/pages/pages.just'
import 'pipeline/submission/submission.just'
import 'pipeline/remote/remote.just'
import 'docker/docker.just'

bench := "uv run a11y-bench"

# what checks, tests and benchmarks run with. Images of containers often turn off bytecode; then, each of the many
# processes that tests start would compile all that it imports
dev := "PYTHONDONTWRITEBYTECODE= uv run --all-extras --group test"

# list the recipes
[private]
default:
    @just --list --unsorted

# run all stages on the embedded benchmark; needs no engine, tokens or keys
[group('start')]
demo *ARGS:
    {{ bench }} demo "$@"

# check what this machine has, and show how to get what is missing
[group('start')]
doctor:
    {{ bench }} doctor

# convert a data directory of an older version
[group('start')]
migrate *ARGS:
    {{ bench }} migrate "$@"

# run all stages for one repository and model
[group('start')]
bench-run REPO MODEL *ARGS:
    {{ bench }} run "$@"

# run everything that a campaign file asks for; --plan shows the steps and their cost first
[group('start')]
campaign FILE *ARGS:
    {{ bench }} campaign "$@"

# run the checks, and all tests that are neither long nor need a container engine (about 7 minutes on two cores)
[group('project')]
test *ARGS: check
    {{ dev }} pytest -n logical --maxprocesses 8 --dist loadfile --no-loadscope-reorder -m "not engine and not long" "$@"

# measure branch coverage of all tests that need no container engine (after browser-install): a table, and coverage.json
[group('project')]
coverage *ARGS:
    {{ dev }} pytest -n logical --maxprocesses 8 --dist loadfile --no-loadscope-reorder --parts "browser,git,npm,rsync,LLM gateway" --cov --cov-report=term --cov-report=json "$@"

# run the other tests: long ones, and those that need a container engine (after engine-start and base-build)
[group('project')]
test-engine *ARGS:
    {{ dev }} pytest -m "engine or long" "$@"

# run one of the project's own benchmarks, such as goals, peers, growth, rehearsal or scale (tests/benchmarks/)
[group('project')]
bench NAME *ARGS:
    shift; PYTHONPATH=tests {{ dev }} python -m benchmarks.{{ NAME }} "$@"

# check style, types and import contracts
[group('project')]
check:
    {{ dev }} ruff check .
    {{ dev }} ruff format --check .
    {{ dev }} lint-imports
    {{ dev }} mypy

# build the documentation as a site, in site/
[group('project')]
docs *ARGS:
    uv run --group docs mkdocs build "$@"

# check the licenses and known vulnerabilities of all dependencies; fails if it could not check all
[group('project')]
audit-dependencies:
    uv run --all-extras --group audit python .ci/audit_dependencies.py

# check whether this checkout can be released: versions, changelog, and the wheel in an empty environment
[group('project')]
release-check:
    .ci/release-check
