"""A11y-Bench: real accessibility pull requests as executable repair tasks.

The floors, from the bottom up. Each uses those below it, and its `__init__.py` lists its modules.

    core                                    records, paths, names, verdicts, the law, work as data
    sandbox, llm, browser, report           where code runs, the models, a browser, pages and tables for people
    ecosystems                              test runners and package managers, a folder each
    execution                               images and test runs
    collect triage build predict evaluate analyze      the stages, which meet only in files
    pages                                   the second track, as a stage: pages that models write
    campaign, dataset, submission, demo, remote, workers, inspection      commands across stages
    migrate, doctor, costs, models, schema        commands beside them
    cli, api                                the console program; the stages from Python
"""

__version__ = "0.1.0"
