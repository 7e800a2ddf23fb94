"""Looking at answers: runs side by side, one instance with gold and answers, the report.

cli                       `runs list`, `show`, `compare`, `remove`
reading                   a run: its answers, the outcomes of its instances, its cost
instance                  `show INSTANCE`
answered                  what it shows of an answer
trajectory                the conversation of agent and model
page                      `show INSTANCE --browser`
report                    `open`
"""
