"""The repair loop, with scripted attempts."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from build.test_fault_table import HONEST, INSTALL, OTHERS, RUN
from factories import make_environment

from pipeline.build.reasons import Rejected
from pipeline.build.repair import MOST, Repair, reason_of, repaired
from pipeline.build.situation import Situation
from pipeline.core.errors import InfrastructureError
from pipeline.core.records import Environment
from pipeline.core.store import digest
from pipeline.ecosystems.locks import Locked
from pipeline.ecosystems.registry import LookUp

FILES = {"package.json": b'{"devDependencies": {"is-number": "7.0.99", "@no/body": "^1.0.0", "tool": "acme/tool"}}'}
THERE = Situation(FILES, lambda name: ["6.0.0", "7.0.0"] if name == "is-number" else [])


def log_of(fault: str) -> str:
    return next(log for name, _, log in INSTALL + RUN if name == fault)


class Attempts:
    """Ends each attempt with the next of these errors, and then in success; `tried` lists the environments."""

    def __init__(self, *ends: Exception) -> None:
        self.ends, self.tried, self.kept = list(ends), [], {}

    def __call__(self, state: Repair) -> Repair:
        self.tried.append(state.environment)
        if self.ends:
            raise self.ends.pop(0)
        return state

    def run(self, start: Repair | None = None) -> Repair:
        return repaired(start or Repair(make_environment()), THERE, self, self.kept.__setitem__)


def install(log: str) -> Rejected:
    return Rejected(reason_of(log), "npm ci ended with 1", log=log, stage="install")


def test_a_working_environment_is_not_repaired() -> None:
    assert Attempts().run() == Repair(make_environment())


def test_each_fault_gets_its_remedy_and_is_recorded() -> None:
    attempts = Attempts(install(log_of("peer-rules")), install(log_of("version-gone")))
    end = attempts.run()
    assert len(attempts.tried) == 3
    assert end.environment == attempts.tried[-1]
    assert [deviation.partition(":")[0] for deviation in end.deviations] == [
        "peer dependencies conflict",
        "is-number 7.0.99 is gone from the registry",
    ]
    assert attempts.kept == {"repaired.1": log_of("peer-rules").encode(), "repaired.2": log_of("version-gone").encode()}


def test_all_packages_of_a_fault_in_one_log_are_repaired_at_once() -> None:
    """A manager that continues after the first error names all missing packages, and each attempt is an install."""
    both = f'{log_of("version-gone")}\nerror Couldn\'t find package "@no/body" on the "npm" registry.'
    attempts = Attempts(install(both))
    assert [(edit.kind, edit.name) for edit in attempts.run().environment.edits] == [
        ("pin", "is-number"),
        ("drop", "@no/body"),
    ]
    assert len(attempts.tried) == 2


def test_the_second_remedy_is_tried_if_the_first_did_not_help() -> None:
    log = log_of("engine-rules")
    attempts = Attempts(install(log), install(log))
    attempts.run(Repair(make_environment(node="16.2.0")))
    first, second, third = attempts.tried
    assert (second.install_env, second.node) == ({"npm_config_engine_strict": "false"}, first.node)
    assert third.node > first.node


def test_a_fault_without_a_helping_remedy_is_rejected_with_its_own_reason() -> None:
    with pytest.raises(Rejected) as end:
        Attempts(install(log_of("native-build"))).run()
    assert end.value.reason == "native_build_failed"


def test_an_unknown_failure_is_tried_once() -> None:
    attempts = Attempts(install(OTHERS[-1]))
    with pytest.raises(Rejected) as end:
        attempts.run()
    assert (end.value.reason, len(attempts.tried)) == ("environment_failed", 1)


def test_a_failed_preparation_is_compared_with_faults_of_installs_and_of_runs() -> None:
    """A build that runs before the tests uses outdated hashes as tests do; only faults of installs were looked up."""
    attempts = Attempts(Rejected("environment_failed", "", log=log_of("old-hashes"), stage="prepare"))
    assert attempts.run().environment.test_env["NODE_OPTIONS"] == "--openssl-legacy-provider"
    attempts = Attempts(Rejected("environment_failed", "", log=log_of("peer-rules"), stage="prepare"))
    assert attempts.run().environment.install_env


def test_a_rejection_after_tests_keeps_its_reason_if_repairs_fail() -> None:
    """A repair that fails for another reason says nothing about the candidate."""
    first = Rejected("no_report", "in run", log=log_of("node-too-old"))
    with pytest.raises(Rejected) as end:
        Attempts(first, install(log_of("native-build"))).run()
    assert end.value is first


@pytest.mark.invariant(4)
def test_a_machine_fault_is_not_repaired() -> None:
    attempts = Attempts(InfrastructureError("npm error code E503", cause="registry"))
    with pytest.raises(InfrastructureError):
        attempts.run()
    assert len(attempts.tried) == 1


@pytest.mark.rule("repair-ends")
@pytest.mark.parametrize("seed", range(50))
def test_repair_never_loops(seed: int) -> None:
    """Whatever the logs say, in whatever order: a bounded number of attempts, and no environment twice."""
    chance = random.Random(seed)
    logs = [(log, "install") for _, _, log in INSTALL] + [(log, "run") for _, _, log in RUN]
    logs += [(log, "run") for log in HONEST]

    def end() -> Rejected:
        log, stage = chance.choice(logs)
        return Rejected("no_report", "", log=log, stage=stage)

    attempts = Attempts(*(end() for _ in range(100)))
    with pytest.raises(Rejected):
        attempts.run()
    assert len(attempts.tried) <= MOST + 1
    assert len({digest(environment) for environment in attempts.tried}) == len(attempts.tried)


# -- what is known before an install -----------------------------------------------------------------------------------
LOCK = b'# yarn lockfile v1\n\n\nis-number@7.0.99:\n  version "7.0.99"\n\n"@no/body@^1.0.0":\n  version "1.0.0"\n'


def looked(*gone: tuple[str, str], packages: bytes = FILES["package.json"]) -> Situation:
    """The situation with a lock file, of which the registry lacks these packages."""

    def look_up(wanted: Iterable[Locked]) -> LookUp:
        known = {(package.name, package.version) for package in wanted}
        return LookUp(tuple(package for package in gone if package in known))

    return Situation({"package.json": packages, "yarn.lock": LOCK}, THERE.releases, look_up)


def test_a_missing_version_is_repaired_before_any_install() -> None:
    """Otherwise half an hour of install would end in a 404 that the registry could have told at once."""
    attempts = Attempts()
    about = looked(("is-number", "7.0.99"), ("@no/body", "1.0.0"))
    end = repaired(Repair(make_environment()), about, attempts, attempts.kept.__setitem__)
    assert [(edit.kind, edit.name) for edit in end.environment.edits] == [("pin", "is-number"), ("drop", "@no/body")]
    assert [deviation.partition(":")[0] for deviation in end.deviations] == [
        "is-number 7.0.99 is gone from the registry",
        "@no/body 1.0.0 is gone from the registry",
    ]
    assert attempts.tried == [end.environment]


def test_an_irreplaceable_version_is_rejected_before_any_install() -> None:
    attempts = Attempts()
    about = looked(("@no/body", "1.0.0"), packages=b'{"dependencies": {"@no/body": "^1.0.0"}}')
    with pytest.raises(Rejected) as end:
        repaired(Repair(make_environment()), about, attempts, attempts.kept.__setitem__)
    assert (end.value.reason, attempts.tried) == ("dependency_gone", [])
    assert end.value.detail == "@no/body 1.0.0 is gone from the registry (the root: @no/body)"


def test_an_environment_with_all_its_versions_is_not_changed() -> None:
    attempts = Attempts()
    assert repaired(Repair(make_environment()), looked(), attempts, attempts.kept.__setitem__) == Repair(
        make_environment()
    )


def test_several_faults_of_single_packages_are_repaired_at_once() -> None:
    """A log names a missing package and a refusing host; each attempt is an install."""
    host = "npm error command git --no-replace-objects ls-remote ssh://git@github.com/acme/tool.git"
    attempts = Attempts(install(f"{log_of('version-gone')}\n{host}"))
    assert [(edit.kind, edit.name) for edit in attempts.run().environment.edits] == [
        ("pin", "is-number"),
        ("drop", "tool"),
    ]
    assert len(attempts.tried) == 2


def test_many_missing_packages_are_dropped_with_their_common_parent() -> None:
    """Seventy nightly builds of a tool are gone: to replace each one would be seventy changes, and no working tool."""
    names = [f"tool-{number}" for number in range(20)]
    lock = '# yarn lockfile v1\n\n\nbundler@1.0.0:\n  version "1.0.0"\n  dependencies:\n'
    lock += "".join(f'    {name} "1.0.0"\n' for name in names)
    lock += "".join(f'\n{name}@1.0.0:\n  version "1.0.0"\n' for name in names)
    files = {"package.json": b'{"devDependencies": {"bundler": "1.0.0"}}', "yarn.lock": lock.encode()}

    def look_up(wanted: Iterable[Locked]) -> LookUp:
        return LookUp(tuple((package.name, package.version) for package in wanted if package.name in names))

    attempts = Attempts()
    about = Situation(files, lambda name: ["1.1.0"], look_up)
    end = repaired(Repair(make_environment()), about, attempts, attempts.kept.__setitem__)
    assert [(edit.kind, edit.name) for edit in end.environment.edits] == [("drop", "bundler")]


def test_a_package_without_a_version_of_that_day_is_installed_without_a_date() -> None:
    attempts = Attempts(install("npm ERR! code ENOVERSIONS\nnpm ERR! No versions available for is-number"))
    end = attempts.run(Repair(make_environment(install=("npm", "install", "--before=2023-03-28"))))
    assert (end.environment.install, end.environment.edits) == (("npm", "install", "--tag=undated"), ())


def test_a_line_that_shows_two_faults_gets_one_remedy() -> None:
    """A version that did not exist on the day is not replaced as well."""
    log = (
        "npm ERR! notarget No matching version found for is-number@^7.0.0 with an Enjoy By date of 2016-11-22 00:00:00."
    )
    attempts = Attempts(install(log))
    end = attempts.run(Repair(make_environment(install=("npm", "install", "--before=2016-11-22"))))
    assert (end.environment.install, end.environment.edits) == (("npm", "install", "--tag=undated"), ())


# -- what a manager asks for although it is not installed --------------------------------------------------------------
PNPM_LOCK = b"""lockfileVersion: '9.0'

