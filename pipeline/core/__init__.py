"""The ground: what every floor may use. It knows no sandbox, no model, no runner and no stage.

record, records           what every record is, and all that cross a stage border
assessment                what is said beside a verdict
audit                     what an audit of our verdicts found, and what counts in it
ratings, reviews          what a rating says and may not say; what all ratings of a candidate come to
wcag                      the success criteria of WCAG 2.2 (wcag.csv)
store, dataset, subset, journal   every path under `data/`; reading datasets, and parts of them; appended files
names, errors             repositories, instances and folders; what can go wrong, as a tree
decisions, review_requests        what people decide, and what they are asked to look at
verdict                   transitions, qualification, resolution (transitions.csv)
law                       one digest of all that decides
work, retry, timing       units as data; trying again; where the time goes
cluster, slot, packs      units on workers anywhere: the coordinator's side, the worker's; git objects by content
git, clones, patches      reading clones, patches as text (test-files.toml; patterns.toml: what is mined)
objects, trees            git without what a clone configures; what the tree of a commit may hold
briefing                  what an agent or a judge is told of a task
concealed                 secrets taken out of what is kept, however they are written
trust                     who may run without isolation
cache, vendors            what is slow to make and safe to delete; environments for what stands in `vendors/`
shipped                   files that come with the program and are no Python
options, console, progress, sizes, aside      words of the command line, what people see, work beside the rest
"""
