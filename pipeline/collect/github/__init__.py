"""The source `github`: GraphQL for what comes in hundreds, REST for single diffs and facts. Nothing is stored."""
