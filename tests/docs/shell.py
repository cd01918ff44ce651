# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does the steps of a document (document.py), as one shell would, in one folder.

All become one script: each block of commands is a file that it sources, so that what one block sets,
starts or leaves the next one finds. All that is written, errors too, goes to one file, as to a terminal:
a block's is what came there from its beginning to the next one's, whoever wrote it. The first command
that fails ends the script, as `set -e` has it.
"""

import os
import shlex
import shutil
import signal
import subprocess

from compare import difference
from document import Read, Run, Take, Write

LIMIT_S = 100


def script_of(steps, project, folder):
    """The script, whose files lie in `folder`; a line in `begun` for each step: how long the output was."""
    output, begun = (shlex.quote(os.path.join(folder, name)) for name in ("output", "begun"))
    lines = [
        f"exec >>{output} 2>&1 </dev/null",
        "set -e",
        f"cd {shlex.quote(os.path.join(folder, 'here'))}",
    ]
    for number, step in enumerate(steps):
        file = os.path.join(folder, str(number))
        if isinstance(step, (Run, Write)):
            with open(file, "w") as text:
                text.write(step.commands if isinstance(step, Run) else step.text)
        lines.append(f"stat --format=%s {output} >>{begun}")
        if isinstance(step, Run):
            lines.append(f". {shlex.quote(file)}")
        elif isinstance(step, Write):
            name = shlex.quote(step.name)
            lines.append(f'mkdir -p "$(dirname {name})" && cp {shlex.quote(file)} {name}')
        elif isinstance(step, Take):
            lines.append(f"ln -s {shlex.quote(os.path.join(project, step.name))} .")
    return "\n".join(lines) + "\n"


def run_script(folder, environment):
    """Its exit status, None when it took too long; nothing that it started is left."""
    process = subprocess.Popen(
        ["bash", "--norc", os.path.join(folder, "script")],
        stdin=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        return process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def outputs_of(folder):
    """What each step wrote that was begun."""
    with open(os.path.join(folder, "output"), "rb") as file:
        output = file.read()
    with open(os.path.join(folder, "begun")) as file:
        begun = [int(line) for line in file]
    return [output[at:end].decode(errors="replace") for at, end in zip(begun, [*begun[1:], len(output)])]


def run_steps(name, steps, project, folder, environment):
    """What is wrong, as text; empty when everything is as the document says."""
    os.makedirs(os.path.join(folder, "here"))
    for file, text in (("script", script_of(steps, project, folder)), ("begun", ""), ("output", "")):
        with open(os.path.join(folder, file), "w") as made:
            made.write(text)
    status = run_script(folder, environment)
    outputs = outputs_of(folder)
    wrong = []
    for number, (step, output) in enumerate(zip(steps, outputs)):
        where = f"{name}:{step.line}"
        if status != 0 and number == len(outputs) - 1:
            how = "took too long" if status is None else f"ended with {status}"
            wrong.append(f"{where}: {how}\n{output}")
        elif isinstance(step, Run) and step.shown is not None:
            wrong.append(difference(step.shown, output, step.compare, where))
    shutil.rmtree(folder)
    return "\n".join(filter(None, wrong))


def counts(steps):
    """How many blocks of commands are run, and why the others are not: (run, {reason: how many})."""
    reasons = {}
    for step in steps:
        if isinstance(step, Read):
            reasons[step.reason] = reasons.get(step.reason, 0) + 1
    return sum(isinstance(step, Run) for step in steps), reasons
