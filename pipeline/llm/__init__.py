"""The only door to a model: one gateway, a key per holder, one ledger of every request.

    agent --key--> gateway (LiteLLM proxy) --provider's key--> model
                      |
                   ledger.sqlite --> costs.csv

`gateway` opens the proxy that the environment asks for: `embedded` (config, process, hooks, turns) or
`deployed` (admin). `models` reads the list of models and prices; `ledger` holds keys (hashed) and requests; `costs` and
`spending` derive `data/costs.csv` and sums; `scripted` is the provider that tests and the demo use. `asking` is one
question whose answer must parse, `samples` several answers to it, `panel` many questions of a kind. `hooks`, `policy`,
`proxy`, `turns`, `ledger` and `prices` also run inside the proxy's environment: standard library and LiteLLM only.
"""

#: all that a key opens: other routes of LiteLLM reach a provider past the ledger, or administer the proxy
ROUTES = ("/chat/completions", "/embeddings", "/models")
