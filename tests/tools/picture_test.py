# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""medley info --svg: what is drawn is all there, once, in its place, and can be read."""

import os
import stat
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from support import MEDLEY, CommandTest

SYNTHETIC_MACHINE = os.environ["SYNTHETIC_MACHINE"]
SVG = "{http://www.w3.org/2000/svg}"
# How wide letters are in DejaVu Sans, about, in parts of the font's size.
NARROW, WIDE, CAPITAL, DIGIT, OTHER, BOLDER = 0.34, 0.93, 0.69, 0.64, 0.6, 1.12
SLACK = 0.02  # what is written is rounded

TINY = "package:1 l3:1(size=8388608) l2:1(size=1048576) l1d:1(size=32768) core:1 pu:2"
SERVER = (
    "package:2 [numa(memory=68719476736)] l3:2(size=33554432) l2:8(size=1048576) "
    "l1d:1(size=49152) l1i:1(size=32768) core:1 pu:2"
)
MACHINES = {
    "pu:1": 1,
    "pu:3": 3,
    "core:2 pu:1": 2,
    TINY: 2,
    "core:4 pu:8": 32,
    SERVER: 64,
    "package:4 [numa] group:2 [numa] core:8 pu:4": 256,
    "package:1 [numa][numa(memory=1024)] l3:3 core:7 pu:1": 21,
}


class Box:
    def __init__(self, left, top, width, height):
        self.left, self.top = left, top
        self.right, self.bottom = left + width, top + height

    def __repr__(self):
        return f"{self.left:g},{self.top:g} to {self.right:g},{self.bottom:g}"

    def overlaps(self, other):
        return (
            self.left < other.right - SLACK
            and other.left < self.right - SLACK
            and self.top < other.bottom - SLACK
            and other.top < self.bottom - SLACK
        )

    def holds(self, other):
        return (
            self.left <= other.left + SLACK
            and self.right >= other.right - SLACK
            and self.top <= other.top + SLACK
            and self.bottom >= other.bottom - SLACK
        )


def box_of_rect(rect):
    return Box(*(float(rect.get(name)) for name in ("x", "y", "width", "height")))


def width_of_letter(letter):
    if letter in "fijlrt.,:;()|[] -/":
        return NARROW
    if letter in "mwMW%@":
        return WIDE
    return CAPITAL if letter.isupper() else DIGIT if letter.isdigit() else OTHER


def box_of_text(text):
    size = float(text.get("font-size"))
    width = sum(map(width_of_letter, text.text)) * size
    width *= BOLDER if text.get("font-weight") == "bold" else 1
    shift = {None: 0, "middle": width / 2, "end": width}[text.get("text-anchor")]
    return Box(float(text.get("x")) - shift, float(text.get("y")) - 0.8 * size, width, size)


class Picture:
    def __init__(self, text):
        self.root = ElementTree.fromstring(text)
        self.canvas = Box(*(float(number) for number in self.root.get("viewBox").split()))
        self.texts = list(self.root.iter(SVG + "text"))
        self.rects = list(self.root.iter(SVG + "rect"))[1:]  # the first is the paper

    def groups(self, kind):
        return [g for g in self.root.iter(SVG + "g") if g.get("class") == kind]

    def labels(self, kind):
        return [group.find(SVG + "text").text for group in self.groups(kind)]

    def legend(self):
        (legend,) = self.groups("legend")
        return [text.text for text in legend.iter(SVG + "text")]


class PictureTest(CommandTest):
    def draw(self, *words, **environment):
        output, errors = self.run_medley("info", "--svg", "-", *words, **environment)
        self.assertEqual(errors, "")
        return Picture(output)

    def draw_synthetic(self, machine):
        return self.draw(HWLOC_SYNTHETIC=machine)


