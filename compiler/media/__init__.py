"""Pictures, sound, film, tables: what they cost, and what stands in for them."""
