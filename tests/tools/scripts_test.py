# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The scripts behind the Makefile: what the machine cannot do is counted, and never called passed."""

import os
import shutil
import signal
import subprocess
import tempfile
import unittest

from processes import processes_with, wait_until

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

CTEST = """#!/bin/sh
mkdir -p build/Testing/Temporary
echo "1/2 Test #1: one ...   Passed"
echo "$*" >asked
echo "100% tests passed, 0 tests failed out of 2"
echo
echo "Total Test time (real) =   0.01 sec"
# The log is complete when ctest has ended, and not before.
printf 'not possible here: no FIFO (one)\\nnot possible here: no FIFO (one)\\n' \\
    >build/Testing/Temporary/LastTest.log
exit 8
"""

# What medley does for scripts/demo.sh, but for its runs of the pipeline.
FAKE = """#!/bin/sh
[ "$1" != ps ] || {{ cat {folder}/node 2>/dev/null && exit; sleep 0.01; exit 1; }}
case "$*" in
*--own-openmp*" ldd "*) found=${{LD_LIBRARY_PATH:+$LD_LIBRARY_PATH/libgomp.so.1}}
    echo "libgomp.so.1 => ${{found:-{folder}/openmp/libgomp}} (0x1)"; exit ;;
*" ldd "*) echo "libgomp.so.1 => {folder}/openmp/medley (0x1)"; exit ;;
esac
"""
NODE_IS = "echo 0:2 $! >{folder}/node.new; mv {folder}/node.new {folder}/node"

