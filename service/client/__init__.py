"""What `import tenure` hands out: memory, its async twin, connect, answer, ablate."""
