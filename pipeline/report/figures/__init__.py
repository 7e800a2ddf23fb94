"""Figures for print and for the colour-blind, each with a text alternative.

    style          palette, patterns, sizes, and `Plot`, which gives the bytes
    bars, grids    the kinds of figures

Whatever a colour says, a letter, a pattern or a number says too. The same data give the same bytes. Writes nothing.
"""