class Layout(PictureTest):
    def each(self, check):
        """Of this machine, and of all others: the picture, and how many processors there are."""
        with self.subTest("this machine"):
            check(self.draw(), os.sysconf("SC_NPROCESSORS_ONLN"))
        for machine, processors in MACHINES.items():
            with self.subTest(machine):
                check(self.draw_synthetic(machine), processors)

    def test_every_processor_once(self):
        def check(picture, processors):
            drawn = picture.labels("processor")
            self.assertEqual(len(set(drawn)), processors)
            self.assertEqual(len(drawn), processors)
            for number in drawn:
                self.assertRegex(number, r"^\d+$")

        self.each(check)

    def test_nothing_is_outside(self):
        def check(picture, _):
            for rect in picture.rects:
                self.assertTrue(picture.canvas.holds(box_of_rect(rect)), box_of_rect(rect))
            for text in picture.texts:
                self.assertTrue(picture.canvas.holds(box_of_text(text)), text.text)

        self.each(check)

    def test_no_two_texts_overlap(self):
        def check(picture, _):
            boxes = sorted(
                ((box_of_text(text), text.text) for text in picture.texts), key=lambda b: b[0].top
            )
            for i, (box, text) in enumerate(boxes):
                for other, other_text in boxes[i + 1 :]:
                    if other.top >= box.bottom:
                        break
                    self.assertFalse(box.overlaps(other), f"'{text}' and '{other_text}'")

        self.each(check)

    def test_rectangles_are_beside_or_in_each_other(self):
        def check(picture, _):
            boxes = [box_of_rect(rect) for rect in picture.rects]
            for i, box in enumerate(boxes):
                for other in boxes[i + 1 :]:
                    beside = not box.overlaps(other)
                    self.assertTrue(beside or box.holds(other), f"{box} and {other}")

        self.each(check)

    def test_labels_are_in_their_rectangles(self):
        def check(picture, _):
            for kind in ("machine", "package", "group", "core", "cache", "memory", "processor"):
                for group in picture.groups(kind):
                    box = box_of_rect(group.find(SVG + "rect"))
                    text = group.find(SVG + "text")
                    self.assertTrue(box.holds(box_of_text(text)), text.text)

        self.each(check)

    def test_nothing_comes_from_elsewhere(self):
        def check(picture, _):
            known = {SVG + name for name in ("svg", "g", "rect", "text", "title")}
            self.assertEqual({element.tag for element in picture.root.iter()} - known, set())
            self.assertEqual(picture.root.get("font-family"), "sans-serif")

        self.each(check)

    def test_about_as_wide_as_a_page(self):
        for machine in (SERVER, "core:64 pu:1"):
            canvas = self.draw_synthetic(machine).canvas
            self.assertLess(0.7, canvas.right / canvas.bottom)
            self.assertGreater(3, canvas.right / canvas.bottom)
            self.assertLess(canvas.right, 2500)


