"""The sandbox `docker`: layers are images, a workspace is a container without network, removed after use.

sandbox, workspace        the two protocols
engine, containers        the engine through its API; its containers, of which none is left
commands, stream, limits  one command, its streams, and the limit that ended it
tar                       how files enter and leave
images, layers, tools, runner_cache      what is made: layers, agents' tools, caches of runners
browser                   the layer with a browser, and what shows it to Playwright
disk, directories, names  what is kept, whom it serves, what it is called
reach, relay              an agent's only way out (relay.js is its end in the container)
outlet                    the way that reports leave a container
fence                     an install's ways out: the registry, and hosts that lock files name
facts, faults, ssh        what the engine is, gets wrong, and how one behind ssh is reached
"""
