"""What the readers and writers of several formats share: XML and YAML with line numbers, places of files, notes."""
