"""What images, labels and folders of DockerSandbox are called."""

from __future__ import annotations

import os

#: folders in a container; the base image has the first and the user
PARENT, HOME = "/workspace", "/home/bench"
REPO, SCRATCH, RUNNER_CACHE = f"{PARENT}/repo", f"{PARENT}/scratch", f"{HOME}/.cache/runner"
#: where an agent's own files and tools lie
TOOLS = "/opt/agent"

#: labels of images: which layer, the digest of what it is made of, the environment's digest, what it was installed with
LAYER, DIGEST = "a11y-bench.layer", "a11y-bench.digest"
ENVIRONMENT, INSTALLED = "a11y-bench.environment", "a11y-bench.installed"
#: of the image with a browser: the browser as name@version
BROWSER = "a11y-bench.browser"

#: where the names of our images begin, and the comment of those made here: what is made of them has another
IMAGES, MADE_HERE = "a11y-bench/", "made by a11y-bench"


def base_image() -> str:
    """The image that all stand on: A11Y_BENCH_BASE_IMAGE, else the one that docker/base/build.sh makes."""
    return os.environ.get("A11Y_BENCH_BASE_IMAGE") or "a11y-bench/base:bookworm"


def browser_image() -> str:
    """The image with a browser: A11Y_BENCH_BROWSER_IMAGE, else one that is made of the base image when it is needed."""
    return os.environ.get("A11Y_BENCH_BROWSER_IMAGE") or "a11y-bench/browser:bookworm"


def environment_image(digest: str) -> str:
    return f"a11y-bench/env:{digest}"


def instance_image(digest: str) -> str:
    return f"a11y-bench/instance:{digest}"


def cache_volume(digest: str) -> str:
    """The volume of the runner's cache of an instance, or of an environment."""
    return f"a11y-bench-cache-{digest}"
