"""Write `docs/openapi.json`: `python -P tests/openapi_page.py > docs/openapi.json`."""

import json

from tenure.faces.http.openapi import description


def page() -> str:
    """Return the description as it must stand in `docs/`."""
    return json.dumps(description(), sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(page(), end="")
