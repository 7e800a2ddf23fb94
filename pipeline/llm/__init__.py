"""The only door to a model: one gateway, a key per holder, one ledger of every request.

    agent --key--> gateway (LiteLLM proxy) --provider's key--> model
                      |
                   ledger.sqlite --> costs.csv

    asking, chat, samples, panel      a question whose answer must parse; one request; several answers; many questions
    experiment                whose money it is
    models                    the list of models, with prices
    gateway, opening          the gateway, and which one is opened:
    embedded                  as a child process (config, process), or
    deployed                  a proxy with PostgreSQL that runs already (admin)
    ledger, costs, spending   keys (hashed) and requests; `data/costs.csv`; sums, and whether they agree
    scripted, provider        the model of tests and demo, and the protocol that it speaks
    proxy, hooks, policy, fence, turns, prices      what runs inside the proxy

`proxy`, `hooks`, `policy`, `fence`, `turns`, `ledger` and `prices` run in the proxy's own environment: standard library
and LiteLLM only, and so no import here.
"""

#: all that a key opens: other routes of LiteLLM reach a provider past the ledger, or administer the proxy
ROUTES = ("/chat/completions", "/embeddings", "/models")
