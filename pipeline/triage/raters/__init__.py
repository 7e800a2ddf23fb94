"""Models that rate candidates: the thesis's prompt in our words, an answer that must parse, money of their own.

prompt                    what a model is told, and what its answer says (prompt.md)
panel                     who is asked for what, what it may cost and has cost (parameters.toml)
"""