class Parts(PictureTest):
    def test_sizes_have_units(self):
        picture = self.draw_synthetic(SERVER)
        self.assertEqual(picture.labels("memory"), ["memory 0: 64 GiB", "memory 1: 64 GiB"])
        caches = picture.labels("cache")
        self.assertEqual(caches.count("L3 32 MiB"), 4)
        for cache in ("L2 1 MiB", "L1d 48 KiB", "L1i 32 KiB"):
            self.assertEqual(caches.count(cache), 32)
        self.assertEqual(picture.labels("package"), ["package 0", "package 1"])
        self.assertEqual(len(picture.groups("core")), 32)
        self.assertEqual(
            picture.labels("machine"), ["domain 0: 64 processors, 32 cores, 2 packages"]
        )

    def test_what_lies_in_what(self):
        picture = self.draw_synthetic(SERVER)
        for package in picture.groups("package"):
            inside = [g.get("class") for g in package.iter(SVG + "g")]
            self.assertEqual(inside.count("memory"), 1)
            self.assertEqual(inside.count("processor"), 32)
        for core in picture.groups("core"):
            inside = [g.get("class") for g in core.iter(SVG + "g")]
            self.assertEqual(inside.count("processor"), 2)

    def test_classes_have_colours(self):
        file = os.path.join(self.folder, "machine.xml")
        subprocess.run([SYNTHETIC_MACHINE, file], check=True)
        picture = self.draw("--xml", file)
        colours = {}
        for group in picture.groups("processor"):
            number = int(group.find(SVG + "text").text)
            colours.setdefault(group.find(SVG + "rect").get("fill"), set()).add(number)
        self.assertEqual(sorted(map(sorted, colours.values())), [[0, 1, 2, 3], [4, 5, 6, 7]])
        (legend,) = picture.groups("legend")
        keys = [rect.get("fill") for rect in legend.iter(SVG + "rect")]
        self.assertEqual(picture.legend()[0], "core class 0: 4 processors, little")
        self.assertEqual(picture.legend()[1], "core class 1: 4 processors, big")
        self.assertEqual(colours[keys[0]], {0, 1, 2, 3})
        self.assertEqual(colours[keys[1]], {4, 5, 6, 7})

    def test_what_this_process_does_not_get(self):
        one = min(os.sched_getaffinity(0))
        output, _ = self.run_medley("info", "--svg", "-", within=["taskset", "-c", str(one)])
        picture = Picture(output)
        rects = {g.find(SVG + "text").text: g.find(SVG + "rect") for g in picture.groups("processor")}
        dashed = {number for number, rect in rects.items() if rect.get("stroke-dasharray")}
        self.assertEqual(set(rects) - dashed, {str(one)})
        said = "processor that is not for this process" in picture.legend()
        self.assertEqual(said, len(rects) > 1)

    def test_legend_names_what_is_drawn(self):
        self.assertEqual(self.draw_synthetic("core:2 pu:1").legend()[0], "cores: 2 processors")
        self.assertNotIn("cache, for what is below it", self.draw_synthetic("pu:2").legend())
        self.assertIn("cache, for what is below it", self.draw_synthetic(TINY).legend())

    def test_names_of_others(self):
        """What somebody wrote into a recording breaks no picture."""
        file = os.path.join(self.folder, "machine.xml")
        subprocess.run([SYNTHETIC_MACHINE, file], check=True)
        with open(file) as source:
            text = source.read()
        self.assertIn('value="little"', text)
        with open(file, "w") as target:
            target.write(text.replace('value="little"', 'value="&lt;b&gt; &amp; MMMMMMMMMMMMMMMM"'))
        picture = self.draw("--xml", file)
        name = "core class 0: 4 processors, <b> & MMMMMMMMMMMMMMMM"
        (text,) = [text for text in picture.texts if text.text == name]
        self.assertTrue(picture.canvas.holds(box_of_text(text)))


class Files(PictureTest):
    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.folder, "machine.svg")

    def test_a_file(self):
        output, errors = self.run_medley("info", "--svg", self.file)
        self.assertEqual((output, errors), ("", ""))
        with open(self.file) as file:
            self.assertGreater(len(Picture(file.read()).groups("processor")), 0)
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o666 & ~mask)
        document = self.run_json("info", "--svg", self.file)
        self.assertEqual(document["picture"], self.file)
        self.assertIn("domains", document)

    def test_no_file(self):
        for path, reason in (
            (self.folder + "/no/file", "No such file"),
            (self.folder, "Is a directory"),
            ("/dev/full", "No space left"),
        ):
            _, errors = self.run_medley("info", "--svg", path, status=1)
            self.assertIn(f"cannot write '{path}': {reason}", errors)

    def test_what_was_there_stays(self):
        """Until the new one is whole."""
        with open(self.file, "w") as file:
            file.write("before")
        _, errors = self.run_medley("info", "--svg", self.file, "--xml", "/not/there", status=1)
        self.assertIn("/not/there", errors)
        with open(self.file) as file:
            self.assertEqual(file.read(), "before")

    def test_a_full_disk_at_the_end(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run(
                [MEDLEY, "info", "--svg", "-"], stdout=full, stderr=subprocess.PIPE, text=True
            )
        self.assertEqual(result.returncode, 1)
        self.assertIn("No space left", result.stderr)


if __name__ == "__main__":
    unittest.main()
