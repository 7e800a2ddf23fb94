"""Several stages in one command: everything that a file asks for, or one repository with one model.

cli                       `campaign FILE`
file                      the campaign file
lists                     whether a dataset is what its list says
plan                      a step of a plan, likely values, sums, disk space
planning                  what exists, what will be asked, and what it may cost
scope                     the experiments that the file asks for, and their money
stage                     running it through one gateway, resumably
single                    `run REPO MODEL`: stages 01 to 05
steps                     what both share: headings, an evaluation and its summary
"""
