"""The sandbox `docker`: layers are images, a workspace is a container without network, removed after use.

sandbox, workspace        the two protocols
engine, containers        the engine through its API; its containers, which are always removed
commands, stream, limits  one command, its streams, and the limit that ended it
tar                       how files enter and leave
images, layers, tools, runner_cache      layers, agents' tools, caches of test runners
registry, manifest        images in a registry; the sizes of their layers there
browser                   the layer with a browser that Playwright finds
disk, directories, names  disk usage and removal, data directories served, names
reach, relay              an agent's only connection to the outside (relay.js is the end in the container)
outlet                    how reports leave a container
fence                     the hosts that an install may reach: the registry, and hosts in lock files
facts, faults, ssh        properties of the engine, its errors, engines behind ssh
"""