importers:
  .: {}
  packages/menu:
    dependencies:
      is-number: {specifier: ^7.0.0, version: 7.0.99}
  packages/site:
    dependencies:
      is-odd: {specifier: 2.0.9, version: 2.0.9}
      is-even: {specifier: 3.0.9, version: 3.0.9}

packages:
  is-number@7.0.99: {}
  is-odd@2.0.9: {}
  is-even@3.0.9: {}

snapshots:
  is-number@7.0.99: {}
  is-odd@2.0.9: {}
  is-even@3.0.9: {}
"""
SITE = b'{"name": "site", "dependencies": {"is-odd": "2.0.9", "is-even": "3.0.9"}}'
OUT_OF_FOCUS = "[ERR_PNPM_NO_MATCHING_VERSION] No matching version found for is-odd@2.0.9 while fetching it from here"


def test_missing_versions_out_of_focus_cost_one_install() -> None:
    """pnpm installs only some packages, but resolves all of them once a version is replaced, and names one missing
    package at a time.

    Such packages are not looked up beforehand: as long as the lock file is unchanged, they are not needed.
    """
    files = {
        "package.json": b'{"name": "all"}',
        "pnpm-workspace.yaml": b"packages: [packages/*]",
        "pnpm-lock.yaml": PNPM_LOCK,
        "packages/menu/package.json": b'{"name": "menu", "dependencies": {"is-number": "^7.0.0"}}',
        "packages/site/package.json": SITE,
    }

    def look_up(wanted: Iterable[Locked]) -> LookUp:
        return LookUp(tuple((package.name, package.version) for package in wanted))

    def pins(environment: Environment) -> list[str]:
        return [edit.name for edit in environment.edits if edit.kind == "pin"]

    about = Situation(files, lambda name: ["2.0.0", "3.0.0", "7.0.0"], look_up)
    start = make_environment(manager="pnpm", install=("pnpm", "install"), focus=("packages/menu",))
    attempts = Attempts(install(OUT_OF_FOCUS))
    end = repaired(Repair(start), about, attempts, attempts.kept.__setitem__)
    assert [pins(environment) for environment in attempts.tried] == [
        ["is-number"],
        ["is-number", "is-odd", "is-even"],
    ]
    assert end.environment.focus == ("packages/menu",)
