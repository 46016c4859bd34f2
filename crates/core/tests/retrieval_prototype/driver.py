"""Scores given tokens with the prototype of the retrieval pipeline.

Usage: driver.py PIPELINE_FOLDER EMPTY_FOLDER < INPUT. The input is a line of JSON with `scopes`, each with `docs` (tokens,
session, speaker, at, question, timed) and `queries` (tokens, person, months, years, days, when, cosines or
null). For each query comes a line of JSON: the score of every candidate by its number.

The prototype is driven below its tokenizer, its date rules and its vectors, so none of the libraries that
those need has to be there.
"""

import datetime
import json
import os
import sys
import types


class Absent(types.ModuleType):
    """Stands in for a library that only the parts left out would call."""

    __path__ = []

    def __getattr__(self, name):
        return lambda *a, **k: types.SimpleNamespace(stemWord=lambda word: word)


class Cosines(list):
    """As much of a vector as the prototype asks for."""

    def min(self):
        return min(self)

    def max(self):
        return max(self)

    def __neg__(self):
        return Cosines(-c for c in self)

    def argsort(self):
        return sorted(range(len(self)), key=self.__getitem__)


class Table:
    """Vectors whose product with a query is given."""

    def __matmul__(self, cosines):
        return cosines


class Timed:
    """The pattern of time words: a mark among the tokens says whether it would match."""

    def search(self, text):
        return "@" in text.split()


def load(folder, empty, mode):
    """The prototype's names, after a run over no data at all."""
    sys.argv = ["pipeline.py", empty, os.path.join(empty, "out.jsonl"), mode]
    space = {"__name__": "prototype"}
    with open(os.path.join(folder, "pipeline.py"), encoding="utf-8") as file:
        code = compile(file.read(), "pipeline.py", "exec")
    try:
        exec(code, space)
    except space["statistics"].StatisticsError:
        pass  # Its last line takes the mean of no queries.
    space["toks"] = lambda text: [w for w in text.lower().split() if w not in ("?", "@")]
    space["TIMEX"] = Timed()
    return space


def document(doc, number):
    marks = (["@"] if doc["timed"] else []) + (["?"] if doc["question"] else [])
    at = datetime.datetime.fromtimestamp(doc["at"] / 1e6, datetime.timezone.utc).replace(tzinfo=None)
    return {
        "id": number,
        "text": " ".join(doc["tokens"] + marks),
        "session": doc["session"],
        "speaker": doc["speaker"],
        "time": at.isoformat(),
    }


def scored(space, scope, query):
    """Every candidate with its score, read from the search as it returns."""
    space["when"] = lambda text: query["when"]
    space["parse_date"] = lambda text: (query["months"], query["years"], query["days"])
    found = []
    code = type(scope).search.__code__

    def watch(frame, event, value):
        if event == "return" and frame.f_code is code:
            found.extend(frame.f_locals["out"])

    text = " ".join(([query["person"]] if query["person"] else []) + query["tokens"])
    cosines = Cosines(query["cosines"]) if query["cosines"] else None
    sys.setprofile(watch)
    scope.search(text, cosines)
    sys.setprofile(None)
    return [[number, -score] for score, number in found]


def main():
    folder, empty = sys.argv[1:3]
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    for name in ("numpy", "scipy", "scipy.sparse", "snowballstemmer"):
        sys.modules[name] = Absent(name)
    for name in ("docs.jsonl", "queries.jsonl"):
        open(os.path.join(empty, name), "w").close()
    spaces = {mode: load(folder, empty, mode) for mode in ("lexical", "static")}
    for part in json.load(sys.stdin)["scopes"]:
        docs = [document(doc, number) for number, doc in enumerate(part["docs"])]
        scopes = {mode: space["Scope"](docs, Table()) for mode, space in spaces.items()}
        for query in part["queries"]:
            mode = "static" if query["cosines"] else "lexical"
            print(json.dumps(scored(spaces[mode], scopes[mode], query)))


main()
