# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong or lacks around a program: variables that cannot be read, more threads than there can
be, functions that we have not. A program goes on with fewer threads, or the default, and a warning is
said once; of a function it is told the name."""

import contextlib
import glob
import os
import re
import resource
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LIMITED = os.environ["LIMITED"]
LIMITED_WORK = os.environ["LIMITED_WORK"]
SMALL_STACK = os.environ["SMALL_STACK"]
CALL_BY_NAME = os.environ["CALL_BY_NAME"]
LIBRARY = os.environ["LIBRARY"]
MIB = 1 << 20
NOBODY = 54321  # who has no process


def source(name):
    with open(os.path.join(ROOT, "src", "omp", name)) as file:
        return file.read()


def run(*words, limits=None, **variables):
    kept = {k: v for k, v in os.environ.items() if not re.match("(OMP|GOMP|KMP|MEDLEY)_", k)}
    return subprocess.run(
        list(map(str, words)),
        env={**kept, "MEDLEY_SHM_DIR": os.environ.get("MEDLEY_SHM_DIR", "/dev/shm"), **variables},
        preexec_fn=limits,
        capture_output=True,
        text=True,
        timeout=100,
    )


class Variables(unittest.TestCase):
    """Those of the table in environment.c, each with values that no reader takes."""

    WRONG = ("", "?!", "1 2 :", "x" * 300, "9" * 40 + "Q", "-3", "\xe9", "1,,1", "true,true")
    # Some of which mean something there, or whatever is said does.
    FREE = {"MEDLEY_EXPLAIN", "OMP_AFFINITY_FORMAT", "OMP_TOOL_LIBRARIES", "OMP_TOOL_VERBOSE_INIT"}

    def names(self):
        text = source("environment.c")
        both = re.findall(r'^    ALSO_ALL\("(OMP_[A-Z_]+)",', text, re.M)
        one = re.findall(r'^    \{"((?:OMP|GOMP|KMP|MEDLEY)_[A-Z_]+)",', text, re.M)
        return one + both + [f"{name}_ALL" for name in both]

    def test_all_are_met(self):
        self.assertGreater(len(self.names()), 20)

    def test_named_with_value_and_the_default_stands(self):
        shown = {"OMP_DISPLAY_ENV": "verbose"}
        default = run(LIMITED, **shown).stderr
        self.assertIn("OMP_NUM_THREADS", default)
        for name in sorted(set(self.names()) - self.FREE):
            for value in self.WRONG:
                with self.subTest(name=name, value=value):
                    variables = {**(shown if name != "OMP_DISPLAY_ENV" else {}), name: value}
                    result = run(LIMITED, **variables)
                    self.assertEqual(result.returncode, 0)
                    said = [line for line in result.stderr.splitlines() if line.startswith("medley: ")]
                    self.assertEqual(len(said), 1, said)
                    told, behind = re.fullmatch(
                        rf"medley: {name} ignored: it is '(.*?)((?:\.\.\.)?)'; want .+ \(default: .+\)",
                        said[0],
                        re.S,
                    ).groups()
                    self.assertTrue(value == told or behind and len(told) > 60, said[0])
                    self.assertTrue(value.startswith(told), said[0])
                    rest = result.stderr.replace(said[0] + "\n", "")
                    self.assertEqual(rest, default if name != "OMP_DISPLAY_ENV" else "")

    # Of these no value says it.
    DESCRIBED = (
        *("as many as", "none", "one", "false, or true", "learned", "measured"),
        *("each loop's own", "the machine's", "the system's"),
    )

    def test_what_is_named_is_the_default(self):
        shown = {"OMP_DISPLAY_ENV": "true"}
        default = run(LIMITED, **shown).stderr
        for name in sorted(set(self.names()) - self.FREE - {"OMP_DISPLAY_ENV"}):
            said = re.search(r"\(default: (.+)\)$", run(LIMITED, **{name: "?!"}).stderr, re.M)[1]
            if not said.startswith(self.DESCRIBED):
                with self.subTest(name=name, default=said):
                    self.assertEqual(run(LIMITED, **shown, **{name: said}).stderr, default)

    def test_a_system_that_has_no_name(self):
        result = run(LIMITED, OMP_NUM_THREADS="3", MEDLEY_SYSTEM="/bad/name")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count("cannot open system '/bad/name'"), 1, result.stderr)

    def test_places_that_may_not_be_used(self):
        result = run(LIMITED, OMP_PLACES="{0},{1001},{1002,1003}", OMP_DISPLAY_ENV="true")
        self.assertEqual(result.returncode, 0)
        self.assertIn("medley: OMP_PLACES: 2 of 3 places left out: none of their processors", result.stderr)
        self.assertIn("OMP_PLACES = '{0}'", result.stderr)

    def test_more_ratios_than_there_are_classes(self):
        result = run(LIMITED, MEDLEY_CSR=":".join("123456789"))
        self.assertRegex(result.stderr, "^medley: MEDLEY_CSR ignored: .*no more than 8 numbers")

    def test_the_level_of_the_log(self):
        result = run(LIMITED, MEDLEY_LOG="loud")
        self.assertRegex(result.stderr, "^medley: MEDLEY_LOG ignored: it is 'loud'; .*\n$")


class Threads(unittest.TestCase):
    def fewer(self, result, least, below, why=""):
        self.assertEqual(result.returncode, 0, result.stderr)
        threads = int(result.stdout)
        self.assertTrue(least <= threads < below, threads)
        self.assertEqual(result.stderr.count("medley: "), 1, result.stderr)
        self.assertRegex(result.stderr, rf"medley: OpenMP: no more than {threads} threads? in a team: .*{why}")

    @staticmethod
    def memory(size):
        return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))

    def test_no_memory_for_stacks(self):
        self.fewer(run(LIMITED, limits=self.memory(600 * MIB), OMP_NUM_THREADS="200"), 3, 200, "ulimit -v")
        self.fewer(run(LIMITED, OMP_NUM_THREADS="3", OMP_STACKSIZE="200000G"), 1, 2, "smaller stack")

    def test_stacks_that_are_too_small(self):
        result = run(LIMITED, OMP_NUM_THREADS="3", OMP_STACKSIZE="64k")
        self.fewer(result, 1, 2, "a stack of 65536 bytes .* ask for a larger one")

    def test_the_smallest_stacks(self):
        bound = {"OMP_PLACES": "threads", "OMP_PROC_BIND": "spread,close", "OMP_DISPLAY_AFFINITY": "true"}
        result = run(SMALL_STACK, OMP_STACKSIZE="16k", **bound)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("affinity", result.stderr)

    def test_a_small_stack_of_the_program_itself(self):
        limit = (24 << 10, resource.RLIM_INFINITY)  # and what it begins with lies on it, too
        result = run(SMALL_STACK, limits=lambda: resource.setrlimit(resource.RLIMIT_STACK, limit))
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_threads_leave_memory_for_what_they_do(self):
        for size in range(100, 900, 50):
            with self.subTest(MiB=size):
                self.fewer(run(LIMITED_WORK, 200, limits=self.memory(size * MIB)), 1, 200)

    def test_hardly_any_memory(self):
        result = run(LIMITED, limits=self.memory(16 * MIB), OMP_NUM_THREADS="8")
        self.fewer(result, 1, 4)

    def test_absurd_numbers(self):
        for threads in (100000, 2000000000, 2**31 - 1, -5):
            with self.subTest(threads=threads):
                self.fewer(run(LIMITED, threads, limits=self.memory(600 * MIB)), 3, 1000)
        said = run(LIMITED, limits=self.memory(600 * MIB), OMP_NUM_THREADS="100000")
        self.fewer(said, 3, 1000)
        self.assertEqual(run(LIMITED, 1000000, OMP_THREAD_LIMIT="3").stdout, "3\n")
        self.assertEqual(run(LIMITED, 1000000, OMP_THREAD_LIMIT="3").stderr, "")

    def test_so_many_threads_of_a_user(self):
        if os.geteuid() != 0:
            self.skipTest("not possible here: not root, whom alone another user's limit lets be another")

        def limits():
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            resource.setrlimit(resource.RLIMIT_NPROC, (6, 6))

        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            for file in (LIMITED, LIBRARY, os.environ["LIBMEDLEY"]):
                shutil.copy(file, folder)
            program = os.path.join(folder, os.path.basename(LIMITED))
            os.rename(os.path.join(folder, os.path.basename(LIBRARY)), os.path.join(folder, "libgomp.so.1"))
            os.rename(
                os.path.join(folder, os.path.basename(os.environ["LIBMEDLEY"])),
                os.path.join(folder, "libmedley.so.0"),
            )
            result = run(program, limits=limits, OMP_NUM_THREADS="20", LD_LIBRARY_PATH=folder)
            self.fewer(result, 4, 7, "ulimit -u")

    @staticmethod
    @contextlib.contextmanager
    def group():
        """A control group of this machine's that may have 7 tasks; None: not possible here."""
        for root in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup"):
            folder = os.path.join(root, f"medley-test-{os.getpid()}")
            try:
                os.mkdir(folder)
            except OSError:
                continue
            try:
                with open(os.path.join(folder, "pids.max"), "w") as file:
                    file.write("7")
                yield folder
                return
            except OSError:
                pass
            finally:
                os.rmdir(folder)
        yield None

    def test_so_many_threads_of_a_control_group(self):
        with self.group() as folder:
            if not folder:
                self.skipTest("not possible here: no control group may be made")

            def limits():
                with open(os.path.join(folder, "cgroup.procs"), "w") as file:
                    file.write(str(os.getpid()))

            self.fewer(run(LIMITED, limits=limits, OMP_NUM_THREADS="20"), 5, 8, "pids.max")


class Functions(unittest.TestCase):
    def test_what_is_not_there_says_its_name(self):
        names = []
        for path in glob.glob(os.path.join(ROOT, "src", "omp", "*.c")):
            names += re.findall(r"^LACKS\((\w+)\)", source(os.path.basename(path)), re.M)
        self.assertGreater(len(names), 5)
        for name in names:
            with self.subTest(name=name):
                result = run(CALL_BY_NAME, LIBRARY, name)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertRegex(result.stderr, rf"\b{name} is not there")

    def test_what_programs_are_linked_with_is_the_library_when_opened(self):
        result = run(CALL_BY_NAME, os.environ["STUB"], "omp_display_env")
        self.assertIn("OMP_NUM_THREADS", result.stderr)

    def test_nor_does_one_that_nobody_has(self):
        result = run(CALL_BY_NAME, LIBRARY, "GOMP_of_the_future")
        self.assertIn("GOMP_of_the_future", result.stderr)


if __name__ == "__main__":
    unittest.main()
