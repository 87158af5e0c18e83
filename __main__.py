"""`python -m tenure`: the command line, where its script is not on the path."""

from tenure.faces.cli.main import main

if __name__ == "__main__":
    main()
