# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make docs`: no warning, and a page with every function that the library exports, explained."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
DOCS = os.path.join(ROOT, "scripts", "docs.sh")
FILTER = os.path.join(ROOT, "scripts", "docs_filter.py")


def filtered(name, text):
    """What Doxygen reads of such a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write(text)
        return subprocess.run(
            [sys.executable, FILTER, path], capture_output=True, text=True, check=True
        ).stdout


class Pages(unittest.TestCase):
    def setUp(self):
        if shutil.which("doxygen") is None:
            print("not possible here: no doxygen (scripts/setup.sh docs installs it)")
            self.skipTest("not possible here: no doxygen")
        self.folder = tempfile.mkdtemp(prefix="medley-docs-")
        self.addCleanup(shutil.rmtree, self.folder)

    def read(self, *path):
        with open(os.path.join(*path)) as file:
            return file.read()

    def test_whole(self):
        made = subprocess.run([DOCS, self.folder], capture_output=True, text=True)
        self.assertEqual((made.returncode, made.stdout, made.stderr), (0, "", ""))
        found = {}
        tags = xml.etree.ElementTree.parse(os.path.join(self.folder, "functions.xml"))
        for member in tags.iterfind(".//member[@kind='function']"):
            page = os.path.join(self.folder, "html", member.findtext("anchorfile"))
            found[member.findtext("name")] = page, member.findtext("anchor")
        exported = self.read(ROOT, "tests", "exports.txt").splitlines()
        functions = [name for name in exported if re.match("(mrapi|mcapi|medley)_", name)]
        self.assertGreater(len(functions), 100)
        for name in functions:
            with self.subTest(name=name):
                self.assertIn(name, found)
                page, anchor = found[name]
                text = self.read(page).partition(f'id="{anchor}"')[2]
                explained = re.search(r'(?s)class="memdoc">(.*?)</div>', text)[1]
                self.assertRegex(re.sub("<[^>]*>", "", explained), r"\w", "nothing explains it")
        html = os.listdir(os.path.join(self.folder, "html"))
        for document in ("tutorial_mrapi", "tutorial_mcapi", "tutorial_openmp", "tuning", "embedded"):
            self.assertIn(f"md_docs_{document}.html", html)


class Filter(unittest.TestCase):
    def test_a_header_s_comments(self):
        text = """\
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What it is. */

/* ---- Locks ----------------------------------------------------------------------------------- */

typedef enum kinds {
    ONE, /* the first */
} kinds;

/*
 * Takes it, for <ever>.
 *   ERR_ONE   it is
 *             had
 *   ERR_TWO
 *             gone
 */
void take(int lock);
void give(int lock);

#endif
"""
        self.assertEqual(
            filtered("page.h", text),
            """\
/** @file page.h
 * What it is. */


/** @name Locks
 * @{ */

typedef enum kinds {
    ONE, /**< the first */
} kinds;

/** Takes it, for \\<ever\\>.
 * 
 * - ERR_ONE: it is
 *   had
 * - ERR_TWO:
 *   gone */
void take(int lock);
/** @copydoc take */
void give(int lock);

/** @} */
#endif
""",
        )

    def test_links_that_lead_nowhere_are_text(self):
        text = "# Title\nSee [code](src/x.c), [here](#part), [there](https://a.example/b).\n"
        self.assertEqual(
            filtered("page.md", text),
            "# Title\nSee code, here, [there](https://a.example/b).\n",
        )

    def test_what_is_behind_a_language_goes(self):
        self.assertEqual(
            filtered("page.md", "```c file=x.c\n[a](b)\n```\n"), "```{.c}\n[a](b)\n```\n"
        )


if __name__ == "__main__":
    unittest.main()
