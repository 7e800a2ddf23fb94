"""Checking patches by hand: a blinded sample is exported, rated, and imported.

records   the rating of one patch by one person
sheet     the sample, and the two files of a sheet: one to read, one to fill in
cli       `a11y-bench handcheck export` and `import`
"""
