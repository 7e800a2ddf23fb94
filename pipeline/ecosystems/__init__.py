"""The ecosystems that repositories are of: a folder for each test runner and each package manager.

    runners/                  runner.toml, report.py, …: `runner_folder` says what may stand there
    managers/                 manager.toml, lock.py: `manager_folder` says what may
    folders                   how both are found
    reports                   what the tests of a run said, whatever the runner
    locks, locked, graph, edits    lock files, their packages, who asks for whom, and manifests, whatever the manager
    registry                  which locked versions the registry has no longer
    protection                the files that a patch must not decide
    installation              what a sandbox needs to install an environment
    versions                  ranges, as npm reads them

Folders are found, not listed. To add one: the folder and its tests, of which test_contract.py says what is lacking.
"""

from pipeline.ecosystems.manager_folder import all_managers, manager
from pipeline.ecosystems.runner_folder import all_parsers, all_runners, parser, runner

__all__ = ["all_managers", "all_parsers", "all_runners", "manager", "parser", "runner"]
