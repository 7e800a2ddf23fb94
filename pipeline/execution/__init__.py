"""From a commit to an image, and from a patch to a test run: shared by all stages that run tests.

images                    an instance's image: the layer of dependencies, then the layer of sources
generated                 files that the repository's own commands make before its tests
scope                     which test files run
runs                      apply, run, read the report: the only way in which tests run
applying                  patches in a workspace, and protected files in gold's state
added                     files of a patch that tests could load in place of others
tree                      listing and removing files of a workspace
renewing                  making files again with a patch's own commands, and undoing what they do to gold's
reads                     observing which files a runner reads
closure                   which of these are protected, besides those protected by name
control                   negative controls, and checking that test files stay unchanged
falsified                 expectations of tests made false, as text
counter                   counter-runs of a patch that passes all tests
command                   from an environment to a command
run                       the record of a test run
reading                   what its log and report say
law                       what of all this decides
"""
