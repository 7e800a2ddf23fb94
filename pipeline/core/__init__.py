"""The shared floor: it knows no stage. See the table of modules in docs/design.md."""
