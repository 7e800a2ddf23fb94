"""Models that rate candidates: a prompt based on the thesis's, answers that must parse, costs counted separately.

prompt                    the prompt (prompt.md), and the rating in an answer
panel                     the requests to a model, their estimated and actual cost (parameters.toml)
"""
