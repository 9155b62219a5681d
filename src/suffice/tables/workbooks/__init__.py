"""Workbooks of spreadsheets (.xlsx): what an archive claims, where its table is, and its cells."""
