"""Audits with axe-core: of what tests render, in the sandbox, and of any page of a browser.

findings   axe-core's results as our violations, and how a patch changes them
documents  what the tests render (`capture.cjs`)
audit      one patch, from its tests to its violations (`audit.cjs`)
"""
