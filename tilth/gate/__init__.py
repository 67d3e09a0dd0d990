"""The gate: what stands behind `tilth.validators`, from the export to the report."""
