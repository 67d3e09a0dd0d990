"""Changes to a JSON document, written as a list of operations.

Documents are what the json module reads: dicts, lists, strings, numbers, booleans and None.
"""

import copy


class PatchError(ValueError):
    """A patch that cannot be applied; the message names the operation."""


def apply_patch(document, patch):
    """Give the document after all operations; the one handed in is left as it was."""
    result = copy.deepcopy(document)
    for number, operation in enumerate(patch, 1):
        try:
            result = _apply(result, operation)
        except PatchError as error:
            raise PatchError(f"operation {number}: {error}") from None
    return result


def _apply(document, operation):
    name = operation.get("op")
    path = _pointer(operation, "path")
    if name == "add":
        return _add(document, path, _value(operation))
    if name == "remove":
        return _remove(document, path)
    if name == "replace":
        _find(document, path)
        return _add(_remove(document, path), path, _value(operation))
    raise PatchError(f"unknown operation {name!r}")


def _member(operation, name):
    if name not in operation:
        raise PatchError(f"{name!r} is missing")
    return operation[name]


def _value(operation):
    """Give a copy of the value, so that the patch is not changed along with the document."""
    return copy.deepcopy(_member(operation, "value"))


def _pointer(operation, name):
    """Read a JSON pointer: the tokens from the root down."""
    text = _member(operation, name)
    if text == "":
        return []
    if not isinstance(text, str) or not text.startswith("/"):
        raise PatchError(f"{text!r} is no pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/")]


def _find(document, path):
    """Give the value that a path names."""
    for token in path:
        if isinstance(document, dict) and token in document:
            document = document[token]
        elif isinstance(document, list):
            document = document[_position(token, len(document) - 1)]
        else:
            raise PatchError(f"there is no {token!r}")
    return document


def _position(token, last):
    if not token.isascii() or not token.isdigit() or int(token) > last:
        raise PatchError(f"there is no position {token!r}")
    return int(token)


def _add(document, path, value):
    if not path:
        return value
    parent = _find(document, path[:-1])
    if isinstance(parent, dict):
        parent[path[-1]] = value
    elif isinstance(parent, list):
        end = len(parent)
        parent.insert(end if path[-1] == "-" else _position(path[-1], end), value)
    else:
        raise PatchError(f"nothing can be added at {path[-1]!r}")
    return document


def _remove(document, path):
    if not path:
        return None
    _find(document, path)
    parent = _find(document, path[:-1])
    if isinstance(parent, dict):
        del parent[path[-1]]
    else:
        del parent[_position(path[-1], len(parent) - 1)]
    return document
