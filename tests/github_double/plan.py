"""Executes a validated query over plain dictionaries: the part of GraphQL execution that large pages need, and fast.

A node is a dictionary: field -> value, or a function of the field's arguments; a node of an abstract type names its own
type in `__typename`. Fragments, aliases, variables, @skip, @include, and null for failed fields are covered. Not
covered: introspection, and the coercion of results (a test compares with graphql-core's own execution).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLIncludeDirective,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLSkipDirective,
    GraphQLUnionType,
    InlineFragmentNode,
    SelectionNode,
    SelectionSetNode,
    get_argument_values,
    get_directive_values,
    get_named_type,
    is_abstract_type,
    is_composite_type,
    is_non_null_type,
)

from github_double.problems import NotModelled, Problem

Composite = GraphQLObjectType | GraphQLInterfaceType | GraphQLUnionType
Path = tuple[str | int, ...]


class Field(NamedTuple):
    """One field to answer: its key in the answer, its name, its arguments, and the selections of its value."""

    key: str
    name: str
    arguments: dict[str, Any]
    inner: Selection | None
    nullable: bool


class Query(NamedTuple):
    """Shared by the selections of one request."""

    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Any

    def wanted(self, node: SelectionNode) -> bool:
        """Whether @skip and @include admit it."""
        skip = get_directive_values(GraphQLSkipDirective, node, self.variables)
        include = get_directive_values(GraphQLIncludeDirective, node, self.variables)
        return not (skip and skip["if"]) and (include is None or include["if"])

    def fragment(self, node: SelectionNode) -> InlineFragmentNode | FragmentDefinitionNode:
        """The fragment that a selection other than a field refers to."""
        if isinstance(node, InlineFragmentNode):
            return node
        assert isinstance(node, FragmentSpreadNode)
        return self.fragments[node.name.value]

    def condition(self, fragment: InlineFragmentNode | FragmentDefinitionNode, parent: Composite) -> Composite:
        """The type that a fragment applies to; its parent's if it names none."""
        named = fragment.type_condition
        return self.schema.type_map[named.name.value] if named else parent


class Selection:
    """The selections of a value of one type (`parent`), which may be abstract."""

    def __init__(self, query: Query, parent: Composite, sets: list[SelectionSetNode]) -> None:
        self.query, self.parent, self.sets = query, parent, sets
        self.abstract = is_abstract_type(parent)
        self.plans: dict[str, list[Field]] = {}

    def of(self, source: Mapping[str, Any]) -> list[Field]:
        """The requested fields of this node, by its own type."""
        name = source["__typename"] if self.abstract else self.parent.name
        plan = self.plans.get(name)
        if plan is None:
            plan = self.plans[name] = list(self.fields(self.query.schema.type_map[name]))
        return plan

    def fields(self, concrete: Composite) -> Iterator[Field]:
        """Every requested field of a node of the concrete type, each key once."""
        asked: dict[str, list[FieldNode]] = {}
        for selections in self.sets:
            self._gather(concrete, selections, asked)
        for key, nodes in asked.items():
            yield self._field(concrete, key, nodes)

    def _gather(self, concrete: Composite, selections: SelectionSetNode, asked: dict[str, list[FieldNode]]) -> None:
        for node in filter(self.query.wanted, selections.selections):
            if isinstance(node, FieldNode):
                asked.setdefault((node.alias or node.name).value, []).append(node)
                continue
            fragment = self.query.fragment(node)
            if self._applies(self.query.condition(fragment, concrete), concrete):
                self._gather(concrete, fragment.selection_set, asked)

    def _applies(self, wanted: Composite, concrete: Composite) -> bool:
        return wanted is concrete or (is_abstract_type(wanted) and self.query.schema.is_sub_type(wanted, concrete))

    def _field(self, concrete: Composite, key: str, nodes: list[FieldNode]) -> Field:
        name = nodes[0].name.value
        if name.startswith("__"):
            return Field(key, name, {}, None, False)
        definition = concrete.fields[name]
        arguments = get_argument_values(definition, nodes[0], self.query.variables)
        kind = get_named_type(definition.type)
        sets = [node.selection_set for node in nodes if node.selection_set]
        inner = Selection(self.query, kind, sets) if is_composite_type(kind) else None
        return Field(key, name, arguments, inner, not is_non_null_type(definition.type))


def resolve(owner: Composite, source: Mapping[str, Any], name: str, arguments: Mapping[str, Any]) -> Any:
    """A field's value. Raises NotModelled for a field that the double lacks, and Problem as its function does."""
    if name not in source:
        if name == "__typename":
            return owner.name
        raise NotModelled(f"the field {source.get('__typename', owner.name)}.{name}")
    value = source[name]
    return value(**arguments) if callable(value) else value


class Walk:
    """One execution; collects the errors of fields that became null."""

    def __init__(self) -> None:
        self.errors: list[dict[str, Any]] = []

    def node(self, selection: Selection, source: Mapping[str, Any], path: Path = ()) -> dict[str, Any]:
        """The answer to a selection on one node."""
        answer: dict[str, Any] = {}
        for key, name, arguments, inner, nullable in selection.of(source):
            try:
                value = resolve(selection.parent, source, name, arguments)
                answer[key] = self._value(inner, value, (*path, key)) if inner else value
            except Problem as problem:
                problem.path = problem.path or (*path, key)
                if not nullable:
                    raise
                answer[key] = None
                self.errors.append(problem.entry())
        return answer

    def _value(self, selection: Selection, value: Any, path: Path) -> Any:
        if value is None:
            return None
        if isinstance(value, list):
            return [self._value(selection, entry, (*path, index)) for index, entry in enumerate(value)]
        return self.node(selection, value, path)
