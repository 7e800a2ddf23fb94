"""The error of our own verdicts, measured: variants of gold whose right verdict is known by how they are made.

    code       a source file as syntax trees, and edits of it
    same       edits after which it means the same; bindings: renaming what a function declares
    harmful    edits that take the fix away, or a part of it
    hunks      gold without one of its hunks
    variants   the variants of an instance, drawn by a seed
    run        their verdicts, through stage 04, and the records
    rates      shares, intervals, tables

Harmful means: the code does something else at a place that gold changed for accessibility. Whether a test can see it is
what is measured; where none can, the instance's tests are weak there, and the class says of which kind it was.
"""
