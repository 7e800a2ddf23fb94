"""Tables on models that are not metrics of a group: outcomes, pairs, pass@k, stages, causes. Pure, over frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.dataset import assignments, score
from pipeline.analyze.measures.group import WHO, attempts
from pipeline.analyze.measures.shares import known_total, percent, share
from pipeline.core.records import RAN, Outcome
from pipeline.report import statistics

#: a model, and of each instance whether its result is known, and whether it is resolved
_Results = tuple[str, np.ndarray, np.ndarray]
#: the agent's outcome of a reply that was cut at its token limit
CUT = "CUT_ANSWER"


def outcomes(frames: Frames) -> pd.DataFrame:
    """The number of instances by outcome, agent and model; references last."""
    rows = attempts(frames, references=True)
    counts = rows.groupby(["kind", *WHO, "outcome"]).size().unstack(fill_value=0)
    counts = counts.reindex(columns=[outcome.value for outcome in Outcome], fill_value=0)
    return counts.rename(columns={"empty": "empty_patch"}).reset_index()


def comparison(frames: Frames) -> pd.DataFrame:
    """McNemar's test for every pair of models, on the instances evaluated for both."""
    rows = attempts(frames)
    rows = rows.assign(who=model_labels(rows))
    table = rows[rows["evaluated"]].pivot(index="instance_id", columns="who", values="resolved")
    pairs = _pairs(table)
    adjusted = statistics.adjusted([pair["p_value"] for pair in pairs])
    return pd.DataFrame([pair | {"p_adjusted": p} for pair, p in zip(pairs, adjusted, strict=True)])


def model_labels(rows: pd.DataFrame) -> pd.Series:
    """The model of each row, with its agent if there are several agents."""
    if rows["agent"].nunique() < 2:
        return rows["model"]
    return rows["model"] + " (" + rows["agent"] + ")"


