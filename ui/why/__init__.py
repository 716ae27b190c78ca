"""What only the Why page has."""
