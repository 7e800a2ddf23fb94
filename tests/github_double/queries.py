"""Answering GraphQL requests: parse, validate against GitHub's schema, measure, spend, execute.

Parsed and validated documents are kept by their text, since a client sends the same few again and again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from graphql import (
    DocumentNode,
    FragmentDefinitionNode,
    GraphQLError,
    OperationDefinitionNode,
    OperationType,
    get_variable_values,
    parse,
    validate,
)

from github_double.budget import Budget
from github_double.limits import Size, measure
from github_double.model import root
from github_double.plan import Query, Selection, Walk
from github_double.problems import NotModelled, Problem
from github_double.schema import github_schema
from github_double.world import World


class Outcome(NamedTuple):
    """The body of an answer and its cost in points; a query that is refused before its execution costs nothing."""

    body: dict[str, Any]
    points: int = 0


def answer(world: World, request: Mapping[str, Any], budget: Budget) -> Outcome:
    """Execute a request (`query`, `variables`, `operationName`) as GitHub would. Raises NotModelled."""
    try:
        query, operation = _prepare(request)
        size = measure(query, github_schema().query_type, operation.selection_set)
    except GraphQLError as error:
        return Outcome({"errors": [error.formatted]})
    except Problem as problem:
        return Outcome({"errors": [problem.entry()]})
    if not budget.spend(size.points):
        return Outcome({"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1."}]})
    return Outcome(execute(world, query, operation, lambda: _rate_limit(budget, size)), size.points)


def execute(world: World, query: Query, operation: OperationDefinitionNode, rate_limit: Any) -> dict[str, Any]:
    """The answer to a prepared query: `data`, and `errors` if there are any."""
    walk = Walk()
    selection = Selection(query, query.schema.query_type, [operation.selection_set])
    try:
        data = walk.node(selection, root(world, rate_limit))
    except Problem as problem:
        return {"data": None, "errors": [*walk.errors, problem.entry()]}
    return {"data": data, "errors": walk.errors} if walk.errors else {"data": data}


def _prepare(request: Mapping[str, Any]) -> tuple[Query, OperationDefinitionNode]:
    """Raises GraphQLError for a query that does not fit GitHub's schema."""
    document = _document(request.get("query") or "")
    operation = _operation(document, request.get("operationName"))
    variables = get_variable_values(
        github_schema(), operation.variable_definitions or [], request.get("variables") or {}
    )
    if isinstance(variables, list):
        raise variables[0]
    fragments = {
        definition.name.value: definition
        for definition in document.definitions
        if isinstance(definition, FragmentDefinitionNode)
    }
    return Query(github_schema(), fragments, variables), operation


@lru_cache(maxsize=256)
def _document(text: str) -> DocumentNode:
    document = parse(text)
    errors = validate(github_schema(), document)
    if errors:
        raise errors[0]
    return document


def _operation(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    operations = [definition for definition in document.definitions if isinstance(definition, OperationDefinitionNode)]
    chosen = [
        operation for operation in operations if name is None or (operation.name and operation.name.value == name)
    ]
    if len(chosen) != 1:
        raise GraphQLError("An operation name is required" if name is None else f'No operation named "{name}"')
    if chosen[0].operation is not OperationType.QUERY:
        raise NotModelled(f"the operation {chosen[0].operation.value}")
    return chosen[0]


def _rate_limit(budget: Budget, size: Size) -> dict[str, Any]:
    return {
        "cost": size.points,
        "limit": budget.limit,
        "nodeCount": size.nodes,
        "remaining": budget.remaining,
        "resetAt": budget.reset_at,
        "used": budget.limit - budget.remaining,
    }
