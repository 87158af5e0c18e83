"""What both adapters need to propose alike: term weights, the vector matrix, its cache."""
