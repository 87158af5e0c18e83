PYTHON ?= python
NEO4J_VERSION ?= 5.26.29

.PHONY: neo4j
neo4j: ## start a Neo4j Community server for development; Ctrl-C stops it
	$(PYTHON) -P -m tenure.tests.neo4j_server --version $(NEO4J_VERSION)
