"""What every floor may use. It knows no sandbox, model, runner or stage.

record, records           the base of every record, and all records that cross a stage border
assessment                what is said beside a verdict
audit                     the result of an audit of our verdicts, and how it is counted
ratings, reviews          what a rating may say; what all ratings of a candidate come to
wcag                      the success criteria of WCAG 2.2 (wcag.csv)
store, dataset, subset, journal   every path in `data/`; reading datasets and parts of them; append-only files
names, errors             repositories, instances and folders; the tree of errors
decisions, review_requests        what people decide, and what they are asked to look at
verdict                   transitions, qualification, resolution (transitions.csv)
law                       one digest of everything that decides
work, retry, timing       units as data; retries; where the time goes
cluster, slot, packs      units on remote workers: the coordinator's side, the worker's side; git objects by content
git, clones, patches      reading clones; patches as text (test-files.toml; patterns.toml: what is mined)
objects, reader, trees    git without a clone's configuration; objects from one process; what a tree may contain
briefing                  what an agent or a judge is told of a task
concealed                 removing secrets from what is stored, in any encoding
trust                     who may run without isolation
cache, vendors            what is slow to make and safe to delete; environments for programs in `vendors/`
npm_package               pinned files from npm
texts                     files that people write, read whole
shipped                   files that come with the program and are not Python
options, console, progress, sizes, aside      options of the command line, output, background work
"""
