"""Names of DockerSandbox's images, labels and folders."""

from __future__ import annotations

import os

#: folders in a container; the base image has the first and the user
PARENT, HOME = "/workspace", "/home/bench"
REPO, SCRATCH, RUNNER_CACHE = f"{PARENT}/repo", f"{PARENT}/scratch", f"{HOME}/.cache/runner"
#: the folder of an agent's own files and tools
TOOLS = "/opt/agent"

#: labels of images: the layer, the digest of its inputs, the environment's digest, the tools that installed it
LAYER, DIGEST = "a11y-bench.layer", "a11y-bench.digest"
ENVIRONMENT, INSTALLED = "a11y-bench.environment", "a11y-bench.installed"
#: label of the image with a browser: the browser as name@version
BROWSER = "a11y-bench.browser"

#: the prefix of our images' names, and their comment: images that others make from ours have another comment
IMAGES, MADE_HERE = "a11y-bench/", "made by a11y-bench"


def base_image() -> str:
    """The base of all images: A11Y_BENCH_BASE_IMAGE, else the one that docker/base/build.sh makes."""
    return os.environ.get("A11Y_BENCH_BASE_IMAGE") or "a11y-bench/base:bookworm"


def browser_image() -> str:
    """The image with a browser: A11Y_BENCH_BROWSER_IMAGE, else one that is made from the base image when needed."""
    return os.environ.get("A11Y_BENCH_BROWSER_IMAGE") or "a11y-bench/browser:bookworm"


def environment_image(digest: str) -> str:
    return f"a11y-bench/env:{digest}"


def instance_image(digest: str) -> str:
    return f"a11y-bench/instance:{digest}"


def cache_volume(digest: str) -> str:
    """The volume of the runner's cache of an instance, or of an environment."""
    return f"a11y-bench-cache-{digest}"
