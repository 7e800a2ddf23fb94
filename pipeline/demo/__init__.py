"""The embedded benchmark in `data/demo/`: its history, all stages on it, and the comparison with the expected results.

cli, stage                the command, and all stages in order
history                   the git history, made from files
model                     the scripted models
assess                    the assessment of all patches
expected                  the comparison
"""
