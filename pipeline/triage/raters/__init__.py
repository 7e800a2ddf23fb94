"""Models that rate candidates: a prompt after the thesis's, an answer that must parse, costs of their own.

prompt                    the prompt (prompt.md), and the rating in an answer
panel                     who is asked for what, what it may cost and has cost (parameters.toml)
"""
