"""From a commit to an image, and from a patch to a test run: the same for all stages that run tests.

images                    an instance's image: the layer of dependencies, then the layer of sources
generated                 files that the repository's own commands make before its tests run
scope                     which test files are run
runs                      patch, run, read the report: the one way in which tests are run
applying                  patches in a workspace, and protected files as gold has them
reads                     asking a runner which files it reads
closure                   what of that is protected, beside what is by name
control                   negative controls, and test files that stay as they are
falsified                 expectations of tests made false, as text
counter                   counter-runs of a patch that all tests accept
command                   from an environment to the words of a command
run                       a test run as it was, and how it is stored
reading                   what its log and report say
law                       what of all this decides
"""
