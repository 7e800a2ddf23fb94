"""GitHub's published limits of a query: page sizes, the number of nodes, and the cost in points.

Source: GitHub's documentation of the GraphQL API, "Rate limits and query limits". A connection is asked for once for
each node of the connections around it; the cost is the sum of these requests by 100, rounded, at least 1. A connection
of several types of an interface counts for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from graphql import (
    FieldNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    SelectionSetNode,
    get_argument_values,
    get_named_type,
    is_composite_type,
)

from github_double.plan import Composite, Query
from github_double.problems import Problem

MOST_ITEMS = 100
MOST_NODES = 500_000


class Size(NamedTuple):
    """The size of a query: requests of connections, and nodes."""

    requests: int = 0
    nodes: int = 0

    @property
    def points(self) -> int:
        """The cost; a half is rounded up."""
        return max(1, (self.requests + 50) // 100)


def measure(query: Query, parent: Composite, selections: SelectionSetNode) -> Size:
    """Measure an operation. Raises Problem if it exceeds a limit."""
    sizes = list(_sizes(query, parent, [selections], 1))
    size = Size(sum(part.requests for part in sizes), sum(part.nodes for part in sizes))
    if size.nodes > MOST_NODES:
        message = f"This query requests up to {size.nodes:,} possible nodes"
        raise Problem("MAX_NODE_LIMIT_EXCEEDED", f"{message} which exceeds the maximum limit of {MOST_NODES:,}.")
    return size


def _sizes(query: Query, parent: Composite, sets: list[SelectionSetNode], times: int) -> Iterator[Size]:
    """The size of each connection below, each asked for `times` times."""
    asked: dict[tuple[str, str], list[FieldNode]] = {}
    for selections in sets:
        _gather(query, parent, selections, asked)
    for (owner, _), nodes in asked.items():
        holder = query.schema.type_map[owner]
        assert isinstance(holder, GraphQLObjectType | GraphQLInterfaceType)
        definition = holder.fields[nodes[0].name.value]
        inside = times
        if "first" in definition.args:
            items = _items(query, definition, nodes[0])
            yield Size(times, times * items)
            inside = times * items
        kind = get_named_type(definition.type)
        if is_composite_type(kind):
            yield from _sizes(query, kind, [node.selection_set for node in nodes], inside)


def _gather(
    query: Query, parent: Composite, selections: SelectionSetNode, asked: dict[tuple[str, str], list[FieldNode]]
) -> None:
    for node in filter(query.wanted, selections.selections):
        if not isinstance(node, FieldNode):
            fragment = query.fragment(node)
            _gather(query, query.condition(fragment, parent), fragment.selection_set, asked)
        elif not node.name.value.startswith("__"):
            asked.setdefault((parent.name, (node.alias or node.name).value), []).append(node)


def _items(query: Query, definition: GraphQLField, node: FieldNode) -> int:
    """The number of requested items. Raises Problem if neither or both ends are given, or too many items."""
    arguments = get_argument_values(definition, node, query.variables)
    name = node.name.value
    given = {key: arguments[key] for key in ("first", "last") if arguments.get(key) is not None}
    if not given:
        message = f"You must provide a `first` or `last` value to properly paginate the `{name}` connection."
        raise Problem("MISSING_PAGINATION_BOUNDARIES", message)
    if len(given) == 2:
        message = f"Passing both `first` and `last` to paginate the `{name}` connection is not supported."
        raise Problem("INVALID_PAGINATION_BOUNDARIES", message)
    [(key, items)] = given.items()
    if not 0 <= items <= MOST_ITEMS:
        message = (
            f"Requesting {items} records on the `{name}` connection exceeds the `{key}` limit of {MOST_ITEMS} records."
        )
        raise Problem("EXCESSIVE_PAGINATION", message)
    return items
