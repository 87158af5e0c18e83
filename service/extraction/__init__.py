"""What finds claims and names in a text: rules, spaCy."""
