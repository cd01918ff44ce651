# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of a manual page of section 1 or 7, as a document's steps (document.py): of its section
EXAMPLES, or, of section 7, of all of it.

What such an example presumes, a program of the reader's as a rule, is made before: BEFORE says how. What
makes a file there has its name in FILES.
"""

import re

from document import Run, Write, Wrong

EXAMPLES = "$PREFIX/share/doc/medley/examples"

OPENMP = f"cp {EXAMPLES}/openmp/program.h . && cp {EXAMPLES}/openmp/listing1.c program.c"

BEFORE = {
    "medley.7": f"""
        cc {EXAMPLES}/two_processes.c -o one $(pkg-config --cflags --libs medley)
        cp one two
        cp {EXAMPLES}/two_processes.c program.c
        PATH=$PATH:.
        echo 'medley-system: 1' >mine.yaml
        medley system load mine.yaml --name mine >loaded &
        until [ -s loaded ]; do sleep 0.1; done
    """,
    "medley-ompt.7": f"""
        mkdir examples
        ln -s {EXAMPLES}/openmp examples/openmp
        {OPENMP}
    """,
    "medley-openmp.7": OPENMP,
    "medley-explain.1": f"cc -O2 -fopenmp {EXAMPLES}/openmp/irregular.c -o program -lm",
    "medley-run.1": f"""
        printf '#!/bin/sh\\necho number $MEDLEY_RUN_INDEX of $MEDLEY_RUN_COUNT\\n' >worker
        chmod +x worker
        cp {EXAMPLES}/pipeline/* .
        make
        mv pipeline.yaml pictures.yaml
        export PICTURE=$PHOTO RESULT=result.png
    """,
    "medley-trace.1": f"""
        cc {EXAMPLES}/two_processes.c -o program $(pkg-config --cflags --libs medley)
        PATH=$PATH:.
        echo 'medley-system: 1' >mine.yaml
        MEDLEY_TRACE=1 medley system load mine.yaml --name mine >loaded &
        until [ -s loaded ]; do sleep 0.1; done
    """,
}
FILES = {"medley-stress.1": "two-to-one.yaml"}


def lines_of(text):
    """As a terminal shows them."""
    return re.sub(r"(?m)^\\&", "", text).replace("\\-", "-").replace("\\e", "\\")


def steps_of_manual(name, text):
    """Empty when the page has no examples."""
    section = re.search(r"(?ms)^\.Sh EXAMPLES\n(.*?)^\.Sh ", text)
    if section is None and name.endswith(".7"):
        section = re.search(r"(?s)\A(.*)\Z", text)
    if section is None:
        return []
    first = text[: section.start(1)].count("\n") + 1
    steps = [Run(first, BEFORE[name])] if name in BEFORE else []
    found = r"(?ms)^\.Bd -literal[^\n]*\n(.*?)^\.Ed$|^\.Dl ([^\n]*)$"
    for example in re.finditer(found, section[1]):
        line = first + section[1][: example.start()].count("\n")
        block = lines_of(example[1] or example[2].removeprefix("$ ") + "\n")
        if re.match(r"[\w-]+: ", block):
            if name not in FILES:
                raise Wrong(f"{name}:{line}: a file without a name")
            steps.append(Write(line, FILES[name], block))
        else:
            steps.append(Run(line, block))
    return steps
