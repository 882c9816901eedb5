.PHONY: check fast
check: ## What CI runs, in the environment at hand
	ruff check . && ruff format --check . && mypy && pytest -q && pytest -q -m slow
fast: ## What a contributor runs before a commit
	ruff check . && ruff format --check . && mypy && pytest -q
