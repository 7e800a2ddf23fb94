"""Looking at answers: runs side by side, one instance with gold and answers, the report.

cli                       `runs list`, `show`, `compare`, `remove`
reading                   a run: what it shows, how its instances ended, what it cost
instance                  `show INSTANCE`
report                    `open`
"""
