"""A model that rates patches against their issues, as seed 002's judge does: beside the verdict, never in its place."""
