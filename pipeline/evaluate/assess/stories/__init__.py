"""Audits of a repository's stories in a real browser, which sees colors and sizes.

script    how the repository builds its stories
build     its stories in one state of the sources, built in the sandbox
site      what was built: Storybook's static format
touched   the stories that show what patches touch
browser   these stories, audited with axe-core
compare   base, gold and a patch
"""
