"""A model that rates patches against issues, as PraisonAI Bench's does: beside the verdict, never in its place."""