def _pairs(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Every pair of columns, on the instances for which both say whether they are resolved."""
    known, resolved = table.notna(), table.fillna(False)
    results = [(str(who), known[who].to_numpy(), resolved[who].to_numpy(bool)) for who in table]
    return [_pair(*pair) for pair in combinations(results, 2)]


def _pair(left: _Results, right: _Results) -> dict[str, Any]:
    (first_name, first_known, first), (second_name, second_known, second) = left, right
    known = first_known & second_known
    only_first, only_second = int((known & first & ~second).sum()), int((known & second & ~first).sum())
    return {
        "first": first_name,
        "second": second_name,
        "instances": known.sum(),
        "both": (known & first & second).sum(),
        "only_first": only_first,
        "only_second": only_second,
        "neither": (known & ~first & ~second).sum(),
        "p_value": statistics.mcnemar(only_first, only_second),
    }


def pass_at_k(frames: Frames, up_to: int | None = None) -> pd.DataFrame:
    """pass@k by model, for every k up to the smallest number of attempts at an instance, or up to `up_to`. Raises
    UserError if that is larger. Every instance that a model was given counts; without any verdict, all its attempts
    failed. Rows are incomplete if an attempt was not evaluated."""
    instances = frames.of_models.groupby(WHO)["instance_id"].unique()
    groups = _by_model(frames.given_samples)
    return pd.DataFrame([row for who, group in groups for row in _estimates(who, group, instances[who], up_to)])


def _estimates(
    who: tuple[str, str], rows: pd.DataFrame, instances: Iterable[str], up_to: int | None
) -> Iterator[dict[str, object]]:
    counts = rows.groupby("instance_id")["resolved"].agg(["size", "sum"])
    fewest = int(counts["size"].min())
    missing = pd.DataFrame({"size": fewest, "sum": 0}, index=pd.Index(instances).difference(counts.index))
    counts = pd.concat([counts, missing])
    incomplete = len(missing) > 0 or not rows["evaluated"].all()
    for k in range(1, (up_to or fewest) + 1):
        estimates = [statistics.pass_at_k(int(n), int(c), k) for n, c in counts.itertuples(index=False)]
        row: dict[str, object] = {
            "k": k,
            "instances": len(estimates),
            "attempts": fewest,
            "pass_at_k_pct": 100 * sum(estimates) / len(estimates),
            "incomplete": incomplete,
        }
        yield {**dict(zip(WHO, who, strict=True)), **row}


def each_attempt(frames: Frames) -> pd.DataFrame:
    """The results of the first attempts, the second ones, and so on; empty if there is only one each."""
    rows = _of_several(frames)
    instances = frames.of_models.groupby(WHO).size()
    groups = rows.groupby([*WHO, "data", "attempt"], sort=False)
    sums = groups.agg(evaluated=("evaluated", "sum"), resolved=("resolved", "sum"), cost_usd=("cost_usd", known_total))
    table = sums.reset_index().merge(instances.rename("instances").reset_index(), on=WHO)
    table = table.sort_values([*WHO, "data", "attempt"], kind="stable")
    intervals = [statistics.wilson(*pair) for pair in table[["resolved", "instances"]].itertuples(index=False)]
    bounds = [(interval and 100 * interval.low, interval and 100 * interval.high) for interval in intervals]
    table[["resolved_low", "resolved_high"]] = pd.DataFrame(bounds, index=table.index, columns=["low", "high"])
    return table.assign(resolved_pct=percent(table["resolved"], table["instances"]))


def instance_attempts(frames: Frames) -> pd.DataFrame:
    """The outcome of each attempt at an instance; empty if there is only one each."""
    groups = _of_several(frames).groupby(["instance_id", *WHO])
    return groups.agg(
        attempts=("outcome", "size"),
        resolved=("resolved", "sum"),
        ends=("outcome", ", ".join),
        cost_usd=("cost_usd", known_total),
    ).reset_index()


def _of_several(frames: Frames) -> pd.DataFrame:
    """Attempts in order, of agents and models with more than one at any instance; without references."""
    rows = frames.given_samples
    several = rows.groupby([*WHO, "instance_id"])["attempt"].transform("size") > 1
    return rows[several.groupby([rows[name] for name in WHO]).transform("any")].sort_values("attempt", kind="stable")


def stages(frames: Frames) -> pd.DataFrame:
    """The number of instances that passed each stage of the agent, were then tested, and were resolved."""
    rows = frames.stages.assign(reached=frames.stages["count"] > 0)
    reached = rows.groupby([*WHO, "place", "stage"])["reached"].sum().reset_index()
    last = int(reached["place"].max())
    ends = [_ends(who, group, last) for who, group in _answered(frames, reached)]
    table = pd.concat([reached, *ends]).sort_values([*WHO, "place"])
    answers = frames.predictions.groupby(WHO)["predicted"].sum().rename("answers").reset_index()
    table = table.merge(answers, on=WHO)
    return table.assign(reached_pct=percent(table["reached"], table["answers"]))


def _answered(frames: Frames, reached: pd.DataFrame) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    rows = frames.predictions[frames.predictions["judged"]].merge(reached[WHO].drop_duplicates(), on=WHO)
    yield from _by_model(rows)


def _by_model(rows: pd.DataFrame) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    for (agent, model), group in rows.groupby(WHO):
        yield (str(agent), str(model)), group


def _ends(who: tuple[str, str], rows: pd.DataFrame, place: int) -> pd.DataFrame:
    ran = rows["outcome"].isin(RAN)
    counts = {"tests run": ran.sum(), "resolved": rows["resolved"].sum()}
    table = pd.DataFrame([(place + n, *count) for n, count in enumerate(counts.items(), 1)])
    return table.set_axis(["place", "stage", "reached"], axis=1).assign(agent=who[0], model=who[1])


#: column of the table of replies -> the replies that it counts
_SHARES = {
    "reply_edits_pct": lambda rows: rows["edited"],
    "reply_matches_pct": lambda rows: rows["matched"],
    "reply_applies_pct": lambda rows: rows["applied"],
    "reply_parses_pct": lambda rows: rows["parses"],
    "verbatim_pct": lambda rows: rows["verbatim"].fillna(False),
    "cut_pct": lambda rows: rows["ended"].fillna("") == CUT,
    "again_pct": lambda rows: rows["reply"] > 1,
}


def replies(frames: Frames) -> pd.DataFrame:
    """The shares of replies that passed each stage, by agent and model."""
    groups = _by_model(frames.replies)
    return pd.DataFrame(
        {"agent": who[0], "model": who[1], "replies": len(rows)}
        | {name: share(int(select(rows).sum()), len(rows)) for name, select in _SHARES.items()}
        for who, rows in groups
    )


def causes(frames: Frames) -> pd.DataFrame:
    """The agent's own outcome, with the outcome of the evaluation and its cause; shares are of the instances that were
    selected for the model."""
    rows = attempts(frames, "predicted")
    rows = rows.assign(ended=rows["ended"].fillna("no answer"))
    counts = rows.groupby([*WHO, "ended", "outcome", "cause"], dropna=False).size().rename("instances").reset_index()
    counts = counts.sort_values([*WHO, "instances"], ascending=[True, True, False], kind="stable")
    return counts.assign(instances_pct=percent(counts["instances"], counts.groupby(WHO)["instances"].transform("sum")))


def by_principle(frames: Frames) -> pd.DataFrame:
    """Resolved by WCAG principle, over assigned criteria (an instance can count twice) and over instances."""
    rows = attempts(frames).merge(assignments(frames), "left", on="instance_id")
    table = pd.concat([_scores(group).assign(agent=who[0], model=who[1]) for who, group in _by_model(rows)])
    return table.assign(
        criteria_resolved_pct=percent(table["criteria_resolved"], table["criteria"]),
        instances_resolved_pct=percent(table["instances_resolved"], table["instances"]),
    )


def _scores(rows: pd.DataFrame) -> pd.DataFrame:
    solved = score(rows[rows["resolved"]]).set_index("principle").add_suffix("_resolved").reset_index()
    joined = score(rows).merge(solved, "left", on="principle")
    return joined.fillna({"criteria_resolved": 0, "instances_resolved": 0})
