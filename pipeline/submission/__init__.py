"""Submissions: the answers of one agent and model, as a bundle that others verify, regrade and list.

bundle           pack, verify, regrade: a folder with predictions, verdicts, logs, trajectories and provenance
leaderboard      a page of verified bundles
cli              the commands
"""
