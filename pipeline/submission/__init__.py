"""Submissions: what one agent and model answered, as a bundle that others check, judge again and list.

bundle           pack, verify, regrade: a folder with predictions, verdicts, logs, trajectories and provenance
leaderboard      a page of verified bundles
cli              the commands
"""
