"""A11y-Bench: real accessibility pull requests as executable repair tasks.

`pipeline.core` is the shared floor. The stages (`triage collect build predict evaluate analyze`) stand on it, never on
each other, and meet only through files in `data/`. `pipeline.cli` is the console program.
"""

__version__ = "0.1.0"
