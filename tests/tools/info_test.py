# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""medley info: beside what the kernel says of this machine, and for one that we do not have."""

import json
import os
import re
import subprocess
import unittest

from support import MEDLEY, CommandTest

SYNTHETIC_MACHINE = os.environ["SYNTHETIC_MACHINE"]
MODULES = os.environ["MODULES"]


def names(tree, kind):
    """Of all resources of a kind in a tree, in order."""
    own = [tree["name"]] if tree["type"] == kind else []
    return own + [name for child in tree["children"] for name in names(child, kind)]


def memory_sizes(tree):
    own = [tree.get("words", 0) * tree["word_bytes"]] if tree["type"] == "memory" else []
    return own + [size for child in tree["children"] for size in memory_sizes(child)]


class ThisMachine(CommandTest):
    def setUp(self):
        super().setUp()
        self.info = self.run_json("info")

    def test_processors(self):
        processors = self.info["processors"]
        self.assertEqual(processors["allowed"], len(os.sched_getaffinity(0)))
        self.assertEqual(processors["online"], os.sysconf("SC_NPROCESSORS_ONLN"))
        self.assertEqual(self.info["page_bytes"], os.sysconf("SC_PAGESIZE"))

    def test_group(self):
        self.assertEqual(sorted(self.info["group"]), ["memory_bytes", "quota_permille"])
        output, _ = self.run_medley("info")
        self.assertRegex(output, r"control group: processors .+, memory .+\n")

    def test_affinity(self):
        one = min(os.sched_getaffinity(0))
        output = subprocess.run(
            ["taskset", "-c", str(one), os.environ["MEDLEY"], "info"],
            capture_output=True,
            text=True,
            check=True,
            env=self.environment,
        ).stdout
        self.assertIn(" 1 allowed\n", output)

    def test_one_domain(self):
        (domain,) = self.info["domains"]
        self.assertEqual(domain["instruction_set"], os.uname().machine)
        self.assertGreaterEqual(domain["processors"], self.info["processors"]["allowed"])
        classes = domain["core_classes"]
        self.assertEqual(sum(c["count"] for c in classes), domain["processors"])
        self.assertGreater(sum(m["size_bytes"] for m in domain["memories"]), 0)

    def test_memory_without_sys(self):
        """As in a jail that has none: the one memory has what the machine has."""
        hidden = [*self.apart("--mount"), "sh", "-c", 'mount -t tmpfs none /sys && exec "$@"', "sh"]
        if subprocess.run([*hidden, "true"], capture_output=True).returncode != 0:
            reason = "not possible here: /sys cannot be taken away"
            print(reason)
            self.skipTest(reason)
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
        output, _ = self.run_medley("info", "--json", within=hidden)
        (memory,) = json.loads(output)["domains"][0]["memories"]
        self.assertEqual(memory["size_bytes"], size)
        output, _ = self.run_medley(
            "info", "--tree", "--json", within=hidden, MEDLEY_MODULE_DIR=MODULES
        )
        self.assertEqual(memory_sizes(json.loads(output)), [size])

    def test_shared_memory(self):
        shared = self.info["shared_memory"]
        space = os.statvfs(self.folder)
        self.assertEqual(shared["folder"], self.folder)
        self.assertEqual(shared["size_bytes"], space.f_blocks * space.f_frsize)

    def test_limits(self):
        changed = self.run_json("info", MEDLEY_MAX_NODES="300")["limits"]
        nodes = {row["name"]: row for row in changed}["nodes"]
        self.assertEqual(nodes["variable"], "MEDLEY_MAX_NODES")
        self.assertEqual(nodes["value"], 300)
        self.assertNotEqual(nodes["standard"], 300)

    def test_text(self):
        output, errors = self.run_medley("info")
        self.assertEqual(errors, "")
        for word in ("processors:", "domain 0:", "shared memory:", "membarrier:", "MEDLEY_MAX_"):
            self.assertIn(word, output)


