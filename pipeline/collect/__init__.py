"""Stage 01: find merged pull requests that fix accessibility, with their issues and patches.

Reads a source (a clone, GitHub, a dataset) and what people decided; writes `01_raw/<repo>/`: pages of what the source
said, candidates, rejections, the funnel, and an index of all of it.

    cli, stage, watch         the command, its work, what is seen of it
    sources/, github/         where pull requests come from
    pages                     what a source said, append-only
    history, whole            what a clone's history says was merged; how many commits one is
    funnel, kinds             what becomes of a pull request, and why; reverts, bots and bumps
    prose, patterns, scan     what a person wrote in a text; what is looked for in it, and how fast
    evidence, references, links       where it speaks of accessibility, what it refers to and closes
    collected, database       all that is known of a repository; the index of it
    decide, edits, settle     decisions of people, changes by hand, and what both come to
    export, entries           the files for other stages and people
    adopt                     repositories from before there were pages
    select, selection         which repositories to mine
"""
