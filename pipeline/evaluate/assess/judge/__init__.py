"""A model that rates patches against issues, as PraisonAI Bench's does: in addition to the verdict, never instead of
it."""
