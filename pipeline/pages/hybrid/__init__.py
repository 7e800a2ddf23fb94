"""The hybrid score of a page, in addition to its verdict: four weighted parts. A part that cannot be determined is
missing, never 0.

    from pipeline.pages.hybrid import evaluate, feedback
    scored = evaluate("The answer is 345", expected="345")
    scored.overall_score, scored.passed, feedback(scored)

formulas                  every number, from one table (formulas.toml)
records                   a part, feedback, the score
validity                  the HTML standard, checked by html-validate (vendors/html-validate)
behaviour                 a real browser: rendering, console, load time
expected                  the expected text
judge                     a model's opinion, on a scale of three
score                     the parts, weighted
suite                     a suite of tests as YAML, as cases; its configuration
stage                     a run's answers, scored and judged
"""

from pipeline.pages.hybrid.score import evaluate, feedback

__all__ = ["evaluate", "feedback"]
