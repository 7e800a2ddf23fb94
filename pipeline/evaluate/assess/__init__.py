"""The accessibility assessment: what the strict verdict cannot show, always next to it and never instead of it.

cli, settings, stage      the command, its settings, and assessing one run of an agent and model
request, evidence         collecting the evidence on one prediction as a unit of work, and its parts:
updated, snapshots        new snapshots of a patch, and comparing them with gold's
markup, compare           what a snapshot shows; whether two are the same to assistive technologies
axe/                      what axe-core finds in the documents that tests render
stories/                  what it finds in stories, in a real browser
judge/                    how a model rates patches
parts, score, report      the parts put together, as one number, and for people
"""
