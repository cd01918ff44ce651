# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""medley run: real processes that end, fail, hang, are killed, and leave others behind."""

import array
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
import unittest

from processes import wait_until
from support import HOLDER, MEDLEY, CommandTest, Holder

SYSTEM = "medley-system: 1\nname: run\ndomains:\n  - number: 1\n"


def state_of(process):
    """A letter, as /proc has it; none when it is gone."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def is_there(process):
    return state_of(process) not in ("", "Z")


def leads_a_group(process):
    """A program of a run's, or its guard; not the helper of a sanitizer that looks for leaks."""
    try:
        return os.getpgid(process) == process
    except ProcessLookupError:
        return False


def unread(pipe):
    """So many bytes lie in it."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


class RunTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.nothing_is_left)

    def nothing_is_left(self):
        self.assertEqual([f for f in os.listdir(self.folder) if f.startswith("medley-")], [])

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
        return path

    def file(self, programs, sections=""):
        """A system's file, of JSON, which is YAML, too; with sections before."""
        listed = [dict(program, command=list(map(str, program["command"]))) for program in programs]
        lines = ["programs:"] + [f"  - {json.dumps(program)}" for program in listed]
        return self.path("system.yaml", SYSTEM + sections + "\n".join(lines) + "\n")

    def run_file(self, programs, *words, status=0):
        return self.run_medley("run", "--file", self.file(programs), *words, status=status)

    def report(self, programs, *words, status=0):
        output, _ = self.run_file(programs, "--json", *words, status=status)
        return json.loads(output)

    def begin(self, *words):
        run = subprocess.Popen(
            [MEDLEY, "run", *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        self.addCleanup(self.forget, run)
        return run

    def forget(self, run):
        run.kill()
        run.wait()
        run.stdout.close()
        run.stderr.close()

    def end(self, run):
        output, errors = run.communicate(timeout=60)
        return run.returncode, output, errors


def shell(script, **others):
    return dict(command=["sh", "-c", script], **others)


class Words(RunTest):
    def test_lines_behind_whose_they_are(self):
        script = "for i in 1 2 3; do echo $MEDLEY_RUN_INDEX of $MEDLEY_RUN_COUNT: $i; done; printf end"
        output, errors = self.run_medley("run", "-n", "3", "sh", "-c", script)
        for index in range(3):
            own = [line for line in output.splitlines() if line.startswith(f"[sh.{index}] ")]
            said = [f"{index} of 3: {i}" for i in (1, 2, 3)] + ["end"]
            self.assertEqual(own, [f"[sh.{index}] {text}" for text in said])
        self.assertEqual((len(output.splitlines()), errors), (12, ""))

    def test_errors_go_to_errors(self):
        output, errors = self.run_medley("run", "sh", "-c", "echo out; echo wrong >&2")
        self.assertEqual((output, errors), ("[sh] out\n", "[sh] wrong\n"))

    def test_plain(self):
        output, _ = self.run_medley("run", "--plain", "printf", "no line")
        self.assertEqual(output, "no line")

    def test_long_lines_are_cut(self):
        output, _ = self.run_medley("run", sys.executable, "-c", "print('x' * 200000)")
        name = output[1 : output.index("]")]
        lines = output.splitlines()
        self.assertEqual(lines, [f"[{name}] " + "x" * n for n in (65536, 65536, 65536, 3392)])

    def test_input_goes_to_the_first(self):
        result = subprocess.run(
            [MEDLEY, "run", "-n", "2", "cat"],
            input="to one\n",
            capture_output=True,
            text=True,
            env=self.environment,
            timeout=60,
        )
        self.assertEqual(result.stdout, "[cat.0] to one\n")

    def test_exit_status(self):
        for script, status in (("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)):
            with self.subTest(script=script):
                _, errors = self.run_medley("run", "sh", "-c", script, status=status)
                self.assertEqual(errors == "", status == 0)
        _, errors = self.run_medley("run", "/no/such", status=126)
        self.assertIn("/no/such: No such file or directory", errors)

    def test_one_fails_all_end(self):
        begun = time.monotonic()
        script = 'if [ $MEDLEY_RUN_INDEX = 1 ]; then exit 3; fi; sleep 100'
        _, errors = self.run_medley("run", "-n", "3", "sh", "-c", script, status=3)
        self.assertLess(time.monotonic() - begun, 50)
        self.assertRegex(errors, r"sh\.1 \(process \d+\) ended with 3")

    def test_spread(self):
        own = sorted(os.sched_getaffinity(0))
        output, _ = self.run_medley("run", "-n", "3", "--spread", "sh", "-c",
                                    "grep Cpus_allowed_list /proc/self/status")
        for index in range(3):
            self.assertRegex(output, rf"\[sh\.{index}\] Cpus_allowed_list:\s+{own[index % len(own)]}\n")

    def test_all_in_one_system(self):
        script = f'exec "{HOLDER}" 1 $MEDLEY_RUN_INDEX </dev/null'
        output, _ = self.run_medley("run", "-n", "3", "--name", "mine", "sh", "-c",
                                    f"echo $MEDLEY_SYSTEM; {script}")
        self.assertEqual(output.count("mine\n"), 3)
        self.assertEqual(output.count("ready\n"), 3)

    def test_own_openmp(self):
        for words, found in (((), True), (("--own-openmp",), False)):
            output, _ = self.run_medley("run", *words, "sh", "-c", "echo $LD_LIBRARY_PATH:",
                                        LD_LIBRARY_PATH="/a/path")
            paths = output.split("] ")[1].strip().split(":")
            self.assertEqual(os.path.exists(paths[0] + "/libgomp.so.1"), found)
            self.assertIn("/a/path", paths)

    def test_nobody_reads(self):
        run = self.begin("sh", "-c", "while echo line; do :; done")
        run.stdout.readline()
        run.stdout.close()
        self.assertEqual(run.wait(timeout=60), 128 + signal.SIGPIPE)
        run.stderr.close()


class Files(RunTest):
    def test_order(self):
        record = self.path("record")
        programs = [
            shell(f"echo third >>{record}", name="third", after=["second"]),
            shell(f"sleep 0.2; echo first >>{record}", name="first", ready="ended"),
            shell(f"echo second >>{record}", name="second", after="first", ready="ended"),
        ]
        self.run_file(programs)
        with open(record) as file:
            self.assertEqual(file.read().split(), ["first", "second", "third"])

    def test_ready_node_and_endpoint(self):
        programs = [
            shell(f'sleep 100 | "{HOLDER}" 1 4 exchange 1', name="node", background="true",
                  ready="endpoint 1:4:1"),
            shell(f'sleep 100 | "{HOLDER}" 1 5', name="other", background="true", ready="node 1:5"),
            shell(f"'{MEDLEY}' ps run --json", name="looks", after=["node", "other"]),
        ]
        output, _ = self.run_file(programs)
        seen = "".join(line[8:] for line in output.splitlines() if line.startswith("[looks] "))
        nodes = {node["node"] for node in json.loads(seen)["systems"][0]["nodes"]}
        self.assertEqual(nodes, {4, 5})

    def test_expected_is_not_ready(self):
        """An endpoint that the file itself says is to come."""
        programs = [
            shell(f'sleep 100 | sh -c \'sleep 0.3; exec "{HOLDER}" 1 4 exchange 1\'', name="node",
                  background="true", ready="endpoint 1:4:1"),
            shell(f"'{MEDLEY}' ps run --json", name="looks", after="node"),
        ]
        before = "endpoints:\n  - port: 1\n    node: 4\n    domain: 1\n"
        path = self.file(programs, before)
        output, _ = self.run_medley("run", "--file", path)
        seen = "".join(line[8:] for line in output.splitlines() if line.startswith("[looks] "))
        (end,) = [e for e in json.loads(seen)["systems"][0]["endpoints"] if
                  e["endpoint"]["port"] == 1]
        self.assertEqual(end["state"], "free")

    def test_silent_one_is_ready_as_soon_as_it_is_started(self):
        programs = [
            dict(command=["sleep", 100], name="silent", background="true"),
            shell("echo came", name="next", after="silent"),
        ]
        self.assertEqual(self.run_file(programs)[0], "[next] came\n")

    def test_spread_over_programs(self):
        own = sorted(os.sched_getaffinity(0))
        script = "grep Cpus_allowed_list /proc/self/status"
        output, _ = self.run_file([shell(script, name=n) for n in ("a", "b", "c")], "--spread")
        for index, name in enumerate("abc"):
            self.assertRegex(output, rf"\[{name}\] Cpus_allowed_list:\s+{own[index % len(own)]}\n")

    def test_background_ends_with_the_others(self):
        programs = [
            shell("sleep 100", name="server", background="true"),
            shell("sleep 0.1", name="client"),
        ]
        self.assertEqual(self.run_file(programs)[1], "")

    def test_started_again(self):
        record = self.path("record")
        script = f"echo $MEDLEY_RUN_RESTARTS >>{record}; [ $MEDLEY_RUN_RESTARTS = 2 ] || kill -9 $$"
        _, errors = self.run_file([shell(script, name="falls", restart="on-failure")])
        with open(record) as file:
            self.assertEqual(file.read().split(), ["0", "1", "2"])
        self.assertEqual(errors.count("was killed by signal 9 (Killed); it is started again"), 2)

    def test_started_again_so_often(self):
        programs = [shell("exit 5", name="fails", restart="on-failure", restarts=2)]
        report = self.report(programs, status=5)
        lives = report["processes"][0]["lives"]
        self.assertEqual([life["exit_status"] for life in lives], [5, 5, 5])
        self.assertFalse(report["processes"][0]["good"])

    def test_on_death(self):
        for script, lives, status in (("kill -9 $$", 3, 137), ("exit 4", 1, 4)):
            program = shell(script, name="dies", restart="on-death", restarts=2)
            report = self.report([program], status=status)
            self.assertEqual(len(report["processes"][0]["lives"]), lives)

    def test_dead_node_is_taken_back(self):
        """Who is started again registers under the same number at once."""
        script = f'[ $MEDLEY_RUN_RESTARTS = 0 ] || exec "{HOLDER}" 1 4 </dev/null; ' \
                 f'sleep 100 | "{HOLDER}" 1 4 | {{ read line; echo $line; kill -9 0; }}'
        output, _ = self.run_file([shell(script, name="node", restart="on-failure")])
        self.assertEqual(output.count("[node] ready"), 2)

    def test_time_limit(self):
        programs = [{"command": ["sleep", "100"], "time-limit": "0.2 s"}]
        _, errors = self.run_file(programs, status=124)
        self.assertIn("took longer than its time limit, 0.2 s", errors)

    def test_keep_going(self):
        programs = [
            shell("exit 9", name="fails", ready="ended"),
            shell("echo lives", name="lives"),
            shell("echo never", name="never", after="fails"),
        ]
        output, errors = self.run_file(programs, "--keep-going", status=9)
        self.assertEqual(output, "[lives] lives\n")
        self.assertIn("never never starts: fails has ended, and was not ready", errors)

    def test_surroundings(self):
        programs = [shell("pwd; echo $A $B; nproc", name="one", folder="/usr", processors=[0],
                          environment={"A": "1 2", "B": "three"})]
        output, _ = self.run_file(programs)
        self.assertEqual(output, "[one] /usr\n[one] 1 2 three\n[one] 1\n")

    def test_report(self):
        report = self.report([shell("echo out", name="one"), dict(command=["true"], count=2)])
        self.assertEqual((report["system"], report["exit_status"]), ("run", 0))
        self.assertEqual([(p["program"], p["index"], p["good"]) for p in report["processes"]],
                         [("one", 0, True), ("true", 0, True), ("true", 1, True)])
        life = report["processes"][0]["lives"][0]
        self.assertEqual((life["exit_status"], life["signal"]), (0, None))
        self.assertGreater(life["resident_bytes"], 0)

    def test_load_and_save_read_the_same_file(self):
        path = self.file([shell("true", name="one", environment={"A": 'quoted "#" text'})])
        load = subprocess.Popen([MEDLEY, "system", "load", path], stdout=subprocess.PIPE, text=True,
                                env=self.environment)
        self.addCleanup(load.kill)
        self.assertIn("system 'run' is there", load.stdout.readline())
        _, errors = self.run_medley("run", "--file", path, status=1)
        self.assertIn("'run'", errors)
        load.terminate()
        load.wait()
        load.stdout.close()

    def test_wrong_files(self):
        wrong = {
            "programs: []\n": "5: value behind a section",
            "programs:\n  {}\n": "6: want a list here",
            "programs:\n  - name: a\n": "6: 'command' is missing",
            "programs:\n  - command: ''\n": "want a program and its arguments",
            "programs:\n  - {command: a, name: a b}\n": "name 'a b': want up to 31 letters",
            "programs:\n  - {command: a, after: b}\n": "after 'b': there is no program",
            "programs:\n  - {command: a, after: a}\n": "come after each other",
            "programs:\n  - command: a\n  - command: /b/a.sh\n": "7: a second program 'a'",
            "programs:\n  - {command: a, ready: soon}\n": "ready 'soon': want started, ended",
            "programs:\n  - {command: a, ready: node 1}\n": "ready 'node 1': want started, ended",
            "programs:\n  - {command: a, restart: maybe}\n": "restart 'maybe': want never, on-death",
            "programs:\n  - {command: a, time-limit: 5}\n": "time-limit '5': want a time",
            "programs:\n  - {command: a, processors: [x]}\n": "processors: want numbers",
            "programs:\n  - {command: a, processors: [0, 1000]}\n": "6: processors: there is no processor 1000",
            "programs:\n  - {command: a, count: 0}\n": "count '0': want a number from 1",
            "programs:\n  - {command: a, environment: [A]}\n": "environment: want names and values",
            "programs:\n  - {command: a, colour: red}\n": "key 'colour': want name, command",
            "programs:\n  - {command: a, background: true}\n": "all are in the background",
            "programs:\n  - {command: ['', a]}\n": "want a program and its arguments",
            "programs:\n  - 'open\n": "unexpected end of stream",
            "programmes:\n  - command: a\n": "unknown key 'programmes'",
            "": "there are no programs in it",
        }
        for text, message in wrong.items():
            with self.subTest(text=text):
                path = self.path("system.yaml", SYSTEM + text)
                _, errors = self.run_medley("run", "--file", path, status=1)
                self.assertIn(message, errors)
        _, errors = self.run_medley("run", "--file", self.path("nosuch"), status=1)
        self.assertIn("there is no such file", errors)


class Ends(RunTest):
    def started(self, *words):
        """A run of one that tells its number, and then waits."""
        run = self.begin(*words, "--plain", "sh", "-c", "echo $$; exec sleep 100")
        return run, int(run.stdout.readline())

    def test_signals_end_all(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            run, process = self.started()
            run.send_signal(number)
            status, _, _ = self.end(run)
            self.assertEqual(status, 128 + number)
            self.assertFalse(is_there(process))

    def test_who_does_not_hear_is_killed_by_a_second(self):
        script = "trap 'echo heard' TERM; echo $$; while :; do sleep 0.1; done"
        run = self.begin("--plain", "sh", "-c", script)
        process = int(run.stdout.readline())
        run.terminate()
        self.assertEqual(run.stdout.readline(), "heard\n")
        self.assertTrue(is_there(process))
        run.terminate()
        self.assertEqual(self.end(run)[0], 128 + signal.SIGTERM)
        self.assertFalse(is_there(process))

    def test_who_does_not_hear_is_killed_in_the_end(self):
        run = self.begin("--plain", "sh", "-c", "trap '' TERM; echo $$; while :; do sleep 1; done")
        process = int(run.stdout.readline())
        run.terminate()
        self.assertEqual(self.end(run)[0], 128 + signal.SIGTERM)
        self.assertFalse(is_there(process))

    def test_passed_on(self):
        script = "trap 'echo heard; exit 0' USR1; echo begun; while :; do sleep 0.1; done"
        run = self.begin("--plain", "sh", "-c", script)
        self.assertEqual(run.stdout.readline(), "begun\n")
        run.send_signal(signal.SIGUSR1)
        self.assertEqual(self.end(run)[:2], (0, "heard\n"))

    def test_stopped_and_continued(self):
        run, process = self.started()
        run.send_signal(signal.SIGTSTP)
        wait_until(lambda: state_of(run.pid) == "T" and state_of(process) == "T")
        run.send_signal(signal.SIGCONT)
        wait_until(lambda: state_of(run.pid) != "T" and state_of(process) != "T")
        run.terminate()
        self.assertEqual(self.end(run)[0], 128 + signal.SIGTERM)

    def test_leftovers(self):
        """Of its group, and one that has left it for a session of its own."""
        script = "sleep 100 & echo $!; setsid sleep 100 & echo $!; exit 0"
        run = self.begin("--plain", "sh", "-c", script)
        status, output, _ = self.end(run)
        processes = list(map(int, output.split()))
        self.assertEqual((status, len(processes)), (0, 2))
        self.assertEqual([p for p in processes if is_there(p)], [])

    def test_many_signals(self):
        """Whenever one comes, all is put away, and the exit status is the first one's. The pauses
        between them differ, so that they meet different steps of the end."""
        for i in range(8):
            script = "setsid sleep 50 & echo begun; sleep 50"
            run = self.begin("-n", "4", "--plain", "sh", "-c", script)
            self.assertEqual([run.stdout.readline() for _ in range(4)], ["begun\n"] * 4)
            while run.poll() is None:
                run.send_signal(signal.SIGINT)
                time.sleep(0.0003 * i)
            self.assertEqual(self.end(run)[0], 128 + signal.SIGINT)
            self.nothing_is_left()

    def test_who_has_left_his_group(self):
        script = "import os, time; os.setpgid(0, os.getpgid(os.getppid())); print(os.getpid(), flush=True); time.sleep(50)"
        run = self.begin("--plain", sys.executable, "-c", script)
        process = int(run.stdout.readline())
        run.terminate()
        self.assertEqual(self.end(run)[0], 128 + signal.SIGTERM)
        self.assertFalse(is_there(process))

    def test_ignored_when_it_started(self):
        for ignored in (signal.SIGHUP, signal.SIGINT):
            run = subprocess.Popen(
                [MEDLEY, "run", "--plain", "sh", "-c", "echo begun; sleep 0.5"],
                stdout=subprocess.PIPE, text=True, env=self.environment,
                preexec_fn=lambda: signal.signal(ignored, signal.SIG_IGN),
            )
            run.stdout.readline()
            run.send_signal(ignored)
            self.assertEqual(run.wait(timeout=60), 0)
            run.stdout.close()

    def test_ends_of_processes_are_ignored_by_who_starts_it(self):
        run = subprocess.run([MEDLEY, "run", "true"], timeout=60, env=self.environment,
                             preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(run.returncode, 0)

    def test_children_it_had_before_are_not_its(self):
        script = f'sleep 50 >/dev/null & echo $!; exec "{MEDLEY}" run true'
        result = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, text=True, timeout=60,
                                env=self.environment)
        process = int(result.stdout)
        self.assertTrue(is_there(process))
        os.kill(process, signal.SIGKILL)

    def test_hears_signals_while_nobody_takes_its_output(self):
        """It is full: no more comes to it."""
        run = self.begin("yes")
        seen = [-1, 0]
        while seen[-1] != seen[-2] or not seen[-1]:
            time.sleep(0.05)
            seen.append(unread(run.stdout))
        run.terminate()
        self.assertEqual(run.wait(timeout=60), 128 + signal.SIGTERM)

    def test_more_processes_than_descriptors(self):
        output, _ = self.run_medley("run", "-n", "300", "sh", "-c", "echo $(ulimit -n)",
                                    within=("sh", "-c", 'ulimit -Sn 200; exec "$@"', "sh"))
        self.assertEqual(output.count("] 200\n"), 300)

    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([MEDLEY, "run", "echo", "hi"], stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=60, env=self.environment)
        self.assertEqual(result.returncode, 128 + signal.SIGPIPE)
        self.assertIn("cannot be written: No space left on device", result.stderr)

    def test_killed_itself(self):
        run, process = self.started()
        run.kill()
        _, _, errors = self.end(run)  # the end of its errors is that of who removes its system
        self.assertRegex(errors, r"^medley run: was killed; its system 'run-\d+' is removed\n$")
        wait_until(lambda: not is_there(process))
        self.nothing_is_left()

    def test_killed_while_another_is_in_its_system(self):
        run, process = self.started("--name", "common")
        other = Holder(self, 1, 3, system="common")
        run.kill()
        self.assertIn("system 'common' is left: ", self.end(run)[2])
        self.assertFalse(is_there(process))
        other.end()
        self.nothing_is_left()

    def test_killed_command_leaves_no_process(self):
        """Nor what its programs have forked, now or before they were started again."""
        script = "sleep 100 & echo $!; [ $MEDLEY_RUN_RESTARTS = 1 ] || kill -9 $$; sleep 100"
        path = self.file([shell(script, name="forks", restart="on-death", output="plain")])
        run = self.begin("--file", path)
        processes = [int(run.stdout.readline()) for _ in range(2)]
        os.kill(run.pid, signal.SIGKILL)
        self.end(run)
        wait_until(lambda: not any(map(is_there, processes)))
        self.nothing_is_left()

    def test_names_in_shared_memory_of_llvms_openmp(self):
        """Which a process takes away at its end, and who is killed does not."""
        name = f"/dev/shm/__KMP_REGISTERED_LIB_$$_{os.getuid()}"
        script = f"touch {name}; ls {name}; "
        dies = shell(script + "kill -9 $$", name="dies", output="plain")
        orphan = shell(f"(exec sh -c '{script}sleep 100') & sleep 0.3", name="leaves", output="plain")
        output = self.run_file([dies], status=128 + signal.SIGKILL)[0] + self.run_file([orphan])[0]
        path = self.file([shell(script + "sleep 100", name="stays", output="plain")])
        run = self.begin("--file", path)
        output += run.stdout.readline()
        run.kill()
        self.end(run)
        left = output.split()
        self.assertEqual(len(set(left)), 3, output)
        self.assertEqual([path for path in left if os.path.exists(path)], [])

    def test_guard_is_killed(self):
        run, process = self.started()
        with open(f"/proc/{run.pid}/task/{run.pid}/children") as file:
            (guard,) = [int(child) for child in file.read().split() if int(child) != process]
        os.kill(guard, signal.SIGKILL)
        run.terminate()
        self.assertEqual(self.end(run)[0], 128 + signal.SIGTERM)

    def test_kills_at_any_time(self):
        """Of the run or of one of its programs, at 40 different times: nothing lives, nothing is
        left."""
        programs = [
            dict(command=[HOLDER, 1, 3, "create", 1, "lock", 1], name="holds", background="true"),
            shell(f'(sleep 0.1) | exec "{HOLDER}" 1 4', name="node", restart="on-failure"),
        ]
        path = self.file(programs)
        for i in range(40):
            run = self.begin("--file", path)
            time.sleep(i * 0.004)
            children = f"/proc/{run.pid}/task/{run.pid}/children"
            with open(children) as file:
                below = [process for process in map(int, file.read().split()) if leads_a_group(process)]
            victim = run.pid if i % 2 or not below else below[i // 2 % len(below)]
            with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(victim, signal.SIGKILL)
            self.end(run)
            wait_until(lambda: not any(map(is_there, below)))
            self.nothing_is_left()


class Launched(RunTest):
    def test_joins_the_job(self):
        launchers = (
            dict(PMIX_RANK="3", PMIX_NAMESPACE="prterun-host-17@1"),
            dict(SLURM_PROCID="3", SLURM_JOB_ID="17", SLURM_STEP_ID="2"),
            dict(PMI_RANK="3", PMI_FD="5"),
        )
        for variables in launchers:
            output, _ = self.run_medley("run", "sh", "-c", "echo $MEDLEY_SYSTEM $MEDLEY_RUN_INDEX",
                                        **variables)
            system, index = output.split()
            self.assertRegex(system, r"^job-[\w.-]+$")
            self.assertEqual(index, "3")
        _, errors = self.run_medley("run", "--file", "x", status=2, **launchers[0])
        self.assertIn("mpirun starts the programs here", errors)

    def test_batch_script_is_no_step(self):
        output, _ = self.run_medley("run", "echo", "here", SLURM_PROCID="0", SLURM_JOB_ID="17")
        self.assertEqual(output, "[echo] here\n")


if __name__ == "__main__":
    unittest.main()
