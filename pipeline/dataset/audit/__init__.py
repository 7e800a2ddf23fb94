"""The error of our own verdicts, measured with variants of gold whose right verdict is known by construction.

    code       a source file as syntax trees, and edits of it
    same       edits that keep the meaning; bindings: renaming what a function declares
    harmful    edits that remove the fix, or a part of it
    hunks      gold without one of its hunks
    variants   the variants of an instance, drawn by a seed
    run        their verdicts, through stage 04, and the records
    rates      shares, intervals, tables

Harmful means that the code behaves differently at a place that gold changed for accessibility. The audit measures
whether a test notices. If none does, the instance's tests are weak there, and the rule names the kind of harm.
"""
