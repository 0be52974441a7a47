"""The robots and mechanisms that come with torsor, and their data."""
