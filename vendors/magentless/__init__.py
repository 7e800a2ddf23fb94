"""An Agentless-style agent for user-interface repositories: localize, repair, select. No shell, no tools, no loop.

    cli         arguments, exit codes, output files
    agent       the four steps in order; `run` is the result: a funnel, and causes
    ├── localize    which files: the model, and retrieval by vectors      (Agentless, arXiv 2407.01489, section 3.1)
    ├── places      where in them: related elements, then edit locations
    ├── repair      the model writes search/replace edits                 (section 3.2)
    └── select      equivalent patches vote together                      (section 3.3, without test runs)
    tree, elements, views      what prompts show of the repository; `prompting` cuts it to the model's context
    retrieve, index, chunks    files as vectors, which `vectors` stores for later tasks of the repository
    replies, edits, rewritten  what a reply names and changes; `paths` reads the names of files for all three
    matching, syntax           where an edit fits, and if the result parses; `grammars` reads the languages
    checkout    the only access to the repository: git plumbing that never writes to the checkout
    wire        the only access to the gateway; `provider` makes the requests
    settings.toml, prompts/, causes, grammars     what varies, as data

The method is Agentless in its multilingual form (Multi-SWE-bench, arXiv 2504.02605). The agent is independent of the
pipeline: it reads a task file and a checkout, and writes a patch, metadata and a trajectory (`agent.toml`).
"""
