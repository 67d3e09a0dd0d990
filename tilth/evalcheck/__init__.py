"""The check of the evaluator: known changes, played to it as in a run, and its mistakes."""
