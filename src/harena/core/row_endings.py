"""How the names of files of rows end: one place for whoever reads them."""

LINE_ENDINGS = (".jsonl", ".ndjson")
"""files with a row of JSON on each line"""
CSV, PARQUET = ".csv", ".parquet"
TABLE_ENDINGS = (CSV, PARQUET)
"""files with named columns, which are read where they are and travel as rows"""
