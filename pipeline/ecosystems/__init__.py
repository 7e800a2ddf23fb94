"""Test runners and package managers, a folder each.

    runners/                  runner.toml, report.py, …; described in `runner_folder`
    managers/                 manager.toml, lock.py; described in `manager_folder`
    folders                   how both are found
    reports                   the tests of a run, for every runner
    locks, locked, graph, edits    lock files, packages, dependency chains and manifests, for every manager
    registry                  which locked versions no longer exist in the registry
    protection                the files that a patch must not decide
    installation              what a sandbox needs to install an environment
    versions                  version ranges, as npm reads them

Folders are discovered, not listed. To add one, write the folder and its tests; test_contract.py says what is missing.
"""

from pipeline.ecosystems.manager_folder import all_managers, manager
from pipeline.ecosystems.runner_folder import all_parsers, all_runners, parser, runner

__all__ = ["all_managers", "all_parsers", "all_runners", "manager", "parser", "runner"]
