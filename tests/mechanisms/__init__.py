"""The bundled mechanisms against their closed forms."""
