"""Looking at answers: runs side by side, one instance with gold and answers, the report.

cli                       `runs list`, `show`, `compare`, `remove`
reading                   a run: its answers, the outcomes of its instances, its cost
instance                  `show INSTANCE`
report                    `open`
"""
