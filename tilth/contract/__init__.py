"""The contract: what harness, worker, evaluator and person hand to one another."""
