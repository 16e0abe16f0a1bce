#!/usr/bin/env python3
"""Runs the fuzz targets in turns of short libFuzzer runs, until the time is used up.

Each turn of a target starts from the kept corpus and from the inputs that earlier runs have found
(.build/fuzz/corpus). The script writes the input of each finding to .build/fuzz/findings/TARGET,
and prints the command that reproduces the finding. It adds the CPU time and the number of
executions of each run to the totals in .build/fuzz/totals.json.

Exit codes: 0 nothing found, 1 findings, 2 the fuzzer does not work.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "Fuzz" / "Corpus"
FINDINGS_KEPT = ROOT / "Fuzz" / "Findings"
# Targets with additional seeds in another directory of the project.
INTERFACES = ROOT / "Sources" / "TaskSchedulerWire" / "Interfaces"
SEEDS = {"interface": INTERFACES}
WORK = ROOT / ".build" / "fuzz"

# The length of one run of libFuzzer. TOMLKit leaks the parsed documents, so no process may run for
# long.
TURN_SECONDS = 60
# The time after which an input is a finding. The daemon serves all clients in one thread, so a slow
# input delays them all.
INPUT_SECONDS = 10
# The script stops running a target that has this number of findings.
FINDINGS_MAX = 5
# The limits of the canary's run: a number of inputs rather than a time, so that a busy machine
# tests the same inputs. With most seeds, 100,000 inputs are enough to find the canary.
CANARY_LIMITS = ["-seed=1", "-runs=2000000"]

KEPT_WORDS = ROOT / "Fuzz" / "Dictionaries"
# The dictionary that the script writes from the interfaces at each start.
WIRE_WORDS = WORK / "wire.dict"
DICTIONARIES = {
    **dict.fromkeys(["json", "server", "client", "parameters", "sway"], WIRE_WORDS),
    **dict.fromkeys(["settings", "manifest"], KEPT_WORDS / "toml.dict"),
    "interface": KEPT_WORDS / "interface.dict",
    "scenario": KEPT_WORDS / "scenario.dict",
    "spans": KEPT_WORDS / "spans.dict",
    "png": KEPT_WORDS / "png.dict",
    "gpsd": KEPT_WORDS / "gpsd.dict",
    "gpx": KEPT_WORDS / "gpx.dict",
}

# Targets whose library leaks. The leak sanitizer checks all other targets.
LEAKING = {"settings", "manifest"}


@dataclasses.dataclass
class Turn:
    """The result of one run of libFuzzer."""

    target: str
    # CPU time: on a busy machine, the elapsed time says nothing about the work done.
    seconds: float
    executions: int = 0
    coverage: int = 0
    findings: list[pathlib.Path] = dataclasses.field(default_factory=list)
    said: str = ""


def names(program: pathlib.Path) -> list[str]:
    """Returns the names of the targets, which the program lists."""
    done = subprocess.run(
        [program, "-runs=0"], env=environment("?"), capture_output=True, text=True, check=False)
    found = re.search(r"one of ([a-z, -]+)", done.stdout)
    if not found:
        print(f"{program} names no targets:\n{done.stdout}{done.stderr}")
        sys.exit(2)
    return found[1].split(", ")


def environment(target: str) -> dict[str, str]:
    """Returns the environment for the program and its sanitizers."""
    leaks = 0 if target in LEAKING else 1
    return os.environ | {
        "FUZZ_TARGET": target,
        # Disables Swift's own crash report, which never returns if the sanitizer reports the crash,
        # too.
        "SWIFT_BACKTRACE": "enable=no",
        "ASAN_OPTIONS": f"detect_leaks={leaks}:{os.environ.get('ASAN_OPTIONS', '')}",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def write_wire_words() -> None:
    """Writes the dictionary of messages: wire.dict and every name that an interface declares."""
    words = set()
    for path in INTERFACES.glob("*.varlink"):
        text = re.sub(r"#.*", "", path.read_text())
        interface = re.search(r"interface (\S+)", text)[1]
        words |= {f"{interface}.{name}" for name in re.findall(r"(?:method|error) (\w+)", text)}
        words |= set(re.findall(r"\b[a-z]\w*", text.partition(interface)[2]))
    quoted = [f'"\\"{word}\\""\n' for word in sorted(words)]
    WIRE_WORDS.parent.mkdir(parents=True, exist_ok=True)
    WIRE_WORDS.write_text((KEPT_WORDS / "wire.dict").read_text() + "".join(quoted))


def command(
    program: pathlib.Path, target: str, limits: list[str], grown: pathlib.Path,
    found: pathlib.Path
) -> list[str]:
    """Returns the command line of libFuzzer, which saves new inputs in `grown`."""
    for directory in (grown, found):
        directory.mkdir(parents=True, exist_ok=True)
    directories = [KEPT / target, FINDINGS_KEPT / target, SEEDS.get(target)]
    kept = [directory for directory in directories if directory and directory.is_dir()]
    options = [
        *limits, f"-timeout={INPUT_SECONDS}", "-rss_limit_mb=4096",
        f"-artifact_prefix={found}/", "-print_final_stats=1", "-reload=0",
    ]
    if target in DICTIONARIES:
        options.append(f"-dict={DICTIONARIES[target]}")
    return [str(part) for part in (program, *options, grown, *kept)]


def run(program: pathlib.Path, target: str, limits: list[str], grown: pathlib.Path) -> Turn:
    """Runs one turn of a target. `limits` are the options of libFuzzer that end the turn."""
    found = WORK / "findings" / target
    before = set(found.glob("*")) if found.is_dir() else set()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command(program, target, limits, grown / target, found), env=environment(target),
            stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        # wait4 reports the used CPU time, unlike process.wait().
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read().decode(errors="replace")
    turn = Turn(target, used.ru_utime + used.ru_stime, said=said)
    executions = re.search(r"stat::number_of_executed_units: (\d+)", said)
    turn.executions = int(executions[1]) if executions else 0
    coverage = re.findall(r" cov: (\d+)", said)
    turn.coverage = int(coverage[-1]) if coverage else 0
    turn.findings = sorted(set(found.glob("*")) - before)
    if process.returncode != 0 and not turn.findings:
        # libFuzzer failed without saving an input: several inputs together leaked, or it did not
        # start.
        turn.findings = [found / "no-input"]
        turn.findings[0].write_text(said)
    return turn


def reason(said: str) -> str:
    """Returns the line of the output that gives the reason of a finding."""
    for pattern in (r"Fatal error: .*", r"runtime error: .*", r"ERROR: \w+Sanitizer: .*",
                    r"ERROR: libFuzzer: .*"):
        found = re.search(pattern, said)
        if found:
            return found[0]
    return said.strip().splitlines()[-1] if said.strip() else "the fuzzer printed no output"


class Totals:
    """The CPU time and the number of executions of each target in all runs so far."""

    path = WORK / "totals.json"

    def __init__(self) -> None:
        self.by_target = json.loads(self.path.read_text()) if self.path.is_file() else {}

    def add(self, turn: Turn) -> None:
        sums = self.by_target.setdefault(turn.target, {})
        sums["seconds"] = round(sums.get("seconds", 0) + turn.seconds, 1)
        sums["executions"] = sums.get("executions", 0) + turn.executions
        sums["coverage"] = max(sums.get("coverage", 0), turn.coverage)
        sums["findings"] = sums.get("findings", 0) + len(turn.findings)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(self.by_target, indent=1) + "\n")
        fresh.replace(self.path)

    def print(self) -> None:
        print(f"{'target':<14}{'time':>10}{'executions':>14}{'coverage':>10}{'findings':>10}")
        for name, sums in sorted(self.by_target.items()):
            minutes, seconds = divmod(int(sums["seconds"]), 60)
            print(f"{name:<14}{minutes:>6}m{seconds:02}s{sums['executions']:>14,}"
                  f"{sums['coverage']:>10,}{sums['findings']:>10}")
        total = sum(sums["seconds"] for sums in self.by_target.values())
        print(f"all runs so far: {total / 60:.0f} min")


def report(turn: Turn, program: pathlib.Path) -> None:
    print(f"{turn.target}: {turn.seconds:.0f} s, {turn.executions:,} inputs, "
          f"coverage {turn.coverage:,}", flush=True)
    for finding in turn.findings:
        show = f"FUZZ_TARGET={turn.target} SWIFT_BACKTRACE=enable=no {program} {finding}"
        print(f"  FOUND in {turn.target}: {reason(turn.said)}\n    reproduce with: {show}",
              flush=True)


def canary(program: pathlib.Path) -> None:
    """Checks that the fuzzer finds the canary's planted defect. Otherwise exits with code 2."""
    with tempfile.TemporaryDirectory() as directory:
        turn = run(program, "canary", CANARY_LIMITS, pathlib.Path(directory))
    if "the canary was found" not in turn.said:
        print(turn.said)
        print("the canary was not found, so this fuzzer cannot find defects")
        sys.exit(2)
    for finding in turn.findings:
        finding.unlink(missing_ok=True)
    print(f"the canary was found in {turn.seconds:.1f} s", flush=True)


