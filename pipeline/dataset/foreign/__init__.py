"""Exports that other programs run: a folder for each of them, with our verdict as its grader.

    folders             what is written for whom, as a table: Harbor, Inspect, SWE-bench 5, Hugging Face datasets
    grader              the verdict on one patch, for a program or over HTTP
    harbor, inspect_ai, swe_bench_5, hugging_face      one form each
    grade.sh            what runs in a container of theirs: sends the difference, says the verdict
    scorer.py           the same as a scorer of Inspect's, copied into its folder

A folder holds other people's code and the solutions: it is for one's own use, not to be published.
"""
