"""The accessibility assessment: what the strict verdict can not say, always beside it and never instead of it.

`markup` reads snapshots, the browser floor shows one and reads its accessibility trees,
`compare` tells whether two are the same to assistive technologies.
"""
