"""An Agentless-style agent for user-interface repositories: localize, repair, select. No shell, no tools, no loop.

    cli         arguments, exit codes, output files
    agent       the four steps in order; `run` is what came of them: a funnel, and a cause where it ends
    ├── localize    which files: the model, and retrieval by vectors      (Agentless, arXiv 2407.01489, section 3.1)
    ├── places      where in them: related elements, then edit locations
    ├── repair      the model writes search/replace edits                 (section 3.2)
    └── select      patches that mean the same vote                       (section 3.3, without test runs)
    tree, elements, views      what prompts show of the repository; `prompting` cuts it to the model's context
    retrieve, index, chunks    files as vectors, which `vectors` keeps for the next task of the repository
    edits, matching, syntax    what a reply changes; `grammars` reads the languages
    checkout    the only door to the repository: git plumbing that never writes to the checkout
    wire        the only door to the models, which `provider` speaks to
    settings.toml, prompts/, causes, grammars     what varies, as data

The method is Agentless in its multilingual form (Multi-SWE-bench, arXiv 2504.02605). It knows nothing of the pipeline
that drives it: it reads a task file and a checkout, and writes a patch, its metadata and its trajectory (`agent.toml`).
"""
