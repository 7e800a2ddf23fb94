"""The metrics: each is one number of a group of predictions. `tables.toml` says what they mean.

To add one: a function (or one of `kinds`) and a row of METRICS here, a row of [columns] there.
"""

from __future__ import annotations

import pandas as pd

from pipeline.analyze.measures.group import WHO, Group
from pipeline.analyze.measures.kinds import (
    Metric,
    among,
    by_repo,
    change,
    count,
    known,
    macro,
    mean,
    median,
    money,
    number,
    per,
    ratio,
    summed,
)
from pipeline.analyze.measures.shares import share
from pipeline.core.records import Outcome
from pipeline.report import statistics


# -- resolution --------------------------------------------------------------------------------------------------------
def instances(group: Group) -> int:
    return len(group.rows)


resolved, evaluated, predicted = map(count, ("resolved", "evaluated", "predicted"))


def equivalent(group: Group) -> int | None:
    """A patch that was not assessed counts if it is resolved; None if none was assessed."""
    known_values = group.rows["equivalent"]
    return None if known_values.isna().all() else int(known_values.fillna(group.rows["resolved"]).sum())


def wilson(end: str) -> Metric:
    """One end of the interval of the share of resolved instances."""
    return lambda group: _percent(statistics.wilson(resolved(group), instances(group)), end)


def bootstrap(end: str) -> Metric:
    """One end of the interval of the mean over repositories."""
    return lambda group: _percent(statistics.macro_bootstrap([values for _, values in by_repo(group, "resolved")]), end)


def _percent(interval: statistics.Interval | None, end: str) -> float | None:
    return interval and 100 * getattr(interval, end)


def partly(group: Group) -> int:
    return int(((group.rows["outcome"] == Outcome.UNRESOLVED) & (group.rows["fixed"] > 0)).sum())


def incomplete(group: Group) -> bool:
    """Whether some attempt was not evaluated, the first or a further one."""
    return not (group.rows["evaluated"].all() and group.samples["evaluated"].all())


def subset(group: Group) -> bool:
    return len(group.rows) < group.frames.of_models["instance_id"].nunique()


def attempts(group: Group) -> int | None:
    """The smallest number of verdicts on an instance, of any agent and model."""
    counts = group.samples.groupby([*WHO, "instance_id"]).size()
    return int(counts.min()) if len(counts) else None


def pass_at_all(group: Group) -> float | None:
    """pass@k for k attempts, as many as every instance has; None for a single attempt."""
    k = attempts(group)
    if not k or k < 2:
        return None
    counts = group.samples.groupby("instance_id")["resolved"].agg(["size", "sum"])
    estimates = [statistics.pass_at_k(int(n), int(c), k) for n, c in counts.itertuples(index=False)]
    return share(sum(estimates), instances(group))


# -- patches -----------------------------------------------------------------------------------------------------------
non_empty, empty = known("files"), count("empty")
perfect, partial, miss = (among("localisation", kind) for kind in ("perfect", "partial", "miss"))
files, lines, hunks = map(mean, ("files", "lines", "hunks"))
gold_files, gold_lines, gold_hunks = (mean(f"gold_{name}", where="files") for name in ("files", "lines", "hunks"))


def non_empty_macro(group: Group) -> float | None:
    emptiness = macro("empty")(group)
    return None if emptiness is None else 100 - emptiness


def touched(group: Group) -> int:
    return perfect(group) + partial(group)


def jaccard_of_all(group: Group) -> float | None:
    answers = predicted(group)
    return float(group.rows["jaccard"].sum()) / answers if answers else None


# -- what the agent saw ------------------------------------------------------------------------------------------------
def of_seen(column: str) -> Metric:
    """A sum over the predictions whose agent reports what it saw; without a patch, no file is changed."""
    return lambda group: int(group.rows.dropna(subset="gold_located")[column].fillna(0).sum())


# -- money -------------------------------------------------------------------------------------------------------------
llm, embeddings = money("shown_llm_usd"), money("shown_emb_usd")
cost = money("shown_llm_usd", "shown_emb_usd")
all_spent = money("spent_usd")


def llm_share(group: Group) -> float | None:
    return share(llm(group), spent) if (spent := cost(group)) else None


