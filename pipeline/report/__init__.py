"""Building blocks of pages, tables and figures for people, for both tracks and the viewer. Writes nothing.

page                      a self-contained page whose policy allows only its own styles and scripts
                          (shell.html.j2; styles in page.css and texts.css; sorting in tables.js, contents.js)
tables                    a table that sorts, with a meaning for each column and figures beside it (table.html.j2)
diff                      patches as HTML (patch.html.j2)
figures/                  figures with text alternatives: style, bars, grids
statistics                intervals, tests, pass@k, kappa
agreement                 agreement of raters, and of models with people who check them
"""
