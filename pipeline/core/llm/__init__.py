"""The only door to a model: one gateway, a key per holder, one ledger of every request.

    agent --key--> gateway (LiteLLM proxy, a child process) --provider's key--> model
                      |
                   ledger.sqlite --> costs.csv

`gateway` starts the proxy and issues keys; `models` reads the list of models and prices; `ledger` holds keys (hashed)
and requests; `costs` derives `data/costs.csv`; `scripted` is the provider that tests and the demo use. `hooks`,
`proxy`, `ledger` and `prices` also run inside the proxy's own environment: standard library and LiteLLM only.
"""