# What `make install` calls; each notes how. A build that breaks is asked for by a file.
CMAKE = """#!/bin/sh
echo "cmake $*" >>asked
case "$1" in
--build) [ ! -e broken ] ;;
--install) mkdir -p "$4" && echo text >"$4/file" && echo "$4/file" >build/release/install_manifest.txt ;;
*) mkdir -p build/release ;;
esac
"""
OTHERS = {
    "id": "#!/bin/sh\necho 0\n",
    "chown": '#!/bin/sh\necho "chown $*" >>asked\n',
    "ldconfig": "#!/bin/sh\n",
}


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.programs = os.path.join(self.folder, "bin")
        os.mkdir(self.programs)

    def run_script(self, *words, **environment):
        return subprocess.run(
            [os.path.join(ROOT, words[0]), *words[1:]],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
        )

    def test_the_count_stands_before_the_summary(self):
        with open(os.path.join(self.programs, "ctest"), "w") as file:
            file.write(CTEST)
        os.chmod(file.name, 0o755)
        result = self.run_script(
            "scripts/test.sh", "build", "-j", "2", PATH=f"{self.programs}:{os.environ['PATH']}"
        )
        self.assertEqual(result.returncode, 8, result.stderr)
        lines = [line for line in result.stdout.splitlines() if line]
        self.assertEqual(lines[0], "1/2 Test #1: one ...   Passed")
        self.assertEqual(lines[1].split(), "2 not possible here: no FIFO (one)".split())
        self.assertEqual(lines[2], "not possible here: 2 tests")
        self.assertEqual(lines[3], "100% tests passed, 0 tests failed out of 2")
        self.assertEqual(lines[4], "Total Test time (real) =   0.01 sec")
        with open(os.path.join(self.folder, "asked")) as file:
            self.assertIn("-j 2", file.read())

    def demo_made(self, *lines):
        """A command of those lines of the shell stands for medley run: it may write the process that
        medley ps has as the quantiser into the file `node`. OpenMP libraries are files of one name."""
        for name, known_by in (("medley", "medley"), ("libgomp", "GOMP_"), ("libomp", "__kmpc_ GOMP_")):
            self.write(f"openmp/{name}", known_by)
        self.write("examples/pipeline/quantiser", "")
        self.write("tools/medley/medley", FAKE.format(folder=self.folder) + "\n".join(lines) + "\n")
        os.chmod(os.path.join(self.folder, "tools/medley/medley"), 0o755)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def demo_of_what_is_made(self, photo=__file__, **environment):
        libomp = os.path.join(self.folder, "openmp", "libomp")
        environment = {"PATH": os.environ["PATH"], "DEMO_LIBOMP": libomp, **environment}
        return self.run_script("scripts/demo.sh", self.folder, photo, **environment)

    def demo(self, picture, photo=__file__, quantiser_from=0, **environment):
        """With a pipeline that writes that, an expression of the shell, as its picture; behind so many
        runs those that are recorded have a quantiser, which waits to be killed."""
        self.demo_made(
            f'[ -e {self.folder}/ran ] || : >{self.folder}/ran',
            f'if [ "$(wc -l <{self.folder}/ran)" -lt {quantiser_from} ]; then set -- none; fi',
            f'case "$*" in *--name*) sleep 100 & {NODE_IS.format(folder=self.folder)}; wait $! ;; esac',
            f'rm -f {self.folder}/node',
            f'echo {picture} >"$RESULT"',
            f"echo run >>{self.folder}/ran",
            "echo '24 colours in 3 rounds: 2.5 ms; painted: 1.5 ms; 2 threads'",
        )
        return self.demo_of_what_is_made(photo, **environment)

    def runs(self):
        with open(os.path.join(self.folder, "ran")) as file:
            return len(file.readlines())

    def test_demo_compares_the_pictures(self):
        result = self.demo("same")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"\n\(the quantiser, process \d+, was killed by this demo, on purpose\)\n")
        for library in ("medley", "libgomp", "libomp"):
            row = rf"\n{library} +2\.5 ms +1\.5 ms +same +{self.folder}/openmp/{library}\n"
            self.assertRegex(result.stdout, row)
        self.assertNotIn("not installed", result.stdout)
        result = self.demo('"$*"')
        self.assertEqual(result.returncode, 1)
        self.assertIn("the picture is not the same on each library", result.stderr)

    def test_demo_runs_as_often_as_it_is_told(self):
        for rounds, runs in (("1", 1 + 3), ("2", 1 + 2 * 3)):
            self.write("ran", "")
            self.assertEqual(self.demo("same", DEMO_ROUNDS=rounds).returncode, 0)
            self.assertEqual(self.runs(), runs)
        for rounds in ("0", "-1", "two", "1 2"):
            result = self.demo("same", DEMO_ROUNDS=rounds)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("usage: [DEMO_ROUNDS=COUNT]", result.stderr)

    def test_demo_knows_its_libraries(self):
        """Whatever the caller has other programs find, and where there is none of LLVM's."""
        result = self.demo("same", LD_LIBRARY_PATH=os.path.join(self.folder, "openmp"))
        self.assertRegex(result.stdout, f" same +{self.folder}/openmp/libgomp\n")
        result = self.demo("same", DEMO_LIBOMP="/no/such/file")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("\nlibomp: not installed\n", result.stdout)
        result = self.demo("same", DEMO_LIBOMP=os.path.join(self.folder, "openmp", "medley"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("demo: libomp: the quantiser does not find that one, but /", result.stderr)

    def test_demo_tries_again_to_kill(self):
        """Nobody who is not there; it does not say that all is well then."""
        result = self.demo("same", quantiser_from=100, DEMO_ROUNDS="1")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.count("(nobody was killed: "), 3)
        self.assertRegex(result.stdout, r"libgomp .* same")
        self.assertRegex(result.stderr, r"^demo: nobody was killed in 3 runs: [^\n]*\n$")
        self.assertEqual(self.runs(), 3 + 3)
        self.write("ran", "")
        result = self.demo("same", quantiser_from=2, DEMO_ROUNDS="1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("(nobody was killed: "), 2)

    def test_demo_of_what_is_no_picture(self):
        self.demo_made("echo no picture >&2; exit 3")
        result = self.demo_of_what_is_made()
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^no picture\ndemo: no picture is made of .*: see above\n$")

    def test_demo_ends_what_it_has_started(self):
        """When it is told to end, and when it is killed, of which it does not hear: while somebody is
        to be killed, and while libraries are compared."""
        told = os.path.join(self.folder, "told")
        temporary = os.path.join(self.folder, "temporary")
        os.mkfifo(told)
        os.mkdir(temporary)
        self.addCleanup(lambda: [os.kill(left, signal.SIGKILL) for left in processes_with(temporary)])
        begun = f"echo $$ >{told}; exec sleep 100"
        for lines in ((begun,), (f'case "$*" in *--name*) exit 0 ;; esac', begun)):
            for number, status in ((signal.SIGTERM, 128 + 15), (signal.SIGKILL, -9)):
                self.demo_made(*lines)
                demo = subprocess.Popen(
                    [os.path.join(ROOT, "scripts/demo.sh"), self.folder, __file__],
                    stdout=subprocess.DEVNULL,
                    env={"PATH": os.environ["PATH"], "TMPDIR": temporary},
                )
                self.addCleanup(demo.kill)
                with open(told) as file:
                    run = int(file.read())
                demo.send_signal(number)
                self.assertEqual(demo.wait(timeout=60), status)
                wait_until(lambda: not os.listdir(temporary) and not processes_with(temporary))
                self.assertFalse(os.path.exists(f"/proc/{run}"))
                self.assertEqual(os.listdir(temporary), [])
                self.assertEqual(processes_with(temporary), [])

    def test_demo_without_a_photograph(self):
        result = self.demo("same", "/no/such/photo")
        self.assertEqual(result.returncode, 1)
        self.assertIn("demo: /no/such/photo: no such file", result.stderr)

    def test_no_compiler_is_not_passed(self):
        for program in ("env", "bash", "dirname"):
            os.symlink(shutil.which(program), os.path.join(self.programs, program))
        for script in (
            "tests/bare/run_riscv.sh",
            "tests/bare/run_cortex_m.sh",
            "scripts/footprint.sh",
        ):
            with self.subTest(script=script):
                result = self.run_script(script, PATH=self.programs)
                self.assertEqual(result.returncode, 77, result.stderr)
                self.assertRegex(result.stdout, r"^not possible here: no [a-z0-9-]+gcc ")


class Install(unittest.TestCase):
    """As root, in a tree of one's own and in that of the user who asked sudo."""

    SUDO = {"SUDO_UID": "1000", "SUDO_GID": "1001"}

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.prefix = os.path.join(self.folder, "prefix")
        self.build = [
            f"cmake --preset release -DMEDLEY_TESTS=OFF -DCMAKE_INSTALL_PREFIX={self.prefix}",
            "cmake --build build/release",
        ]
        self.install = [f"cmake --install build/release --prefix {self.prefix}"]
        shutil.copy(os.path.join(ROOT, "Makefile"), self.folder)
        for name, text in {"bin/cmake": CMAKE, "scripts/setup.sh": "#!/bin/sh\n"}.items():
            self.program(name, text)
        shutil.copy(os.path.join(ROOT, "scripts", "install.sh"), os.path.join(self.folder, "scripts"))
        for name, text in OTHERS.items():
            self.program("bin/" + name, text)

    def program(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def make(self, *words, **environment):
        """What it called, and how it ended."""
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        result = subprocess.run(
            ["make", *words, f"PREFIX={self.prefix}"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            env={"PATH": path, **environment},
        )
        asked = os.path.join(self.folder, "asked")
        calls = []
        if os.path.exists(asked):
            with open(asked) as file:
                calls = file.read().splitlines()
            os.remove(asked)
        return calls, result

    def test_demo_takes_any_name(self):
        """As it is, from the command line or the environment; or none."""
        self.program("scripts/demo.sh", '#!/bin/sh\nprintf "%s|" "$@" >asked\n')
        for name in ("plain.jpg", "a\"b.jpg", "a$b.jpg", "a 'b \"c$(x)`y`\\z.jpg", "-n", "#1.png"):
            for words, environment in (([f"PHOTO={name}"], {}), ([], {"PHOTO": name})):
                calls, result = self.make("demo", *words, **environment)
                self.assertEqual(calls[-1], f"build/release|{name}|", result.stderr)
        calls, result = self.make("demo")
        self.assertEqual(calls[-1], "build/release|", result.stderr)

    def test_root_alone_builds_and_installs(self):
        for environment in ({}, {"SUDO_UID": "0", "SUDO_GID": "0"}):
            calls, result = self.make("install", **environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(calls, self.build + self.install)

    def test_under_sudo_nothing_is_built(self):
        calls, result = self.make("install", **self.SUDO)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("run make first", result.stderr)
        self.assertEqual(calls, [])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "build")))

    def test_under_sudo_what_is_built_is_installed(self):
        calls, result = self.make()
        self.assertEqual((calls, result.returncode), (self.build, 0), result.stderr)
        calls, result = self.make("install", **self.SUDO)
        self.assertEqual(result.returncode, 0, result.stderr)
        manifest = "build/release/install_manifest.txt"
        self.assertEqual(calls, self.install + [f"chown -h 1000:1001 {manifest}"])

    def test_under_sudo_a_broken_build_is_none(self):
        self.make()
        self.program("broken", "")
        self.assertNotEqual(self.make()[1].returncode, 0)
        calls, result = self.make("install", **self.SUDO)
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(calls, [])

    def test_what_is_installed_is_removed_from_any_tree(self):
        self.make("install")
        self.make("clean")
        mine = os.path.join(self.prefix, "of another")
        with open(mine, "w"):
            pass
        calls, result = self.make("uninstall")
        self.assertEqual((calls, result.returncode), ([], 0), result.stderr)
        self.assertEqual(os.listdir(self.prefix), ["of another"])
        self.assertEqual(result.stdout.splitlines()[-1], f"removed 1 files from {self.prefix}")
        calls, result = self.make("uninstall")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(f"nothing of make install is in {self.prefix}", result.stderr)


if __name__ == "__main__":
    unittest.main()