class RecordedMachine(CommandTest):
    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.folder, "machine.xml")
        subprocess.run([SYNTHETIC_MACHINE, self.file], check=True)

    def test_classes_caches_memories(self):
        info = self.run_json("info", "--xml", self.file)
        self.assertEqual(info["machine"]["source"], self.file)
        self.assertNotIn("processors", info)
        (domain,) = info["domains"]
        self.assertEqual((domain["processors"], domain["packages"]), (8, 2))
        kinds = [(c["core_type"], c["processors"], c["count"]) for c in domain["core_classes"]]
        self.assertEqual(kinds, [("little", "0-3", 4), ("big", "4-7", 4)])
        caches = [(c["name"], c["size_bytes"], c["count"]) for c in domain["caches"]]
        self.assertEqual(caches, [("L2", 4 << 20, 2)])
        memories = [(m["size_bytes"], m["processors"]) for m in domain["memories"]]
        self.assertEqual(memories, [(2 << 30, "0-3"), (2 << 30, "4-7")])

    def test_memory_of_unknown_size(self):
        with open(self.file, encoding="ascii") as file:
            text = re.sub(r' local_memory="\d+"', "", file.read())
        with open(self.file, "w", encoding="ascii") as file:
            file.write(text)
        (domain,) = self.run_json("info", "--xml", self.file)["domains"]
        self.assertEqual([m["size_bytes"] for m in domain["memories"]], [None, None])
        output, _ = self.run_medley("info", "--xml", self.file)
        self.assertRegex(output, r"MEMORY +SIZE.*\n +0 +unknown ")

    def test_tree(self):
        tree = self.run_json("info", "--tree", "--xml", self.file, MEDLEY_MODULE_DIR=MODULES)
        self.assertEqual(tree["type"], "machine")
        self.assertEqual(names(tree, "processor"), [f"PU#{i}" for i in range(8)])
        self.assertEqual(names(tree, "cache"), ["L2#0", "L2#1"])
        self.assertEqual(names(tree, "memory"), ["NUMANode#0", "NUMANode#1"])
        output, _ = self.run_medley(
            "info", "--tree", "--xml", self.file, MEDLEY_MODULE_DIR=MODULES
        )
        self.assertIn("L2#1  4 MiB\n", output)
        self.assertIn("PU#7  processor 7\n", output)

    def test_no_tree(self):
        with open(self.file, "w", encoding="ascii") as file:
            file.write('<topology>\n<object type="Machine">\n</topology>\n')
        output, errors = self.run_medley(
            "info", "--tree", "--xml", self.file, status=1, MEDLEY_MODULE_DIR=MODULES
        )
        self.assertEqual(output, "")
        self.assertIn(f"{self.file}:3: a tag is closed", errors)
        with open(self.file, "w", encoding="ascii") as file:
            file.write('<topology>\n<object type="Toaster"/>\n</topology>\n')
        output, errors = self.run_medley(
            "info", "--tree", "--xml", self.file, status=1, MEDLEY_MODULE_DIR=MODULES
        )
        self.assertIn(f"{self.file}:2: an object is of no known type", errors)

    def test_tree_in_the_build(self):
        """The command finds the module without being told where it is."""
        tree = self.run_json("info", "--tree", "--xml", self.file)
        self.assertEqual(names(tree, "processor"), [f"PU#{i}" for i in range(8)])

    def test_tree_without_module(self):
        output, errors = self.run_medley("info", "--tree", MEDLEY_MODULE_DIR="/nowhere")
        self.assertIn("PU#", output)
        self.assertIn("there is no medley-hwloc.so", errors)

    def test_text(self):
        output, _ = self.run_medley("info", "--xml", self.file)
        self.assertIn("little", output)
        self.assertNotIn("membarrier", output)

    def test_not_there(self):
        _, errors = self.run_medley("info", "--xml", self.file + ".not", status=1)
        self.assertIn(self.file + ".not", errors)

    def test_not_xml(self):
        with open(self.file, "w") as file:
            file.write("this is not XML\n")
        _, errors = self.run_medley("info", "--xml", self.file, status=1)
        self.assertIn(f"{self.file}:1: text stands outside", errors)
        self.assertIn("lstopo FILE.xml", errors)

    def refused(self, text, expected, ways=(["--json"], [], ["--tree"])):
        """Each way, with the line; and whoever reads it lives."""
        with open(self.file, "w", encoding="ascii") as file:
            file.write(text)
        for way in ways:
            output, errors = self.run_medley(
                "info", *way, "--xml", self.file, status=1, MEDLEY_MODULE_DIR=MODULES
            )
            said = json.loads(output)["error"] if "--json" in way else errors
            self.assertIn(self.file + expected, said)

    def test_almost_a_machine(self):
        with open(self.file, encoding="ascii") as file:
            good = file.read()
        line = next(i for i, text in enumerate(good.split("\n"), 1) if '"Core"' in text)
        before, core, after = good.partition('type="Core"')
        bad = before + core + after.replace("complete_cpuset", "complete_cpusMt", 1)
        self.refused(bad, f":{line}: an object lacks")

    def test_what_is_no_xml(self):
        machine = '<topology version="2.0">\n<object type="Machine"'
        for text, expected in (
            ("", ":1: there is nothing"),
            ("<topology/>\0", ":1: there is a NUL"),
            ("\n< topology/>", ":2: '<' begins no tag"),
            ("<topology>\n", ":2: the file ends before the document does"),
            ("<topology></topology", ":1: a closing tag does not end"),
            ("<topology></object>", ":1: a tag is closed that is not the last one opened"),
            ("<?xml version='1.0'>", ":1: the declaration of XML does not end"),
            ("<?a version='1.0'>", ":1: an instruction does not end"),
            ("<!-- \n >", ":2: a comment does not end"),
            ("<!DOCTYPE t", ":1: the document type does not end"),
            ("<!DOCTYPE t [ <!ENTITY a 'b'> ]>", ":1: the document brings definitions of its own"),
            (machine + ' "', ":2: a tag has something that is no attribute"),
            (machine + " os_index>", ":2: an attribute has no value"),
            (machine + " os_index=0>", ":2: a value is not quoted"),
            (machine + ' os_index="0\n', ":3: a value is not closed"),
            (machine + " os_index='0\n<", ":3: a value is not closed"),
        ):
            with self.subTest(text[:60]):
                self.refused(text, expected, (["--json"],))

    # What stands in a recorded machine first, what in its place makes it none, and why.
    PAGES = r'<page_type size="4096" count="\d+"/>'
    NO_MACHINE = (
        ("</topology>", "</topology><topology/>", "something follows the document"),
        ("</topology>", "<object/></topology>", "a second object stands beside the machine"),
        ('type="Machine" ', "", "an object's type is not its first attribute"),
        ('type="Machine"', 'type="Package"', "the first object is no machine"),
        ('type="Package"', 'type="Machine"', "a machine stands in another object"),
        ('type="Core"', f'type="{"C" * 40}"', "an object is of no known type"),
        ('type="Core"', 'type="Cache"', "an object is of no known type"),
        ('type="Core"', 'type="Misc"', "a device has a set of processors or memories"),
        ('type="L2Cache"', 'type="L3Cache"', "a cache's depth or cache_type is not that"),
        ('type="PU" os_index="1"', 'type="PU" os_index="0"', "a processor's cpuset, or a"),
        ('type="PU" os_index="1"', 'type="PU" os_index="one"', "a value is no number"),
        (
            'type="PU" os_index="1" cpuset="0x00000002"',
            'type="PU" os_index="0" cpuset="0x00000001"',
            "two have the same os_index",
        ),
        (
            'type="Core" os_index="0" cpuset="0x00000001"',
            'type="Core" os_index="0" cpuset="0x00000100"',
            "an object's set has what the one around it lacks",
        ),
        (' complete_cpuset="[^"]*"', "", "an object lacks cpuset"),
        (' cpuset="[^"]*"', ' cpuset="many"', "a set is none; want hexadecimal numbers"),
        (' cpuset="[^"]*"', ' cpuset=""', "a set is none; want hexadecimal numbers"),
        (' cpuset="[^"]*"', f' cpuset="{"0," * 9000}"', "a set is too long"),
        (' nodeset="[^"]*"', ' nodeset="0x0"', "the machine has no memory"),
        (PAGES, "<info>" * 65, "tags are nested too deep"),
        (PAGES, "<object/>", "an object has no type"),
        (PAGES, '<object type="Core"/>', "an object stands where none of its type may"),
        (PAGES, '<object type="PCIDev"/>', "a device stands in what has none"),
        (PAGES, "<pages/>", "an object has something that none has"),
        (PAGES, "<info><object/></info>", "an object stands in what is none"),
        (
            PAGES,
            '<object type="Misc"><object type="NUMANode"/></object>',
            "a memory stands in what is not of processors or memory",
        ),
        (
            '(<object type="PU"[^>]*/>)',
            r'\1<info name="a" value="b"/>',
            "an object has something else after its objects",
        ),
    )

    def test_what_is_no_machine(self):
        with open(self.file, encoding="ascii") as file:
            good = file.read()
        for was, put, expected in self.NO_MACHINE:
            with self.subTest(f"{was} -> {put[:60]}"):
                place = re.search(was, good)
                line = 1 + good.count("\n", 0, place.start())
                bad = good[: place.start()] + place.expand(put) + good[place.end() :]
                self.refused(bad, f":{line}: {expected}", (["--json"],))

    def test_what_hwloc_finds(self):
        with open(self.file, encoding="ascii") as file:
            good = file.read()
        line = next(i for i, text in enumerate(good.split("\n"), 1) if "<object" in text)
        bad = good.replace("</topology>", "<cpukind/></topology>")
        self.refused(bad, f":{line}: hwloc cannot make a machine")

    def test_no_name(self):
        for way in ([], ["--tree"]):
            output, errors = self.run_medley("info", *way, "--xml", "", status=2)
            self.assertEqual(output, "")
            self.assertIn("--xml names no file", errors)


