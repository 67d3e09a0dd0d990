"""The interview: a wish becomes a plan with tests that are proven before anything runs."""
