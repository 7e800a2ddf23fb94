"""What pages, tables and figures for people are made of, for every track and the viewer. Writes nothing.

page                      a self-contained page whose policy allows its own style and script and nothing else
                          (shell.html.j2; page.css and texts.css its look; tables.js, contents.js sort and mark)
tables                    a table that sorts, a meaning for each column, its figures beside it (table.html.j2)
diff                      patches as HTML (patch.html.j2)
figures/                  figures with text alternatives: style, bars, grids
statistics                intervals, tests, pass@k, kappa
agreement                 how far raters of candidates agree, and models that people check
"""
