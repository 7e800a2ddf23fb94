"""Stage 00, between collecting and building: people's and models' ratings of candidates, and what they come to.

Reads `01_raw/<repo>/` and what stage 02 made of it; appends to `00_viewer/`. The viewer is `just triage`.

    cli                       the commands
    stage                     ratings, added, imported, undone, decided
    catalog                   all candidates: found, filtered, counted
    form                      the rating form, and a rating of what was sent
    sides, marks              a patch side by side; evidence marked in its text
    exchange                  what leaves the viewer, and ratings of other tools
    raters                    models that rate
    asking                    letting them rate, with what it costs before and after
    web                       the viewer as a web application
"""