class PretendedMachine(CommandTest):
    """hwloc takes another machine for this one where a variable says so; we say so too."""

    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.folder, "machine.xml")
        subprocess.run([SYNTHETIC_MACHINE, self.file], check=True)

    def expect(self, source, processors, **environment):
        info = self.run_json("info", **environment)
        self.assertEqual(info["machine"], {"source": source, "model": None, "vendor": None})
        self.assertEqual(sorted(info), ["domains", "machine", "version"])
        self.assertEqual(info["domains"][0]["processors"], processors)

    def test_synthetic(self):
        machine = "node:2 core:4 pu:2"
        self.expect("HWLOC_SYNTHETIC=" + machine, 16, HWLOC_SYNTHETIC=machine)

    def test_instruction_caches(self):
        machine = "core:2 l1d:1(size=32768) l1i:1(size=65536) pu:1"
        caches = self.run_json("info", HWLOC_SYNTHETIC=machine)["domains"][0]["caches"]
        found = [(c["name"], c["type"], c["size_bytes"]) for c in caches]
        self.assertIn(("L1i", "instruction", 65536), found)

    def test_file(self):
        self.expect("HWLOC_XMLFILE=" + self.file, 8, HWLOC_XMLFILE=self.file)

    def test_no_machine(self):
        """This one, and a word; of a tree it is an error, with its reason."""
        chosen = {"HWLOC_SYNTHETIC": self.file + ".not"}
        output, errors = self.run_medley("info", "--json", **chosen)
        self.assertIn("limits", json.loads(output))
        self.assertIn(f"HWLOC_SYNTHETIC={self.file}.not: hwloc cannot make a machine", errors)
        output, errors = self.run_medley(
            "info", "--tree", "--json", status=1, MEDLEY_MODULE_DIR=MODULES, **chosen
        )
        error = json.loads(output)["error"]
        self.assertRegex(error, "^the machine cannot be read: .+; there is no tree$")
        self.run_json("info", HWLOC_XMLFILE=self.file + ".not", HWLOC_FSROOT="/")
        self.run_json("info", HWLOC_XMLFILE=self.file, HWLOC_THISSYSTEM="1")

    def test_bad_file(self):
        """With its line, as when it is asked for, by a tree, and by a program."""
        with open(self.file, encoding="ascii") as file:
            good = file.read()
        line = next(i for i, text in enumerate(good.split("\n"), 1) if "<object" in text)
        kinds = good.replace("</topology>", "<cpukind/></topology>")
        for text, expected in (
            ("neither\n", f"{self.file}:1: text stands outside"),
            ("<topology>\n<object type='Toaster'/>", f"{self.file}:2: an object is of no known"),
            (kinds, f"{self.file}:{line}: hwloc cannot make a machine of what begins here"),
            (None, f"{self.file}: No such file"),
        ):
            with open(self.file, "w", encoding="ascii") as file:
                file.write(text or "")
            if not text:
                os.remove(self.file)
            for way in ([], ["--tree"]):
                with self.subTest(f"{way} {expected}"):
                    output, errors = self.run_medley(
                        "info", *way, status=1, MEDLEY_MODULE_DIR=MODULES, HWLOC_XMLFILE=self.file
                    )
                    self.assertEqual(output, "")
                    self.assertIn(expected, errors)
                    self.assertNotIn("/sys", errors)

    def test_other_variable(self):
        """What hwloc accepts, and then cannot make a machine of."""
        chosen = {"HWLOC_CPUID_PATH": self.folder, "HWLOC_COMPONENTS": "stop"}
        _, errors = self.run_medley("info", status=1, **chosen)
        self.assertIn(f"HWLOC_CPUID_PATH={self.folder}: hwloc cannot make a machine", errors)
        self.assertNotIn("/sys", errors)

    def answers(self, **environment):
        """Of the command and of a program, asked either way: None, or why there is none."""
        found = []
        for way in ([], ["--tree"]):
            for chosen in ({"HWLOC_XMLFILE": self.file}, {}):
                result = subprocess.run(
                    [MEDLEY, "info", *way, *([] if chosen else ["--xml", self.file])],
                    capture_output=True,
                    text=True,
                    env={**self.environment, "MEDLEY_MODULE_DIR": MODULES, **environment, **chosen},
                )
                found.append(result.stderr if result.returncode else None)
        return found

    def test_written_by_others(self):
        """One answer, whoever reads: a machine, or that hwloc's plugin is missing."""
        with open(self.file, encoding="ascii") as file:
            text = file.read().replace('"', "'").replace("\n", "\r\n")
        with open(self.file, "w", encoding="ascii", newline="") as file:
            file.write(text)
        line = next(i for i, text in enumerate(text.split("\n"), 1) if "<object" in text)
        for answer in self.answers(HWLOC_PLUGINS_PATH=self.folder):
            self.assertIn(f"{self.file}:{line}: hwloc cannot make a machine", answer or "")
            self.assertIn("; without its plugin for libxml (install libhwloc-plugins)", answer)
        here = self.answers()
        if all(answer and "libhwloc-plugins" in answer for answer in here):
            reason = "not possible here: hwloc has no plugin for libxml"
            print(reason)
            self.skipTest(reason)
        self.assertEqual(here, [None] * 4)

    def test_both(self):
        self.expect("HWLOC_SYNTHETIC=pu:3", 3, HWLOC_XMLFILE=self.file, HWLOC_SYNTHETIC="pu:3")

    def test_text(self):
        output, _ = self.run_medley("info", HWLOC_SYNTHETIC="package:1 core:1 pu:3")
        self.assertIn(", 3 processors, 1 core, 1 package\n", output)
        output, _ = self.run_medley("info", HWLOC_SYNTHETIC="pu:3")
        self.assertIn(" on HWLOC_SYNTHETIC=pu:3: ", output)
        for word in ("this machine", "virtual machine", "processors: ", "membarrier"):
            self.assertNotIn(word, output)


if __name__ == "__main__":
    unittest.main()
