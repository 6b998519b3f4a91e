.DEFAULT_GOAL := help
.PHONY: help test lint format demo

help: ## Show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile

test: ## Set up and run the tests
	scripts/test

lint: ## Check form and types
	.venv/bin/python -m ruff check . && .venv/bin/python -m ruff format --diff . && .venv/bin/python -m mypy

format: ## Mend form
	.venv/bin/python -m ruff format . && .venv/bin/python -m ruff check --fix .

demo: ## Set up and ask the local model a question
	scripts/demo
