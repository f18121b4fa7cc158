"""The format of tests: types, strict loading with lines, expressions, schema and reference."""
