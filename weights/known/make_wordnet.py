#!/usr/bin/env python3
"""Writes data/imagenet1k_wordnet.txt: WordNet's tree above the classes of ImageNet-1k.

  apt-get install wordnet-base       # WordNet 3.0, whose offsets are ImageNet's ids
  weights/known/make_wordnet.py      # [--print] to standard output instead

Run once; the file is part of the repository, and neither building nor testing needs WordNet.
"""
import pathlib
import sys
from collections import defaultdict

WORDNET = pathlib.Path("/usr/share/wordnet")
DATA = pathlib.Path(__file__).resolve().parent / "data"

HEADER = """\
# The noun synsets of WordNet 3.0 that are above ImageNet-1k's classes, made by make_wordnet.py from Debian's package
# wordnet-base: the id, the ids above it, and its names. Classes have their names in imagenet1k_labels.txt. A name that
# several synsets share is in parentheses where it hardly means them: it means those that have it as their first name,
# if any do, and of these the one that WordNet calls the most common, if no other has more classes below it.
#
# WordNet's licence:
"""


def read_synsets():
    """id -> (names, ids above it)"""
    synsets, notice = {}, []
    for line in open(WORDNET / "data.noun", encoding="ascii"):
        if line.startswith("  "):
            notice.append(line.split(maxsplit=1)[1].strip() if len(line.split()) > 1 else "")
            continue
        fields = line.split(" | ")[0].split()
        words = int(fields[3], 16)
        names = [fields[4 + 2 * i].replace("_", " ") for i in range(words)]
        pointers = fields[5 + 2 * words:]
        above = ["n" + pointers[i + 1] for i in range(0, len(pointers), 4) if pointers[i] in ("@", "@i")]
        synsets["n" + fields[0]] = (names, above)
    return synsets, notice


def read_senses():
    """name -> ids, the most common meaning first"""
    senses = {}
    for line in open(WORDNET / "index.noun", encoding="ascii"):
        if not line.startswith("  "):
            fields = line.split()
            senses[fields[0].replace("_", " ")] = ["n" + offset for offset in fields[-int(fields[2]):]]
    return senses


def main():
    synsets, notice = read_synsets()
    senses = read_senses()
    classes = [line.split()[0] for line in open(DATA / "imagenet1k_labels.txt", encoding="utf-8") if line.strip()]

    below = defaultdict(set)  # the classes of each synset

    def walk(synset, leaf):
        below[synset].add(leaf)
        for parent in synsets[synset][1]:
            walk(parent, leaf)

    for leaf in classes:
        walk(leaf, leaf)

    inner = sorted(set(below) - set(classes))
    holders = defaultdict(list)
    for synset in inner:
        for name in synsets[synset][0]:
            holders[name.lower()].append(synset)

    def keeps(name, synset):
        word = name.lower()
        found = holders[word]
        first = [s for s in found if synsets[s][0][0].lower() == word] or found
        meant = min(first, key=senses[word].index)
        decided = all(len(below[s]) <= len(below[meant]) for s in first)
        return not decided or synset == meant

    out = sys.stdout if "--print" in sys.argv else open(DATA / "imagenet1k_wordnet.txt", "w", encoding="ascii")
    out.write(HEADER)
    for line in notice:
        out.write(("#   " + line).rstrip() + "\n")
    for synset in inner:
        names, above = synsets[synset]
        shown = [name if keeps(name, synset) else f"({name})" for name in names]
        out.write(f"{synset} {','.join(above) or '-'} {', '.join(shown)}\n")
    for leaf in classes:
        out.write(f"{leaf} {','.join(synsets[leaf][1])}\n")


main()
