"""What every floor may use. It knows no sandbox, model, runner or stage.

record, records           the base of every record, and all records that cross a stage border
run_record                what describes a run of predictions (run.json)
assessment                further findings on a prediction, next to its verdict
audit                     the result of an audit of our verdicts, and how it is counted
ratings, reviews          the fields of a rating; what all ratings of a candidate add up to
wcag                      the success criteria of WCAG 2.2 (wcag.csv)
store, dataset, subset, journal   every path in `data/`; reading datasets and parts of them; append-only files
names, errors             repositories, instances and folders; the hierarchy of errors
decisions, review_requests        what people decide, and what they are asked to review
verdict                   transitions, qualification, resolution (transitions.csv)
law                       one digest of everything that decides
work, retry, timing, full_disk    units as data; retries; where the time goes; disks without space
cycles                    work without Python's cycle collector
cluster, slot, packs      units on remote workers: the coordinator's side, the worker's side; git objects by content
git, clones, patches      reading clones; patches as text (test-files.toml; patterns.toml: what is mined)
objects, reader, trees    git without a clone's configuration; objects from one process; what a tree may contain
briefing                  a task as text for an agent or a judge
concealed                 removing secrets from what is stored, in any encoding
trust                     which code may run without isolation
cache, vendors            the cache folder; environments for programs in `vendors/`
npm_package               pinned files from npm
databases                 errors of SQLite
texts, amounts            reading files that people write; amounts of USD
shipped, recipes          files that come with the program and are not Python; recipes as commands, for a wheel
notebooks                 which data a notebook shows
options, console, progress, sizes, background     options of the command line, output, background work
"""