# -- accessibility -----------------------------------------------------------------------------------------------------
axe_fixed, axe_introduced = summed("axe_fixed"), summed("axe_introduced")


def axe_delta(group: Group) -> int | None:
    fixed, introduced = axe_fixed(group), axe_introduced(group)
    return None if fixed is None or introduced is None else introduced - fixed


# -- what people and models say ----------------------------------------------------------------------------------------
def hand_agree(group: Group) -> float | None:
    voted = _voted(group)
    return share((voted["hand_fixes"] == voted["resolved"]).sum(), len(voted))


def hand_kappa(group: Group) -> float | None:
    voted = _voted(group)
    return statistics.kappa(voted["hand_fixes"].tolist(), voted["resolved"].tolist())


def _voted(group: Group) -> pd.DataFrame:
    """The rows on which both people and tests decided."""
    return group.rows[group.rows["evaluated"]].dropna(subset="hand_fixes")


def judge_mean(group: Group) -> float | None:
    """The mean of the judge's ratings without -1, which means that the judge could not tell."""
    judge = group.rows["judge"]
    return number(judge[judge > 0].mean())


#: metric -> its function
METRICS: dict[str, Metric] = {
    "instances": instances,
    "predicted": predicted,
    "evaluated": evaluated,
    "attempts": attempts,
    "pass_at_all_pct": pass_at_all,
    "resolved": resolved,
    "resolved_pct": ratio(resolved, instances),
    "resolved_low": wilson("low"),
    "resolved_high": wilson("high"),
    "macro_pct": macro("resolved"),
    "macro_low": bootstrap("low"),
    "macro_high": bootstrap("high"),
    "resolved_of_evaluated_pct": ratio(resolved, evaluated),
    "partly": partly,
    "incomplete": incomplete,
    "subset": subset,
    "equivalent": equivalent,
    "equivalent_pct": ratio(equivalent, instances),
    "audited": known("axe_fixed"),
    "axe_fixed": axe_fixed,
    "axe_remaining": summed("axe_remaining"),
    "axe_introduced": axe_introduced,
    "axe_delta": axe_delta,
    "judge_mean": judge_mean,
    "score_mean": mean("score"),
    "hand_checked": known("hand_checks"),
    "hand_fixes": count("hand_fixes"),
    "hand_fixes_pct": ratio(count("hand_fixes"), known("hand_checks")),
    "hand_agree_pct": hand_agree,
    "hand_kappa": hand_kappa,
    "non_empty": non_empty,
    "empty_patches": empty,
    "non_empty_pct": ratio(non_empty, predicted),
    "non_empty_macro_pct": non_empty_macro,
    "jaccard_mean": mean("jaccard"),
    "perfect": perfect,
    "partial": partial,
    "miss": miss,
    "perfect_pct": ratio(perfect, non_empty),
    "partial_pct": ratio(partial, non_empty),
    "miss_pct": ratio(miss, non_empty),
    "jaccard_of_all": jaccard_of_all,
    "perfect_of_all_pct": ratio(perfect, predicted),
    "touched_of_all_pct": ratio(touched, predicted),
    "gold_files": of_seen("gold_files"),
    "located_pct": ratio(of_seen("gold_located"), of_seen("gold_files")),
    "shown_pct": ratio(of_seen("gold_shown"), of_seen("gold_files")),
    "edited_pct": ratio(of_seen("gold_edited"), of_seen("gold_files")),
    "files_mean": files,
    "lines_mean": lines,
    "hunks_mean": hunks,
    "gold_files_mean": gold_files,
    "gold_lines_mean": gold_lines,
    "gold_hunks_mean": gold_hunks,
    "files_change_pct": change(files, gold_files),
    "lines_change_pct": change(lines, gold_lines),
    "hunks_change_pct": change(hunks, gold_hunks),
    "cost_llm_usd": llm,
    "cost_emb_usd": embeddings,
    "cost_usd": cost,
    "spent_usd": all_spent,
    "llm_pct": llm_share,
    "cost_per_instance_usd": per(cost, predicted),
    "cost_per_resolved_usd": per(cost, resolved),
    "tokens_mean": mean("tokens"),
    "seconds_mean": mean("seconds"),
    "seconds_median": median("seconds"),
}
