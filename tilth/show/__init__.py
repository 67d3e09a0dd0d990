"""Everything a person looks at: event lines, live screen, tables and reports."""
