"""Stage 03: let an agent write patches for the instances of a dataset, through the LLM gateway.

Reads `02_dataset/` and the clone that `01_raw/` names; writes `03_predictions/`, the ledger and `costs.csv`.

    cli, stage                the command and its three steps
    agents, references        the folders of `vendors/`; oracle and nop
    run, runtime              a run's folder; what comes of tasks, as it is written
    pictures                  the pictures of a task's statement, for a model that sees
    request, said             one task as a unit of work, and what an agent says of itself; done by
    host, container           an agent on this machine, or in its instance's image
    regression                choosing among proposals by the tests of the base
"""