def fuzz(
    program: pathlib.Path, targets: list[str], grown: pathlib.Path, options: argparse.Namespace
) -> int:
    """Runs the targets in turns until the time is used up. Returns the number of findings."""
    totals = Totals()
    left = options.seconds * len(targets) if options.seconds else options.minutes * 60
    turn_seconds = max(1, min(TURN_SECONDS, int(left / len(targets))))
    # True marks the first turn of a target, which runs even if the time is used up.
    queue = [(target, True) for target in targets]
    found = collections.Counter()
    lock = threading.Lock()

    def work() -> None:
        nonlocal left
        while True:
            with lock:
                if not queue or (left <= 0 and not queue[0][1]):
                    return
                target, _ = queue.pop(0)
            turn = run(program, target, [f"-max_total_time={turn_seconds}"], grown)
            with lock:
                left -= turn.seconds
                totals.add(turn)
                report(turn, program)
                found[target] += len(turn.findings)
                if options.seconds:
                    continue
                if found[target] < FINDINGS_MAX:
                    queue.append((target, False))
                else:
                    print(f"{target} is not run again, because it has {found[target]} findings")

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for worker in [pool.submit(work) for _ in range(options.jobs)]:
            worker.result()
    if not options.seconds:
        totals.print()
    return found.total()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path, help="the fuzzer that make built")
    parser.add_argument(
        "--minutes", type=float, default=60, help="CPU time over all targets (60)")
    parser.add_argument("--seconds", type=int, help="seconds for each target: a smoke test")
    parser.add_argument("--target", action="append", help="fuzz only this target; may be repeated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="parallel runs (all CPUs)")
    options = parser.parse_args()
    options.jobs = max(1, min(options.jobs, os.cpu_count() or 1))
    known = names(options.program)
    targets = options.target or known
    for target in targets:
        if target not in known:
            parser.error(f"there is no target '{target}'; the targets are {', '.join(known)}")
    write_wire_words()
    canary(options.program)
    with tempfile.TemporaryDirectory() as directory:
        # A smoke test starts from the kept corpus only, so that its result is the same on each
        # machine.
        grown = pathlib.Path(directory) if options.seconds else WORK / "corpus"
        findings = fuzz(options.program, targets, grown, options)
    if findings:
        print(f"{findings} findings in {shlex.quote(str(WORK / 'findings'))}; see Fuzz/README.md")
        sys.exit(1)
    print(f"no findings in {len(targets)} targets")


if __name__ == "__main__":
    main()
