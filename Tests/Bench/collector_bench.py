#!/usr/bin/python3
"""Records a second, and processor time for each, of the three ways to write a collector, beside collectd's exec plugin.

collector_bench.py COLLECTORBENCH FIELDPROBE_COLLECTOR_HOST
"""
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
HEADER = HERE.parent.parent / "Sources/CCollectorABI/include"
COUNT = 100_000
TICKS = os.sysconf("SC_CLK_TCK")


def compile_counter(folder, name, *flags):
    output = folder / name
    subprocess.run(["cc", "-O2", *flags, "-I", HEADER, "-o", output, HERE / "counter.c"], check=True)
    return output


def ours(bench, *words):
    """The best of three: seconds, processor time here, processor time in the collector's process."""
    runs = []
    for _ in range(3):
        output = subprocess.run([bench, str(COUNT), *map(str, words)], check=True, stdout=subprocess.PIPE).stdout
        run = json.loads(output)
        runs.append((run["seconds"], run["own_cpu"], run["child_cpu"]))
    return min(runs)


def cpu(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def collectd(folder, program):
    """collectd reads the same number of values from a program of its exec plugin; nothing is written anywhere."""
    if not shutil.which("collectd") or not pathlib.Path("/usr/lib/collectd/exec.so").exists():
        return None
    folder.chmod(0o755)
    # The plugin refuses to run programs as root.
    user = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    spool = folder / "spool"
    spool.mkdir()
    spool.chmod(0o777)
    done = spool / "done"
    config = folder / "collectd.conf"
    config.write_text(
        f'BaseDir "{folder}"\nPIDFile "{folder}/pid"\nPluginDir "/usr/lib/collectd"\nTypesDB "/usr/share/collectd/types.db"\nInterval 10\n'
        f'LoadPlugin exec\n<Plugin exec>\nExec "{user}" "{program}" "{COUNT}" "{done}"\n</Plugin>\n')
    begin = time.monotonic()
    daemon = subprocess.Popen(["collectd", "-f", "-C", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not done.exists():
            if time.monotonic() - begin > 120:
                return None
            time.sleep(0.001)
        seconds = time.monotonic() - begin
        # What is still in the pipe is less than one in a hundred.
        return seconds, cpu(daemon.pid)
    finally:
        daemon.terminate()
        daemon.wait()


def main():
    bench, host = map(os.path.abspath, sys.argv[1:3])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fieldprobe-bench-"))
    try:
        program = compile_counter(folder, "counter", "-DPROGRAM")
        library = compile_counter(folder, "counter.so", "-shared", "-fPIC")
        peer = collectd(folder, compile_counter(folder, "exec", "-DCOLLECTD"))
        name = "collectd, exec plugin" if peer else "collectd is not installed"
        assert os.path.exists(host), host
        print("| collector, 100,000 records | records a second | ratio to " + name + " | CPU a record, fieldprobe | ratio | CPU a record, "
              "collector's process |")
        print("|---|---|---|---|---|---|")
        for title, words in (("Swift, linked", ["swift"]), ("C library", ["library", library]), ("C program", ["program", program])):
            seconds, own, child = ours(bench, *words)
            rate, own, child = COUNT / seconds, own / COUNT * 1e6, child / COUNT * 1e6
            ratios = f"{rate / (COUNT / peer[0]):.2f}", f"{own / (peer[1] / COUNT * 1e6):.2f}" if peer and peer[1] else "-"
            print(f"| {title} | {rate:,.0f} | {ratios[0] if peer else '-'} | {own:.2f} us | {ratios[1] if peer else '-'} | {child:.2f} us |")
        if peer:
            print(f"| {name} | {COUNT / peer[0]:,.0f} | 1 | {peer[1] / COUNT * 1e6:.2f} us | 1 | - |")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
