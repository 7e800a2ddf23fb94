"""Benchmarks by others: their records become pull requests like any other.

source      the source `dataset`: one repository's records, their merge commits in a clone, problems
reading     reads records and problems from a file of records, a folder of tasks or a bare clone of one
binaries    contents of binary files that a patch lacks
forms       the forms of records (Multi-SWE-bench, SWE-bench), and the test results that they expect
"""
