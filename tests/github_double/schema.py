"""GitHub's published GraphQL schema, from the npm package of one pinned version."""

from __future__ import annotations

from functools import cache

from graphql import GraphQLSchema, build_schema

from pipeline.core.npm_package import NpmPackage

PACKAGE = NpmPackage(
    "@octokit/graphql-schema@15.26.1",
    "sha512-RFDC2MpRBd4AxSRvUeBIVeBU7ojN/SxDfALUd7iVYOSeEK3gZaqR2MGOysj4Zh2xj2RY5fQAUT+Oqq7hWTraMA==",
    "schema.graphql",
)


@cache
def github_schema() -> GraphQLSchema:
    """The schema, built once for each process (half a second). Raises as `NpmPackage.fetch` does."""
    text = PACKAGE.file().read_text(encoding="utf-8")
    return build_schema(text, assume_valid=True, assume_valid_sdl=True)
