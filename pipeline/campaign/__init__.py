"""Several stages in one command: all that one file asks for, or one repository with one model.

cli                       `campaign FILE`
file                      what the file says
plan                      what is there, what will be asked, and what that may cost
stage                     all of it, through one gateway; what was done is not done again
single                    `run REPO MODEL`: stages 01 to 05
steps                     what both do: headings, an evaluation and its sum
"""
