# Which modules an image of the ERP has, and in which versions: by their manifests, of which nothing is run.
import ast
import importlib.util
import json
import os
import sys
from collections.abc import Iterable
from typing import cast


def listed(series: str, folders: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for folder in folders:
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            try:
                with open(os.path.join(folder, name, "__manifest__.py"), encoding="utf-8") as file:
                    value: object = ast.literal_eval(file.read())
            except (OSError, ValueError, SyntaxError):
                continue
            manifest = cast(dict[str, object], value) if isinstance(value, dict) else {"installable": False}
            if name not in found and manifest.get("installable", True):
                found[name] = in_series(str(manifest.get("version", "1.0")), series)
    return found


def in_series(version: str, series: str) -> str:
    """As the ERP stores it in its database."""
    return version if version.startswith(f"{series}.") else f"{series}.{version}"


def main(series: str, *folders: str) -> None:
    erp = importlib.util.find_spec("odoo")
    own = [os.path.join(place, "addons") for place in (erp and erp.submodule_search_locations) or ()]
    print(json.dumps(listed(series, [*folders, *own])))


main(*sys.argv[1:])
