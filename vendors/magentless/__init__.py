"""An Agentless-style agent for user-interface repositories: localize, repair, select. No shell, no tools, no loop.

    cli         arguments, exit codes, output files
    agent       the three steps in order, and the funnel that says how far they came
    ├── localize    the model names files                  (Agentless, arXiv 2407.01489, section 3.1)
    ├── repair      the model writes search/replace edits  (section 3.2)
    └── select      patches that mean the same vote        (section 3.3, without test runs)
    checkout    the only door to the repository: git plumbing that never writes to the checkout
    provider    the only door to the model
    settings.toml, prompts/, causes.py     what varies, as data

The method is Agentless in its multilingual form (Multi-SWE-bench, arXiv 2504.02605). It knows nothing of the pipeline
that drives it: it reads a task file and a checkout, and writes a patch, its metadata and its trajectory (`agent.toml`).
"""
