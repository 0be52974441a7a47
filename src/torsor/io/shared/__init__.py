"""Shared by the readers and writers of several formats: XML and YAML with line numbers, places of files, notes."""
