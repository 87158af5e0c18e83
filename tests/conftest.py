"""What every test may use."""

pytest_plugins = ["tenure.tests.neo4j_fixtures"]
