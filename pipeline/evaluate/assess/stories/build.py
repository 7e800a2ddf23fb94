"""A repository's stories in one state of its sources, built in the sandbox without network.

Stories and their configuration (`is_story`) are gold's in every state, as tests are: a patch cannot hide a fault by
changing its story. Does not cover what a patch's code does during the build.
"""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple

from pydantic import Base64Bytes

from pipeline.core.errors import InfrastructureError
from pipeline.evaluate.assess.stories import script
from pipeline.execution import runs
from pipeline.execution.runs import Plan
from pipeline.sandbox.base import Completed, Workspace

#: increased whenever stories are built differently: older ones are stale
VERSION = 2
_STORY = re.compile(r"\.(?:stories|story)\.[^/]+$|(?:^|/)(?:\.storybook|stories|__stories__)/")


class Built(NamedTuple):
    """The site as an archive (tar, gzip), and the folder in which it was built. `silence` says why there is no site."""

    archive: Base64Bytes = b""
    folder: str = ""
    silence: str = ""


def is_story(path: str) -> bool:
    """Whether a path is a story, or Storybook's configuration."""
    return bool(_STORY.search(path))


def run_build(plan: Plan, candidate: str, fix_patch: str, test_patch: str) -> Built:
    """Build the stories with a candidate. Raises PatchFailed, InfrastructureError."""
    with runs.prepared(plan, candidate, fix_patch, test_patch, also=is_story) as (workspace, _):
        return _built(workspace, plan)


def _built(workspace: Workspace, plan: Plan) -> Built:
    out = f"{workspace.scratch}/stories"
    for folder in dict.fromkeys((plan.environment.folder, "")):
        manifest = workspace.read(posixpath.join(workspace.root, folder, "package.json"))
        if argv := script.command(manifest, out):
            completed = workspace.run(argv, env=script.variables(plan.environment.node), folder=folder)
            return _packed(workspace, completed, out, folder)
    return Built(silence="the repository has no script that builds stories")


def _packed(workspace: Workspace, completed: Completed, out: str, folder: str) -> Built:
    if completed.limit == "memory":
        raise InfrastructureError("building the stories ran out of memory", cause="out_of_memory")
    if completed.code:
        output = completed.limit or completed.output.decode(errors="replace").strip()[-500:]
        return Built(silence=f"the stories cannot be built: {output}")
    archive = f"{out}.tar.gz"
    if workspace.run(["tar", "--format=ustar", "-czf", archive, "-C", out, "."]).code:
        return Built(silence="the script that builds stories writes none to the folder of -o")
    data = workspace.read(archive)
    return Built(data, folder) if data else Built(silence="the stories are larger than a workspace may hand out")
