"""A patch's limits, derived from what gold needed."""

from __future__ import annotations

import factories
import pytest

from pipeline.core.records import Identity
from pipeline.evaluate import limits
from pipeline.evaluate.grade import differences
from pipeline.sandbox.base import DEFAULT

GIB = 2**30


@pytest.mark.rule("memory-by-gold")
@pytest.mark.trap("bought-fault")
@pytest.mark.parametrize(("gold", "patch"), [(0, 4 * GIB), (GIB, 2 * GIB), (2 * GIB, 4 * GIB), (4 * GIB, 4 * GIB)])
def test_a_patch_has_twice_the_memory_of_gold(gold: int, patch: int) -> None:
    """Never more than the limit of all tests; if gold's need is unknown, that limit applies."""
    instance = factories.make_instance(1, memory=gold)
    assert limits.of_instance(instance, DEFAULT).memory == patch
    assert limits.of_instance(instance, DEFAULT).seconds == DEFAULT.seconds


def test_an_instance_that_was_built_with_more_memory_is_evaluated_with_it() -> None:
    ran = Identity(node="20.1.0").within(vars(DEFAULT) | {"memory": 8 * GIB})
    instance = factories.make_instance(1, memory=8 * GIB, ran=ran)
    own = ran.within(vars(limits.of_instance(instance, DEFAULT)))
    assert own.limits["memory"] == 8 * GIB
    assert differences(limits.due(instance), own) == ()


def test_the_doubled_memory_limit_is_no_difference_from_qualification() -> None:
    ran = Identity(node="20.1.0").within(vars(DEFAULT))
    instance = factories.make_instance(1, memory=GIB, ran=ran)
    own = ran.within(vars(limits.of_instance(instance, DEFAULT)))
    assert differences(limits.due(instance), own) == ()
    assert differences(limits.due(instance), ran)
    assert limits.due(factories.make_instance(1, memory=GIB)) is None
