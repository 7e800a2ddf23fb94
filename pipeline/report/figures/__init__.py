"""Figures for print and for people who are color-blind, each with a text alternative.

    style          palette, patterns, sizes, `Plot`, which is drawn, and `Image`, its bytes
    bars, grids    the kinds of figures
    embedded       a figure as a part of a page

Whatever a color means, a letter, a pattern or a number means too. The same data give the same bytes. Writes nothing.
"""
