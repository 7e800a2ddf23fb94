"""Test runners and package managers, a folder each.

    runners/                  runner.toml, report.py, …; described in `runner_folder`
    managers/                 manager.toml, lock.py; described in `manager_folder`
    folders                   how both are found
    reports                   the tests of a run, whatever the runner
    locks, locked, graph, edits    lock files, packages, dependency chains and manifests, whatever the manager
    registry                  which locked versions are gone from the registry
    protection                the files that a patch must not decide
    installation              what a sandbox needs to install an environment
    versions                  version ranges, as npm reads them

Folders are found, not listed. To add one, write the folder and its tests; test_contract.py says what is missing.
"""

from pipeline.ecosystems.manager_folder import all_managers, manager
from pipeline.ecosystems.runner_folder import all_parsers, all_runners, parser, runner

__all__ = ["all_managers", "all_parsers", "all_runners", "manager", "parser", "runner"]
