"""Stage 00, between collecting and building: ratings by people and models, and what they come to.

Reads `01_raw/<repo>/` and what stage 02 made of it; appends to `00_viewer/`. `just triage` starts the viewer.

    cli                       the commands
    stage                     ratings: added, imported, undone, decided
    catalog                   all candidates: found, filtered, counted
    form                      the rating form, and the rating in a submitted form
    sides, marks              a patch side by side; evidence marked in its text
    exchange                  exports from the viewer, and imports of ratings
    raters                    models that rate
    asking                    letting them rate, with the cost before and after
    web                       the viewer as a web application
"""
