"""Stage 01: find merged pull requests that fix accessibility, with their issues and patches.

Reads a source (a local clone); writes `01_raw/<repo>/`: candidates, rejections, the funnel, the source's place.
"""
