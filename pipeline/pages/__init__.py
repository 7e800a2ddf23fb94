"""The page track: cases with prompts, the pages that models write, and their evaluation in a real browser.

Reads cases; writes `03_predictions/pages/`, `04_evaluation/pages/`, the ledger and `costs.csv`.

    cli, cli_hybrid           the commands
    cases                     folders of cases: prompts, tests, examples with expectations
    shared                    helpers that several cases load
    gate                      what a page must contain to be about its case
    records                   answers, verdicts, the engine's observations
    engine, running           Node processes with a browser each (vendors/page-runner); a page as a unit of work
    others                    what other programs of the machine use while a page is tested
    guard                     ends a process with all that it started
    verdict                   passed, failed or error
    checking                  whether the examples of cases behave as expected
    runs, generate, answers   a run; asking models through the gateway; extracting the page from an answer
    evaluating                a run's pages through their cases
    measures, results         the numbers; results.json
    report/                   the report: tables, figures, a page for each sample
    demo                      everything with a scripted model
    hybrid                    the hybrid score, beside the verdict
"""
