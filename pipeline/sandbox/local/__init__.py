"""The sandbox `local`: folders and processes of this machine, which isolate nothing.

sandbox, workspace        the two protocols
process                   a command in a session of its own
images, disk              layers as folders, and removing them
"""
