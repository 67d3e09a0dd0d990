"""A ledger of expenses."""
