"""Checking patches by hand: a sample is exported without saying whose the patches are, rated, and read back.

records   the rating of one patch by one person
sheet     what is sampled, and the two files of a sheet: one to read, one to fill in
cli       `a11y-bench handcheck export` and `import`
"""
