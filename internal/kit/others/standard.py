"""Answers two parts of the conformance kit with parsers of Python's standard library.

anml.read        expat and json: whether a document is well-formed, and its root
wellknown.parse  urllib.parse: the parts of a well-known URI
"""
import base64
import json
import sys
import urllib.parse
from xml.parsers import expat

NAMESPACE = "urn:ietf:params:xml:ns:anml:1.0"


class Refused(Exception):
    pass


def content(given):
    if "base64" in given:
        return base64.b64decode(given["base64"])
    before, found, rest = given["file"].partition("[*]")
    if found:
        again, _, after = rest.partition("[/*]")
        before += again * given["repeat"] + after
    return before.encode()


def read_xml(data):
    root = []
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = lambda name, attributes: root or root.append(name)
    parser.Parse(data, True)
    if root != [NAMESPACE + " anml"]:
        raise Refused("the root is " + root[0])


def read_json(data):
    document = json.loads(data.decode())
    if not isinstance(document, dict) or "anml" not in document:
        raise Refused("there is no key anml")


def read_document(given):
    kind = given["contentType"].partition(";")[0]
    readers = {"application/anml+xml": read_xml, "application/anml+json": read_json}
    if kind not in readers:
        raise Refused("the media type is " + kind)
    readers[kind](content(given))
    return {}


def parse_well_known(given):
    parts = urllib.parse.urlsplit(given["uri"])
    if parts.scheme not in ("https", "http", "wss", "ws") or not parts.hostname or parts.username:
        raise Refused("not a URL of an origin")
    prefix = "/.well-known/"
    if not parts.path.startswith(prefix) or parts.path == prefix:
        raise Refused("the path is not well-known")
    name, _, rest = parts.path[len(prefix):].partition("/")
    port = "" if parts.port in (None, 443) else ":%d" % parts.port
    return {"origin": parts.scheme + "://" + parts.hostname + port, "name": name, "rest": rest}


OPERATIONS = {"anml.read": read_document, "wellknown.parse": parse_well_known}


def answer(question):
    operation = OPERATIONS.get(question["operation"])
    if operation is None:
        return {"class": "unsupported"}
    try:
        return {"class": "accept", "outcome": operation(question["input"])}
    except (Refused, ValueError, RecursionError, expat.ExpatError) as error:
        return {"class": "reject", "error": str(error)[:200]}


for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps({"id": question["id"], **answer(question)}), flush=True)
