"""The check of the evaluator: planted changes, played to it as in a run, and its mistakes."""
