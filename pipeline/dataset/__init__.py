"""Work with built datasets: check, export, measure, publish and rebuild them.

Uses the stages, as `campaign` does: a check runs stages 03 and 04, a rebuild 01 and 02.

    cli, present, files       the commands, their output, writing to files that a person names
    check, applied, examine   checks of each instance; then oracle and nop
    references                whether both hold for what is published
    stress                    repeated runs of gold's tests, alone and under load
    audit/                    the measured error of our verdicts: variants of gold whose right verdict is known
    stats                     what datasets consist of, in numbers
    readable                  an instance as a folder that people read
    subsets                   named, versioned subsets: lite, reviewed
    forms                     formats of other benchmarks
    foreign/                  folders that other programs run, graded by our verdict
    agree, foreign_names      another benchmark's transitions compared with ours, each difference with a class
    lock, rebuild, set_up     the published list, the dataset rebuilt from it, environments that a model proposed
"""
