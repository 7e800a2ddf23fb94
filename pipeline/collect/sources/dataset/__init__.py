"""Benchmarks that others made: their records become the same pull requests as any other.

source      the source `dataset`: one repository's records, their merge commits in a clone, what could not be read
reading     from a file of records, a folder of tasks or a bare clone of one, to rows and problems
forms       the forms of records (Multi-SWE-bench, SWE-bench), and what their makers expect of tests
"""
