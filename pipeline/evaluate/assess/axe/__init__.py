"""Audits with axe-core: of what tests render, in the sandbox, and of any page of a browser.

findings   what axe-core finds as our violations, and what a patch changes of them
documents  what the tests render (`capture.cjs`)
audit      one patch, from its tests to its violations (`audit.cjs`)
"""
