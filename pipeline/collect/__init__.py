"""Stage 01: find merged pull requests that fix accessibility, with their issues and patches.

Reads a source (a clone, GitHub, a dataset) and people's decisions. Writes `01_raw/<repo>/`: pages of the source's
answers, candidates, rejections, the funnel, and an index of everything.

    cli, stage, watch         the command, its work, its progress
    sources/, github/         where pull requests come from
    pages                     the source's answers, append-only
    history, branches, whole  which changes a clone's history merged; their branches; how many commits belong to one
    funnel, kinds             the outcome of a pull request with its reason; reverts, bots and bumps
    prose, patterns, scan     the text that a person wrote; the patterns; a fast search for them
    evidence, references, links       signs of accessibility; references to issues; which of them are closed
    collected, database       everything known of a repository; its index
    decide, edits, settle     people's decisions, edits by hand, and their result
    export, entries           the files for other stages and people
    adopt                     repositories collected before there were pages
    select, selection         which repositories to mine
"""
