"""Stage 03: let an agent write patches for the instances of a dataset, through the LLM gateway.

Reads `02_dataset/` and the clone that `01_raw/` names; writes `03_predictions/`, the ledger and `costs.csv`.

    cli, stage                the command and its three steps
    agents, references        the folders in `vendors/`; oracle and nop
    run, runtime              a run's folder; writing the results of tasks
    pictures                  the pictures of a task's statement, for models with vision
    mini_swe_agent_check      whether that agent can use a settings file
    encodings                 the tables with which an agent counts tokens
    request, reported         one task as a unit of work; what an agent reports about itself
    host, container           performing it on this machine, or in the instance's image
    regression                choosing among proposals with the base's tests
"""
