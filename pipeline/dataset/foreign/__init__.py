"""Exports that other programs run: a folder for each of them, with our verdict as its grader.

    folders             a table of programs and the files for each: Harbor, Inspect, SWE-bench 5, Hugging Face datasets
    grader              the verdict on one patch, for a program or over HTTP
    harbor, inspect_ai, swe_bench_5, hugging_face      one format each
    difference.sh       runs in the program's container: prints the agent's diff
    grade.sh            runs there, too: sends this diff, prints the verdict
    scorer.py           the same as a scorer for Inspect, copied into its folder

A folder contains other people's code and the solutions: it is for private use and must not be published.
"""
