# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The test of documents finds what is wrong in one, and nothing where nothing is."""

import os
import tempfile
import unittest

from compare import difference
from document import Read, Run, Take, Write, Wrong, steps_of
from manual import steps_of_manual
from shell import counts, run_steps

GOOD = """# Title
Text with `code`.

- a list
    of which this is a part

```c file=one/number.c
int number = 1;
```
<!-- not run: takes an hour -->
```sh
sleep 3600
```
<!-- with: README.md -->
```sh
export WORD=seen
cat one/number.c
test -e README.md
```
writes

```text
int number = 1;
```
and then
```sh
echo "$WORD, 10 times"
```
```text any-numbers
seen, 7   times
```
"""


def run(text):
    """What is wrong with this document, done in a folder of its own."""
    with tempfile.TemporaryDirectory() as work:
        project = os.path.join(work, "project")
        os.makedirs(project)
        open(os.path.join(project, "README.md"), "w").close()
        steps = steps_of("good.md", text)
        return run_steps("good.md", steps, project, os.path.join(work, "run"), dict(os.environ))


class Reading(unittest.TestCase):
    def test_steps(self):
        steps = steps_of("good.md", GOOD)
        self.assertEqual([type(step) for step in steps], [Write, Read, Take, Run, Run])
        self.assertEqual((steps[0].name, steps[0].text), ("one/number.c", "int number = 1;\n"))
        self.assertEqual(steps[3].shown, "int number = 1;\n")
        self.assertEqual(steps[4].compare, ("any-numbers",))
        self.assertEqual(counts(steps), (2, {"takes an hour": 1}))

    def test_what_nobody_looks_at_is_refused(self):
        for text in (
            "```\noutput\n```\n",
            "```c\nint one;\n```\n",
            "```text\noutput of nothing\n```\n",
            "```sh\ntrue\n```\n```text any-luck\nx\n```\n",
            "Text\n\n    indented\n",
            "```sh\nnever ends\n",
            "- item\n  ```sh\n  true\n  ```\n",
            "<!-- not run: too far away -->\ntext\n```\nx\n```\n",
        ):
            with self.subTest(text=text), self.assertRaises(Wrong):
                steps_of("bad.md", text)


class Running(unittest.TestCase):
    def test_good(self):
        self.assertEqual(run(GOOD), "")

    def test_other_output(self):
        wrong = run(GOOD.replace("\nint number = 1;\n```\nand", "\nint number = 2;\n```\nand"))
        self.assertIn("good.md:15: shown", wrong)
        self.assertIn("-int number = 2;\n+int number = 1;", wrong)

    def test_command_that_fails(self):
        wrong = run(GOOD.replace("test -e README.md", "echo why; false"))
        self.assertEqual(wrong, "good.md:15: ended with 1\nint number = 1;\nwhy\n")

    def test_what_a_block_starts_is_the_next_one_s_and_ends(self):
        self.assertEqual(run("```sh\nsleep 1000 &\n```\n```sh\nkill -0 $!\nkill %1\n```\n"), "")
        self.assertEqual(run("```sh\nsleep 1000 &\n```\n"), "")


class Comparing(unittest.TestCase):
    def agree(self, shown, written, *how):
        return difference(shown, written, how) == ""

    def test_exactly(self):
        self.assertTrue(self.agree("a 1\nb\n", "a 1\nb\n"))
        self.assertFalse(self.agree("a 1\n", "a 2\n"))
        self.assertFalse(self.agree("a\n", "a\nb\n"))
        self.assertFalse(self.agree("a\nb\n", "a\n"))
        self.assertFalse(self.agree("a.c\n", "abc\n"))

    def test_left_out(self):
        self.assertTrue(self.agree("a ... c\n", "a b c\n"))
        self.assertFalse(self.agree("a ... c\n", "a b d\n"))
        self.assertTrue(self.agree("a\n...\nc\n", "a\nb\nc\nc\n"))
        self.assertTrue(self.agree("...\nc\n", "c\n"))
        self.assertFalse(self.agree("a\n...\nc\n", "a\nb\n"))

    def test_any_numbers(self):
        self.assertTrue(self.agree("   a   1.5 ms\n", "a 12 ms\n", "any-numbers"))
        self.assertFalse(self.agree("a 1 ms\n", "a 1 us\n", "any-numbers"))
        self.assertFalse(self.agree("a 1\n", "a\n", "any-numbers"))

    def test_any_order(self):
        self.assertTrue(self.agree("a\nb\n", "b\na\n", "any-order"))
        self.assertFalse(self.agree("a\nb\n", "b\nb\n", "any-order"))
        self.assertFalse(self.agree("a\nb\n", "b\na\nc\n", "any-order"))
        self.assertTrue(self.agree("a 1\na 2\n", "a 3\na 4\n", "any-order", "any-numbers"))


class Manual(unittest.TestCase):
    def test_examples(self):
        page = (".Sh EXAMPLES\nText:\n.Bd -literal -offset indent\n\\&./one \\-x\n.Ed\n"
                ".Dl $ two\n.Sh SEE ALSO\n.Dl three\n")
        steps = steps_of_manual("page.1", page)
        self.assertEqual([(s.line, s.commands) for s in steps], [(3, "./one -x\n"), (6, "two\n")])

    def test_no_examples(self):
        self.assertEqual(steps_of_manual("page.1", ".Sh SEE ALSO\n"), [])

    def test_file_without_a_name(self):
        with self.assertRaises(Wrong):
            steps_of_manual("page.1", ".Sh EXAMPLES\n.Bd -literal\nname: x\n.Ed\n.Sh SEE ALSO\n")


if __name__ == "__main__":
    unittest.main()
