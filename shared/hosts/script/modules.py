# Which modules an image of the ERP has, and in which versions: by their manifests, of which nothing is run.
import ast
import importlib.util
import json
import os
import sys


def listed(series, folders):
    found = {}
    for folder in folders:
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            try:
                with open(os.path.join(folder, name, "__manifest__.py"), encoding="utf-8") as file:
                    manifest = ast.literal_eval(file.read())
            except (OSError, ValueError, SyntaxError):
                continue
            if name not in found and isinstance(manifest, dict) and manifest.get("installable", True):
                found[name] = in_series(str(manifest.get("version", "1.0")), series)
    return found


def in_series(version, series):
    """As the ERP stores it in its database."""
    return version if version.startswith(f"{series}.") else f"{series}.{version}"


def main(series, *folders):
    erp = importlib.util.find_spec("odoo")
    own = [os.path.join(place, "addons") for place in erp.submodule_search_locations] if erp else []
    print(json.dumps(listed(series, [*folders, *own])))


main(*sys.argv[1:])
