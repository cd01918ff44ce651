# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the command is called: help for everything, and every wrong call named and refused."""

import json
import subprocess
import unittest

from support import MEDLEY, CommandTest

COMMANDS = ("explain", "info", "model", "ps", "run", "stress", "system", "top", "trace")


class Usage(CommandTest):
    def test_help_of_everything(self):
        output, _ = self.run_medley("--help")
        for name in COMMANDS:
            self.assertIn(f"  {name} ", output)
            by_option, _ = self.run_medley(name, "--help")
            by_command, _ = self.run_medley("help", name)
            self.assertTrue(by_option.startswith(f"usage: medley {name}"))
            self.assertEqual(by_option, by_command)
            self.assertIn("--json", by_option)
            for line in by_option.splitlines():
                self.assertLessEqual(len(line), 90)

    def test_version(self):
        output, _ = self.run_medley("--version")
        self.assertRegex(output, r"^medley \d+\.\d+\.\d+\n$")

    def test_wrong_calls(self):
        wrong = {
            (): "usage: medley",
            ("walk",): "no command 'walk'",
            ("help", "walk"): "no command 'walk'",
            ("explain",): "want a program, or --record",
            ("explain", "--record", "file", "true"): "want a program, or --record",
            ("explain", "--record"): "option '--record' needs a value",
            ("explain", "--colour"): "unknown option '--colour'",
            ("info", "more"): "'more': info takes no arguments",
            ("info", "--xml"): "option '--xml' needs a value",
            ("info", "--svg"): "option '--svg' needs a value",
            ("info", "--svg", ""): "--svg names no file",
            ("info", "--svg", "one", "--tree"): "want one of --svg and --tree",
            ("model", "more"): "'more': model takes no arguments",
            ("model", "--matrix"): "option '--matrix' needs a value",
            ("model", "--colour"): "unknown option '--colour'",
            ("ps", "--colour"): "unknown option '--colour'",
            ("ps", "one", "two"): "one system at most",
            ("ps", "a/b"): "'a/b' is no name of a system",
            ("ps", "--watch", "soon"): "--watch 'soon': want seconds",
            ("ps", "--watch", "0"): "--watch '0': want seconds",
            ("ps", "--watch"): "option '--watch' needs a value",
            ("run",): "want a program, or --file",
            ("run", "--file", "one", "true"): "want a program, or --file",
            ("run", "-n", "2", "--file", "one"): "-n is for a program",
            ("run", "-n", "0", "true"): "-n: want a number from 1 to 1024",
            ("run", "-n", "2x", "true"): "-n: want a number from 1 to 1024",
            ("run", "-n"): "option '-n' needs a value",
            ("run", "--name", "", "true"): "--name names no system",
            ("run", "--colour", "true"): "unknown option '--colour'",
            ("stress",): "want one topology",
            ("stress", "ring", "star"): "want one topology",
            ("stress", "ring", "--count", "0"): "--count '0': want a number",
            ("stress", "ring", "--count", "2x"): "--count '2x': want a number",
            ("stress", "ring", "--count"): "option '--count' needs a value",
            ("stress", "ring", "--affinity", "moon"): "'moon': want free, one or spread",
            ("stress", "ring", "--threads", "--processes"): "want one of --threads and --processes",
            ("stress", "--colour"): "unknown option '--colour'",
            ("system",): "want 'list', 'remove', 'save' or 'load'",
            ("system", "paint"): "'paint': want 'list', 'remove', 'save' or 'load'",
            ("system", "list", "one"): "'list' takes no names",
            ("system", "remove"): "either names or --stale",
            ("system", "remove", "one", "--stale"): "either names or --stale",
            ("system", "load"): "'load' takes a file, or - for standard input\n",
            ("system", "save"): "'save' takes a file, or - for standard output\n",
            ("system", "save", "one", "--stale"): "--stale is remove's",
            ("system", "load", "one", "two"): "'load' takes one file",
            ("system", "save", "one", "--name", "two"): "'save' takes a file and a system",
            ("system", "save", "one", "a/b"): "'a/b' is no name of a system",
            ("system", "list", "--until-joined"): "are load's",
            ("system", "load", "one", "--name", ""): "--name names no system",
            ("top", "one", "two"): "one system at most",
            ("top", "--once", "a/b"): "'a/b' is no name of a system",
            ("top", "--interval", "soon"): "--interval 'soon': want seconds",
            ("top", "--interval", "0"): "--interval '0': want seconds",
            ("top", "--interval"): "option '--interval' needs a value",
            ("top", "--colour"): "unknown option '--colour'",
            ("trace",): "want the name of one system",
            ("trace", "one", "two"): "want the name of one system",
            ("trace", "one", "--last", "0"): "--last '0': want a number",
            ("trace", "one", "--last", "2x"): "--last '2x': want a number",
            ("trace", "one", "--last"): "option '--last' needs a value",
            ("trace", "a/b"): "'a/b' is no name of a system",
            ("system", "remove", ".hidden"): "'.hidden' is no name of a system",
        }
        for words, message in wrong.items():
            with self.subTest(words=words):
                output, errors = self.run_medley(*words, status=2)
                self.assertIn(message, errors)
                self.assertEqual(output, "")

    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run(
                [MEDLEY, "info"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
            )
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write the output", result.stderr)

    def test_no_folder(self):
        nowhere = self.folder + "/nowhere"
        for words in (
            ("ps",),
            ("ps", "one"),
            ("top", "--once"),
            ("top", "--once", "one"),
            ("system", "list"),
            ("system", "remove", "--stale"),
            ("system", "remove", "one"),
        ):
            with self.subTest(words=words):
                _, errors = self.run_medley(*words, status=1, MEDLEY_SHM_DIR=nowhere)
                self.assertIn(f"'{nowhere}'", errors)
                self.assertIn("No such file or directory", errors)
                self.assertIn("MEDLEY_SHM_DIR", errors)
        shared = json.loads(self.run_medley("info", "--json", MEDLEY_SHM_DIR=nowhere)[0])
        self.assertIsNone(shared["shared_memory"]["size_bytes"])

    def test_long_folder(self):
        folder = "/" + "/".join(["a" * 100] * 3)
        for words in (("ps", "one"), ("system", "remove", "one")):
            _, errors = self.run_medley(*words, status=1, MEDLEY_SHM_DIR=folder)
            self.assertIn("folder of shared memory is too long", errors)
            self.assertNotIn("no name", errors)

    def test_json_of_errors(self):
        wrong = {
            ("ps", "nosuch"): (1, "no system 'nosuch'"),
            ("ps", ".x"): (2, "'.x' is no name of a system"),
            ("model", "more"): (2, "'more': model takes no arguments"),
            ("ps", "--colour"): (2, "unknown option '--colour'"),
            ("info", "more"): (2, "'more': info takes no arguments"),
            ("info", "--svg", "-"): (2, "want a file for --svg"),
            ("top",): (2, "--json goes with --once"),
            ("top", "nosuch", "--once"): (1, "no system 'nosuch'"),
            ("info", "--xml", "/not/there"): (1, "/not/there: No such file or directory"),
            ("system", "paint"): (2, "'paint': want 'list', 'remove', 'save' or 'load'"),
        }
        for words, (status, message) in wrong.items():
            with self.subTest(words=words):
                output, errors = self.run_medley(*words, "--json", status=status)
                document = json.loads(output)
                self.assertEqual(list(document), ["error"])
                self.assertIn(message, document["error"])
                self.assertIn(message, errors)

    def test_folder_from_nowhere(self):
        """Each command says so, as JSON too; and helps all the same."""
        message = "MEDLEY_SHM_DIR is 'from/here': want a path from the root"
        for name in COMMANDS:
            with self.subTest(name=name):
                output, errors = self.run_medley(
                    name, "--json", status=1, MEDLEY_SHM_DIR="from/here"
                )
                self.assertEqual(json.loads(output), {"error": message})
                self.assertEqual(errors, f"medley {name}: {message}\n")
                for option in ("--help", "-h"):
                    output, errors = self.run_medley(name, option, MEDLEY_SHM_DIR="from/here")
                    self.assertTrue(output.startswith(f"usage: medley {name}"))
                    self.assertEqual(errors, "")

    def test_json_of_some_errors(self):
        """One document, whatever happened on the way."""
        output, _ = self.run_medley("system", "remove", "one", "two", "--json", status=1)
        document = json.loads(output)
        self.assertEqual(document["removed"], [])
        self.assertIn("no system 'one'", document["error"])
        self.assertIn("no system 'two'", document["error"])


if __name__ == "__main__":
    unittest.main()
