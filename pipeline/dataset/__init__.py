"""What is done with built datasets: check, export, statistics, and the lists that are published and rebuilt from.

Stands on the stages, as `campaign` does: a check runs stages 03 and 04, a rebuild 01 and 02.

    cli, present, files       the commands, what they print, writing where a person said
    check, applied, examine   what must hold for each instance; then oracle and nop
    stress                    gold's tests again and again, alone and under load
    audit/                    the error of our verdicts, measured: variants of gold whose right verdict is known
    stats                     what datasets are made of
    forms                     forms of other benchmarks
    foreign/                  folders that other programs run, graded by our verdict
    agree, foreign_names      a foreign benchmark's transitions beside ours, each difference with its class
    lock, rebuild             the list that is published, and the dataset made again from it
"""
