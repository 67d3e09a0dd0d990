"""The exchange between harness, worker and evaluator on one task, step by step."""
