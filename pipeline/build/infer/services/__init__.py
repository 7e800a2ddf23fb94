"""Services of continuous integration, each with a reader of its configuration: from a file to the jobs in it.

    job                             a job and its steps
    github, gitlab, azure           GitHub Actions, GitLab, Azure Pipelines
    circle, travis                  CircleCI in both versions, Travis

Files of the repository that a configuration includes are read as well. Unknown orbs, actions, tasks and templates from
elsewhere are ignored.
"""

from pipeline.build.infer.services.job import Job, Reader, Step, whole

__all__ = ["Job", "Reader", "Step", "whole"]
