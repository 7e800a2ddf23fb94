"""The embedded benchmark of `data/demo/`: its history, all stages on it, and the comparison with what is expected.

cli, stage                the command, and all stages one after the other
history                   the git history, made from files
model                     the scripted models
assess                    the assessment of all patches
expected                  the comparison
"""
