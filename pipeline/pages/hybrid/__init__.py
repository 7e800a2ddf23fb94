"""The hybrid score: a second view of a page, beside its verdict. Four parts, weighted; a part that cannot be told is
absent, and never 0.

    from pipeline.pages.hybrid import evaluate, feedback
    scored = evaluate("The answer is 345", expected="345")
    scored.overall_score, scored.passed, feedback(scored)

formulas                  every number, from one table (formulas.toml)
records                   a part, feedback, the score
validity                  the HTML standard, asked of html-validate (vendors/html-validate)
behaviour                 a real browser: does it render, what does its console say, how long does it take
expected                  the text that was expected
judge                     a model's opinion, on a scale of three
score                     the parts, weighted
suite                     a suite of tests as YAML, as cases; its configuration
stage                     a run's answers, scored and judged
"""

from pipeline.pages.hybrid.score import evaluate, feedback

__all__ = ["evaluate", "feedback"]
