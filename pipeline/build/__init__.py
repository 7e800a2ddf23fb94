"""Stage 02: make environments, qualify candidates with three test runs, write instances.

Reads `01_raw/` and the clone that it names; writes `02_dataset/`.

    cli, stage                the command, and building a repository's dataset
    plan, batch, dataset      what has to be done; the coordinator, the only writer; the resulting dataset
    qualify, search, trial    one candidate as a unit of work; the environments to try; trying one
    helpers                   files of the gold patch that only tests import: they count as tests
    environments, infer/, overrides, show      the environment: inferred, corrected by people, shown
    repair, faults, remedies, learned          known faults of old environments, remedies, reuse among neighbors
    situation                 what remedies look at: manifests, lock files, and the registry
    health, case, missing, observe             sick bases: what their tests, logs and own test commands show
    hypotheses, preparations  the other environments that they may need, and what makes missing files
    history_lock              versions in the lock file of another commit
    linking                   links to the programs of a repository's own packages
    installed                 the version of the runner in the image
    proposals, setup_agent    environments that a model proposes; asking the model
    judge, reasons            from three test runs to an instance or a reason
    summary, explain          the result in numbers; what rejections have in common
    budget, layers, garbage, gc                disk space, during a build and afterwards
    images, share             images in a registry, for other machines
"""
