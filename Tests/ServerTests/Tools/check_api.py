"""Checks real exchanges against docs/client-api.yaml. Usage: check_api.py DOCUMENT EXCHANGES [--complete]
With --complete, every answer and every code of the document has to be among the exchanges."""
import json
import re
import sys

import jsonschema
import yaml

# What cannot be provoked from outside.
UNPROVOKED = {"internal_error"}
# What only a crowd or a full disk provokes: other tests do, and check it alone.
RARE = {"server_busy", "storage_full"}

document = yaml.safe_load(open(sys.argv[1]))
resolver = jsonschema.RefResolver("", document)
faults = []


def resolve(value):
    while isinstance(value, dict) and "$ref" in value:
        value = resolver.resolve(value["$ref"])[1]
    return value


def check(value, schema, where):
    validator = jsonschema.Draft202012Validator(schema, resolver=resolver)
    faults.extend(f"{where}: {error.message} at {list(error.path)}" for error in validator.iter_errors(value))


def codes(schema):
    """The codes that a schema of a refusal allows."""
    schema = resolve(schema)
    found = set()
    for part in schema.get("allOf", []):
        code = part.get("properties", {}).get("code", {})
        found |= set(code.get("enum", [])) | ({code["const"]} if "const" in code else set())
    return found


operations = []
for path, methods in document["paths"].items():
    pattern = re.compile("^" + re.sub(r"\{[^}]+\}", "[^/]+", path) + "$")
    operations += [(method.upper(), pattern, path, resolve(operation)) for method, operation in methods.items()]
wanted = {(m, p, s, c) for m, _, p, o in operations for s, r in o["responses"].items()
          for c in (codes(next(iter(resolve(r).get("content", {"-": {"schema": {}}}).values()))["schema"]) or {None})}
seen = set()

for number, line in enumerate(open(sys.argv[2]), 1):
    exchange = json.loads(line)
    target = exchange["target"].split("?")[0]
    where = f"{exchange['method']} {exchange['target'][:60]} -> {exchange['status']} (exchange {number})"
    body = exchange["body"]
    kind = exchange["headers"].get("content-type")
    operation = next(((p, o) for m, pattern, p, o in operations if m == exchange["method"] and pattern.match(target)), None)
    if operation is None:
        # A path or method of nobody: a problem all the same, unless the HTTP library itself has refused it.
        if kind == "application/problem+json":
            check(json.loads(body), document["components"]["schemas"]["Problem"], where)
        elif exchange["status"] not in (400, 413, 414, 431):
            faults.append(f"{where}: no problem document")
        continue
    path, operation = operation
    response = resolve(operation["responses"].get(str(exchange["status"])))
    if response is None:
        faults.append(f"{where}: the document does not have this answer: {body[:200]}")
        continue
    for name, header in response.get("headers", {}).items():
        value = exchange["headers"].get(name.lower())
        header = resolve(header)
        if value is None:
            faults.append(f"{where}: the header {name} is missing")
        else:
            check(int(value) if header["schema"].get("type") == "integer" and value.isdigit() else value, header["schema"], f"{where} {name}")
    code = None
    if "content" not in response:
        if body:
            faults.append(f"{where}: a body where none belongs")
    elif kind not in response["content"]:
        faults.append(f"{where}: the type {kind}")
    else:
        value = json.loads(body)
        check(value, response["content"][kind]["schema"], where)
        code = value.get("code")
        if code and value.get("status") != exchange["status"]:
            faults.append(f"{where}: the status in the problem differs")
    seen.add((exchange["method"], path, str(exchange["status"]), code))
    if exchange["status"] < 300 and "request" in exchange and "requestBody" in operation:
        # A second delivery is answered by its identifier alone.
        if exchange["status"] != 200 or path.endswith("authentications"):
            check(json.loads(exchange["request"]), operation["requestBody"]["content"]["application/json"]["schema"], f"{where} request")

if "--complete" in sys.argv:
    listed = set(document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"])
    provoked = {code for *_, code in seen if code}
    faults += [f"never seen: {entry}" for entry in sorted(map(str, (e for e in wanted - seen if e[3] not in UNPROVOKED | RARE)))]
    faults += [f"never seen anywhere: {code}" for code in sorted(listed - provoked - UNPROVOKED - RARE - {"not_found", "method_not_allowed"})]
print("\n".join(faults) if faults else f"{number} exchanges, {len(seen)} kinds of answer, no fault")
sys.exit(1 if faults else 0)
