"""Stage 04: run predicted patches against the tests of their instances, and give verdicts.

Reads `02_dataset/`, `03_predictions/` and the clone that `01_raw/` names; writes `04_evaluation/`.

    cli, options, stage       the command, and evaluating one run of an agent and model
    answers, foreign          its predictions, and why some are missing; predictions made elsewhere
    choosing                  the run with given settings and a given model list
    runs, kept                the test runs of patches: stored ones, and requests for the others
    request                   running one patch as a unit of work
    limits, blame             memory by gold's use; whether the machine failed or a patch made it look so
    grade                     from a test run to a verdict
    repeats                   flakes: what the runs of a patch and of gold say together
    cli_regrade, regrade      recomputing verdicts from what is stored
    final_report              Multi-SWE-bench's final report
    assess/                   the assessment next to the verdict (docs/assessment.md)
"""
