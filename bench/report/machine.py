#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a run of the benchmarks ran on: processors, caches, memory, kernel, limits, peers' versions.

usage: bench/report/machine.py BUILD_DIR

Writes it as JSON. What the machine does not tell is null, and stands in the report as "unknown".
"""
import glob
import json
import os
import platform
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
CPU = "/sys/devices/system/cpu"

# What a peer is called in the report, and the package that its version is asked of; where there is
# none, the library that the build links or runs.
PACKAGES = {
    "ck_ring (Concurrency Kit)": "libck-dev",
    "Boost (lockfree, interprocess)": "libboost-dev",
    "DPDK rte_ring": "dpdk-dev",
    "nng": "libnng-dev",
    "ZeroMQ": "libzmq3-dev",
    "Open MPI": "libopenmpi-dev",
}
RUNTIMES = {"libgomp": "libgomp.so.1", "libomp": "libgomp.so.1"}


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def output_of(*command):
    """Its output, or None when it cannot be run or fails."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None


# ---- Processors ----------------------------------------------------------------------------------


def processor_model():
    told = text_of("/proc/cpuinfo") or ""
    match = re.search(r"^(?:model name|Model|cpu)\s*:\s*(.+)$", told, re.M)
    return match.group(1) if match else None


def is_virtual():
    return bool(re.search(r"^flags\s*:.*\bhypervisor\b", text_of("/proc/cpuinfo") or "", re.M))


def siblings():
    """Which processors the system calls halves of one core, each once: ["0-1", "2-3"]."""
    found = glob.glob(f"{CPU}/cpu[0-9]*/topology/thread_siblings_list")
    return sorted({text_of(path) for path in found} - {None})


def size_text(size):
    """"48K" in words."""
    kib = int(size.rstrip("K")) if re.fullmatch(r"\d+K", size) else 0
    return f"{kib // 1024} MiB" if kib and kib % 1024 == 0 else f"{kib} KiB" if kib else size


def caches():
    """Of the first processor: ["L1 data 48 KiB", ..., "L3 30 MiB, shared with 0-7"]."""
    told = []
    for index in sorted(glob.glob(f"{CPU}/cpu0/cache/index*")):
        level, kind, size, shared = (
            text_of(f"{index}/{name}") for name in ("level", "type", "size", "shared_cpu_list")
        )
        if level and size:
            kind = "" if kind == "Unified" else f" {(kind or '').lower()}"
            others = f", shared by {shared}" if shared and not shared.isdigit() else ""
            told.append(f"L{level}{kind} {size_text(size)}{others}")
    return told


# ---- Limits --------------------------------------------------------------------------------------


def quota():
    """How many processors' time this process may use by its control groups; None: no limit."""
    groups = text_of("/proc/self/cgroup") or ""
    least = None
    for line in groups.splitlines():
        number, controllers, path = line.split(":", 2)
        if number != "0" and "cpu" not in controllers.split(","):
            continue
        base = "/sys/fs/cgroup" if number == "0" else f"/sys/fs/cgroup/{controllers}"
        while True:
            share = quota_at(base + path.rstrip("/"))
            if share is not None:
                least = share if least is None else min(least, share)
            if path in ("/", ""):
                break
            path = os.path.dirname(path)
    return least


def quota_at(folder):
    both = text_of(f"{folder}/cpu.max")
    if both:
        most, period = both.split()
    else:
        most, period = text_of(f"{folder}/cpu.cfs_quota_us"), text_of(f"{folder}/cpu.cfs_period_us")
    if not most or not period or most in ("max", "-1"):
        return None
    return int(most) / int(period)


def memory_mib():
    match = re.search(r"^MemTotal:\s*(\d+) kB", text_of("/proc/meminfo") or "", re.M)
    return int(match.group(1)) // 1024 if match else None


def system_name():
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', text_of("/etc/os-release") or "", re.M)
    return match.group(1) if match else None


# ---- Peers ---------------------------------------------------------------------------------------


def package_version(package):
    return output_of("dpkg-query", "-W", "-f", "${Version}", package)


def library_version(path):
    """By the package that brought the file, else the name that it has behind all links."""
    real = os.path.realpath(path)
    # Debian 12 keeps some under /usr of which dpkg knows the name without it, and the other way.
    for name in (real, real[4:] if real.startswith("/usr/") else "/usr" + real):
        owner = output_of("dpkg-query", "-S", name)
        if owner:
            return package_version(owner.split(":")[0])
    return os.path.basename(real) if os.path.exists(real) else None


def peers(build):
    found = {name: package_version(package) for name, package in PACKAGES.items()}
    for name, library in RUNTIMES.items():
        found[name] = library_version(os.path.join(build, "bench/runtimes", name, library))
    found["glibc (pthread, POSIX, malloc)"] = (
        os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else None
    )
    found["Linux (futex, pipe, sockets, queues)"] = platform.release()
    return dict(sorted(found.items(), key=lambda peer: peer[0].lower()))


def revision():
    name = output_of("git", "rev-parse", "--short=10", "HEAD")
    changed = name and output_of("git", "status", "--porcelain", "--untracked-files=no")
    return name and name + (", changed since" if changed else "")


def machine(build):
    return {
        "model": processor_model(),
        "processors": os.cpu_count(),
        "allowed": sorted(os.sched_getaffinity(0)),
        "virtual": is_virtual(),
        "siblings": siblings(),
        "caches": caches(),
        "memory_mib": memory_mib(),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "system": system_name(),
        "quota": quota(),
        "governor": text_of(f"{CPU}/cpu0/cpufreq/scaling_governor"),
        "revision": revision(),
        "peers": peers(build),
    }


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        sys.exit(2)
    json.dump(machine(sys.argv[1]), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
