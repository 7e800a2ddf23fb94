"""The only way to a model: one gateway, a key per holder, one ledger of every request.

    agent --key--> gateway (LiteLLM proxy) --provider's key--> model
                      |
                   ledger.sqlite --> costs.csv

    asking, chat, samples, panel      an answer that must parse; one request; several answers; many questions
    experiment                what a cost belongs to
    models                    the list of models, with prices
    gateway, opening          the gateway, and which one is opened:
    embedded                  as a child process (config, process), or
    deployed                  a running proxy with PostgreSQL (admin)
    preflight                 whether models for embeddings can be asked
    batches                   requests that are sent to the provider in batches
    ledger, ledger_file       keys (hashed) and requests; their file
    costs, spending           `data/costs.csv`; sums, and whether they agree
    waiting                   how long answers were waited for
    unanswered                answers that an agent failed to give
    scripted, provider        the model of tests and demo, and its protocol
    loopback                  a server for programs of this machine
    money, replays            reserving what a request may cost, unless its answer is a replay
    streams                   who answers a stream, and whether an answer is whole
    proxy, hooks, policy, fence, ends, rate_limits, paced, prices   what else runs inside the proxies

The modules of the last three lines, `ledger` and `ledger_file` run in a proxy's own environment. They use only the
standard library and LiteLLM, so nothing is imported here.
"""

#: the only routes that a key opens: others of LiteLLM bypass the ledger or administer the proxy
ROUTES = ("/chat/completions", "/embeddings", "/models")
