"""Stage 01: find merged pull requests that fix accessibility, with their issues and patches.

Reads a source (a clone, GitHub, a dataset) and what people decided; writes `01_raw/<repo>/`: pages of what the source
said, candidates, rejections, the funnel, and an index of all of it.
"""
