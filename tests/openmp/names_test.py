# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every name, with its version, that programs may look for in the libraries of gcc and of LLVM is in ours;
what is not stands here, with why. names_later.txt has those of later versions than are installed."""

import os
import re
import subprocess
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.environ["LIBRARY"]
STUB = os.environ["STUB"]

# What we lack. Each row must still be one that somebody else has.
LACKS = {
    r"(acc|GOACC)_\w+@(OACC|GOACC)_\S+": "OpenACC",
    r"GOMP_PLUGIN_\w+@\S+": "what gcc's library offers to those for its devices",
    r"___?kmp_\w+(@VERSION)?": "inner functions and variables of LLVM's, there for debuggers and its tests",
    r"kmp_([a-f]_debug|diag|mutex_impl_info)@VERSION": "the same",
    r"_You_must_link_with_\w+@VERSION": "variables by which Microsoft's linker finds two runtimes",
    r"(omp|kmp)_\w+_(alloc|allocator|mem_space)@VERSION": "variables that omp.h has as constants, but for Windows",
    r"ompt_(start_tool|libomp_connect)@VERSION": "a tool's own; its library for devices asks nothing without one",
    r"kmp_threadprivate_insert\w*@VERSION": "Intel's C, before there was threadprivate",
    r"__kmpc_threadprivate_register_vec@VERSION": "arrays of objects, as Intel's compiler has them",
    r"kmp_set_thread_affinity_mask_initial@VERSION": "Intel's MPI",
    r"kmp_get_num_known_threads_?@VERSION|__kmpc_global_num_threads@VERSION": "how many threads it keeps",
    r"__kmpc_get(_parent)?_taskid@VERSION|__kmpc_invoke_task_func@VERSION": "asked by debuggers",
    r"__kmpc_(sections_init|next_section|end_sections)@VERSION": "no compiler calls them",
    r"__kmpc_(for_collapsed_init|(process_loop_nest|calc_original_ivs)_rectang)@VERSION": "no compiler calls them",
    r"__kmpc_push_num_threads_(list|strict|list_strict)@VERSION": "OpenMP 6.0",
    r"__kmpc_task_get_(depnode|successors)@VERSION": "asked by tools of LLVM's own",
}


def names(path):
    """Those defined in that library, as name@version."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", path], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in text.splitlines()]
    return {row[7].replace("@@", "@") for row in rows if len(row) == 8 and row[6].isdigit()}


def later():
    with open(os.path.join(HERE, "names_later.txt")) as file:
        return {line.strip() for line in file if not line.startswith("#")}


class Names(unittest.TestCase):
    ours = names(LIBRARY)

    def check(self, theirs):
        missing = {name for name in theirs - self.ours if not any(re.fullmatch(row, name) for row in LACKS)}
        self.assertEqual(missing, set())

    def theirs(self, which):
        path = os.environ[which]
        if not os.path.exists(path):
            reason = f"no {which} (scripts/setup.sh test installs it)"
            print("not possible here: " + reason, flush=True)
            self.skipTest(reason)
        return names(path)

    def test_of_gcc(self):
        theirs = self.theirs("LIBGOMP")
        self.assertGreater(len(theirs), 400)
        self.check(theirs)

    def test_of_llvm(self):
        theirs = self.theirs("LIBOMP")
        self.assertGreater(len(theirs), 1000)
        self.check(theirs)

    def test_of_later_ones(self):
        self.assertGreater(len(later()), 40)
        self.check(later())

    def test_what_we_lack_somebody_has(self):
        theirs = self.theirs("LIBGOMP") | self.theirs("LIBOMP") | later()
        for row in LACKS:
            with self.subTest(row=row):
                self.assertTrue(any(re.fullmatch(row, name) for name in theirs - self.ours))

    def test_a_program_can_be_linked_with_them(self):
        versioned = {name for name in self.ours if name.endswith("@VERSION")}
        self.assertIn("GOMP_parallel@VERSION", versioned)
        self.assertEqual(names(STUB) & versioned, versioned)


if __name__ == "__main__":
    unittest.main()
