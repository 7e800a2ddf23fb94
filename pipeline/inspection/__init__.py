"""Looking at what agents answered: runs side by side, one instance with gold and answers, the report.

cli                       `runs list`, `show`, `compare`, `remove`
reading                   a run as it stands: what it shows, how that ended, what it cost
instance                  `show INSTANCE`
report                    `open`
"""
