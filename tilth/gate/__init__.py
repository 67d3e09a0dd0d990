"""The gate: what stands behind `tilth.gate.gate`, from the export to the report."""
