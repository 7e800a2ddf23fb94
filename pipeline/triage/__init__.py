"""Stage 00, between collecting and building: ratings of candidates by people and models.

Reads `01_raw/<repo>/` and the results of stage 02; appends to `00_viewer/`. `just triage` starts the viewer.

    cli                       the commands
    stage                     ratings: added, imported, undone, decided
    catalog                   all candidates: search, filters, counts
    form                      the rating form, and the rating in a submitted form
    sides, marks              a patch side by side; evidence marked in its text
    exchange                  exports from the viewer, and imports of ratings
    raters                    models that rate
    asking                    asking them, with the cost before and after
    web                       the viewer as a web application
"""
