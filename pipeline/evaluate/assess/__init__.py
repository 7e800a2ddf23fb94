"""The accessibility oracle: what the strict verdict can not say, always beside it and never instead of it.

`snapfile` and `markup` read snapshots, the browser floor shows one and reads its accessibility trees,
`compare` tells whether two are the same to assistive technologies.
"""
