"""Stage 01: find merged pull requests that fix accessibility, with their issues and patches.

Reads a source (a clone, GitHub, a dataset) and people's decisions. Writes `01_raw/<repo>/`: pages of the source's
answers, candidates, rejections, the funnel, and an index of everything.

    cli, stage, watch         the command, its work, its progress
    sources/, github/         where pull requests come from
    pages                     the source's answers, append-only
    history, whole            which changes a clone's history merged; how many commits belong to one
    funnel, kinds             what becomes of a pull request, and why; reverts, bots and bumps
    prose, patterns, scan     what a person wrote in a text; what is searched for in it; the fast search
    evidence, references, links       signs of accessibility; references to issues; which of them are closed
    collected, database       everything known of a repository; its index
    decide, edits, settle     people's decisions, edits by hand, and their result
    export, entries           the files for other stages and people
    adopt                     repositories collected before there were pages
    select, selection         which repositories to mine
"""
