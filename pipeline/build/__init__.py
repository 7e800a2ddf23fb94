"""Stage 02: make environments, qualify candidates by three test runs, write instances.

Reads `01_raw/` and the clone it names; writes `02_dataset/`.

    cli, stage                the command, and building a repository's dataset
    plan, batch, dataset      what there is to do; the coordinator, which alone writes; what stands afterwards
    qualify                   one candidate as a unit of work
    helpers                   files of gold that only tests import, and are the tests'
    environments, infer/, overrides, show      the environment: inferred, corrected by people, shown
    repair, faults, remedies, learned          what has rotted, what is done about it, what neighbours learn
    health, hypotheses, asked, observe         a base that is not well, and what else its environment may be
    installed                 the runner that is in the image, asked for its version
    proposals, setup_agent    what a model proposes where ours is rejected, and asking it
    judge, reasons            from three test runs to an instance or a reason
    summary, explain          what came of it, in figures; what rejections have in common
    budget, layers, garbage, gc                the disk: within a build, and afterwards
"""
