# SPDX-License-Identifier: MIT
"""Drives the scenarios of fidelity.py over a link on the machine or in the guest where it runs, as root:
`links.py netem|weir SCENARIOS`, a JSON array; WEIR names the tool. Prints {name: result} as JSON.

The path of netem has two ends and a bridge between them with netem on its two ports, so that neither end notices what
is dropped, as on a real path. The ends' devices have TSO off, so netem sees segments; weir's link sees the same.

The standard library only: a guest needs seconds to load more.
"""
import ctypes
import fcntl
import json
import os
import random
import shlex
import socket
import struct
import subprocess
import sys
import tempfile

WEIR = os.environ["WEIR"]
FAR = "198.18.0.2"
DATAGRAMS = ["/usr/bin/python3", os.path.join(os.path.dirname(os.path.abspath(__file__)), "datagrams.py")]
SIOCETHTOOL, ETHTOOL_STSO = 0x8946, 0x1F
# The lab's stock limits (src/lab/bed.c)
STOCK = ["net.ipv4.tcp_rmem=4096 131072 6291456", "net.ipv4.tcp_wmem=4096 16384 4194304",
         "net.ipv4.tcp_no_metrics_save=1"]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def of_weir_run(result):
    """What is used of weir run's JSON."""
    return {"throughput_bps": result["throughput_bps"], "rtt_ms": result["path"]["rtt_min_us"] / 1000,
            "rtt_loaded_ms": result["path"]["rtt_loaded_us"] / 1000,
            "streams_mbps": [stream["throughput_bps"] / 1e6 for stream in result["streams"]]}


def traffic_of(scenario):
    """near's command, and a function of its JSON."""
    if scenario["datagrams"]:
        return [*DATAGRAMS, "near", FAR, *scenario["datagrams"].split()], dict
    return [WEIR, "run", FAR, "-C", "cubic", "-q", "--json", *scenario["tcp"].split()], of_weir_run


def over_weir(scenario):
    near, result_of = traffic_of(scenario)
    far = shlex.join([*DATAGRAMS, "far"] if scenario["datagrams"] else [WEIR, "serve", "-q"])
    with tempfile.TemporaryDirectory() as folder:
        stats = os.path.join(folder, "stats")
        seed = str(random.getrandbits(32)) # another each time, as netem's
        result = result_of(json.loads(run(WEIR, "lab", *scenario["lab"].split(), "--offload", "off", "--seed", seed,
                                          "--stats-json", stats, "--far-cmd", f"exec {far}", "--", *near)))
        with open(stats, encoding="utf-8") as source:
            found = json.load(source)
    return {**result, "seed": seed, "late": found["near"]["late"] or found["far"]["late"]}


def no_tso(device):
    value = ctypes.create_string_buffer(struct.pack("II", ETHTOOL_STSO, 0))
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCETHTOOL, struct.pack("16sP", device.encode(), ctypes.addressof(value)))


def build_path():
    run("sysctl", "-qw", "net.core.rmem_max=4194304") # of the guest; its 208K would cut what a scenario asks for
    run("ip", "netns", "add", "middle")
    run("ip", "-n", "middle", "link", "add", "bridge", "type", "bridge")
    run("ip", "-n", "middle", "link", "set", "bridge", "up")
    for i, end in enumerate(("near", "far"), 1):
        run("ip", "link", "add", end, "type", "veth", "peer", "name", f"to-{end}", "netns", "middle")
        run("ip", "-n", "middle", "link", "set", f"to-{end}", "master", "bridge", "up")
        no_tso(end)
        run("ip", "netns", "add", end)
        run("ip", "link", "set", end, "netns", end)
        run("ip", "-n", end, "address", "add", f"198.18.0.{i}/24", "dev", end)
        run("ip", "-n", end, "link", "set", end, "up")
        run("ip", "netns", "exec", end, "sysctl", "-qw", *STOCK)


def over_netem(scenario):
    near, result_of = traffic_of(scenario)
    far = [*DATAGRAMS, "far"] if scenario["datagrams"] else [WEIR, "serve"]
    ports = {"to-far": scenario["near"], "to-near": scenario["far"]} # what near sends leaves by the port to far
    for port, netem in ports.items():
        limit = [] if "limit" in netem else ["limit", "100000"]
        run("tc", "-n", "middle", "qdisc", "replace", "dev", port, "root", "netem", *netem.split(), *limit)
    with subprocess.Popen(["ip", "netns", "exec", "far", *far], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as server:
        try:
            while scenario["tcp"] and b"listening" not in (line := server.stdout.readline()):
                if not line:
                    raise RuntimeError("weir serve ended")
            result = result_of(json.loads(run("ip", "netns", "exec", "near", *near)))
        finally:
            server.terminate()
    for port in ports:
        run("tc", "-n", "middle", "qdisc", "delete", "dev", port, "root")
    return result


def main(link, scenarios):
    if link == "netem":
        build_path()
    once = {"netem": over_netem, "weir": over_weir}[link]
    print(json.dumps({scenario["name"]: once(scenario) for scenario in json.loads(scenarios)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
