"""Stage 04: run predicted patches against the tests of their instances, and give verdicts.

Reads `02_dataset/`, `03_predictions/` and the clone that `01_raw/` names; writes `04_evaluation/`.

    cli, options, stage       the command, and evaluating one run of an agent and model
    answers, foreign          its predictions, and why some have none; predictions that others made
    runs, kept                the test runs of patches: those that are kept, and requests for the others
    request                   running one patch as a unit of work
    limits, blame             memory by what gold needed; whether the machine failed, or a patch made it look so
    grade                     from a test run to a verdict
    repeats                   flakes: what a patch's run, its repeats and gold's say together
    cli_regrade, regrade      verdicts once more, from what is stored
    final_report              Multi-SWE-bench's form
    assess/                   what is said beside the verdict (docs/assessment.md)
"""
