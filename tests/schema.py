# SPDX-License-Identifier: MIT
"""A small checker for the JSON that scripts rely on.

A shape is a type; a set of allowed values; [shape] for a list of any length; {"key": shape} for an object, where
"key?" may be absent and "*" stands for any other key (without it, other keys are wrong); or a function that says
whether a value is right. Unknown is absent, so null is always wrong.
"""
import datetime


def natural(value):
    """A count or size: a whole number, 0 or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def positive(value):
    return natural(value) and value > 0


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def ratio(value):
    return number(value) and 0 <= value <= 1


def load(value):
    """A share of one CPU, as the clock has it: a little more than 1 may come of rounding."""
    return number(value) and 0 <= value <= 1.1


def seconds(value):
    return number(value) and value >= 0


def rfc3339(value):
    return isinstance(value, str) and datetime.datetime.fromisoformat(value.replace("Z", "+00:00")).tzinfo is not None


def words(value):
    return isinstance(value, str) and value.strip() != "" and "\n" not in value


def check(value, shape, where="$"):
    """Raise an AssertionError that names the place when value is not of the shape."""
    assert value is not None, f"{where} is null; unknown must be absent"
    if isinstance(shape, dict):
        check_object(value, shape, where)
    elif isinstance(shape, list):
        assert isinstance(value, list), f"{where} is no list: {value!r}"
        for i, item in enumerate(value):
            check(item, shape[0], f"{where}[{i}]")
    elif isinstance(shape, (set, frozenset)):
        assert value in shape, f"{where} is {value!r}, none of {sorted(map(str, shape))}"
    elif isinstance(shape, type):
        assert type(value) is shape, f"{where} is {value!r}, no {shape.__name__}"
    elif callable(shape):
        assert shape(value), f"{where} is {value!r}, no {shape.__name__}"
    else:
        assert value == shape, f"{where} is {value!r}, not {shape!r}"


def check_object(value, shape, where):
    assert isinstance(value, dict), f"{where} is no object: {value!r}"
    known = {key.rstrip("?"): (inner, key.endswith("?")) for key, inner in shape.items() if key != "*"}
    for key, (inner, optional) in known.items():
        if key in value:
            check(value[key], inner, f"{where}.{key}")
        else:
            assert optional, f"{where}.{key} is missing"
    for key in value.keys() - known.keys():
        assert "*" in shape, f"{where}.{key} is not promised"
        check(value[key], shape["*"], f"{where}.{key}")


SIDE = {"near", "far", "path"}
# DESIGN: one file, one page each.
CAUSES = set("""sndbuf-limited rcvbuf-limited reader-limited writer-limited path-limited bufferbloat loss-limited
ramp-limited idle-restart ssthresh-cached window-scale-missing cpu-limited nagle-delack cork small-writes notsent-lowat
sysctl-capped memory-pressure rcv-collapse device-queue offload-loss policer deadlock protocol-window
udp-rcvbuf-overflow udp-slow-reader udp-unread udp-send-overflow udp-reassembly unix-queue netlink-overflow
vsock-credit none noisy unknown""".split())

EVIDENCE = {"metric": words, "value": number, "unit": {"bytes", "us", "ratio", "count", "bit/s", "shift", "segments"},
            "says": words}
CAUSE = {"cause": CAUSES, "side": SIDE, "share_ratio": ratio, "companion": bool, "confidence": {"high", "medium", "low"},
         "ceiling_bps?": positive, "evidence": [EVIDENCE]}
ADVICE = {"action": {"sysctl", "setsockopt", "option", "program", "path", "none"}, "side": SIDE, "proved": bool,
          "key?": words, "value?": words, "value_bytes?": positive, "current?": words, "why?": words, "apply?": words,
          "persist?": words, "undo?": words, "cost?": words, "alternative?": bool}
VERDICT = {"causes": [CAUSE], "phases": [{"from_s": seconds, "to_s": seconds, "cause": CAUSES, "side": SIDE}],
           "summary": str, "refused": [{"knob": words, "why": words}], "advice": [ADVICE]}
HEAD = {"version": words, "started": rfc3339, "duration_s": seconds, "complete": bool, "command": words, "target": words,
        "plan": {"reverse": bool, "parallel": positive, "interval_ns?": positive, "connect_timeout_ns": positive,
                 "nodelay": bool, "ipv4": bool, "ipv6": bool, "write_exact": bool, "force": bool, "forget": bool, "port?": positive,
                 "time_ns?": positive, "bytes?": positive, "length_bytes?": positive, "window_bytes?": natural,
                 "sndbuf_bytes?": natural, "rcvbuf_bytes?": natural, "far_sndbuf_bytes?": natural,
                 "far_rcvbuf_bytes?": natural, "congestion?": words, "bitrate_bps?": positive, "read_rate_bps?": positive,
                 "far_read_rate_bps?": positive, "bind?": words, "cpu?": words, "transport?": words, "workload?": words,
                 "cork": bool, "zerocopy": bool, "msg_zerocopy": bool, "notsent_lowat_bytes?": positive, "mss_bytes?": positive,
                 "far_length_bytes?": positive, "set?": words, "far_set?": words}}
HOST = {"kernel": words, "machine": words, "cpu_model?": words, "n_cpus": positive, "memory_bytes?": positive,
        "virtualisation?": words, "container?": words, "lab": bool, "tcp_rmem?": words, "tcp_wmem?": words,
        "rmem_max_bytes?": positive, "wmem_max_bytes?": positive, "congestion?": words, "nics_left_out?": positive,
        "nics": [{"name": words, "driver?": words, "mtu_bytes?": positive, "speed_bps?": positive}]}
KEPT = {"host": HOST, "archive?": {"id": positive, "path": words}}
END = {"host": words, "kernel": words, "sndbuf_req_bytes?": natural, "sndbuf_eff_bytes?": positive,
       "rcvbuf_req_bytes?": natural, "rcvbuf_eff_bytes?": positive, "autotuning": {"snd": bool, "rcv": bool},
       "congestion?": words, "sndbuf_option?": words, "rcvbuf_option?": words, "local": words, "ran_on_cpu?": natural, "cpu_ratio?": load, "other_cpu_ratio?": ratio,
       "settings?": [{"name": words, "requested": int, "effective?": int}],
       "zerocopy?": {"writes": natural, "copied": natural},
       "write_bytes?": positive, "tcp_rmem_max_bytes?": positive, "tcp_wmem_max_bytes?": positive,
       "rmem_max_bytes?": positive, "wmem_max_bytes?": positive}
INTERVAL = {"start_s": seconds, "end_s": seconds, "throughput_bps": natural, "rtt_us?": natural, "cwnd_segs?": natural,
            "retrans_segs?": natural}
EXPLAIN = {"schema": "weir.explain/1", "version": words, "started": rfc3339, "duration_s": seconds, "complete": bool,
           "command": "explain", "interval_s?": seconds, "interval_at_least?": True, "skipped_lines": natural, "next": str,
           "sockets": [{"local": words, "peer": words, "side": {"near", "far"}, "verdict": VERDICT}], "verdict": VERDICT}
RUN = {"schema": "weir.run/1", **HEAD, **KEPT, "command": "run",
       "path": {"rtt_min_us?": positive, "rtt_loaded_us?": positive, "mss_bytes?": positive, "unmeasured?": words},
       "throughput_bps": positive, "steady": {"from_s": seconds, "to_s": seconds, "ramping": bool}, "bytes": positive,
       "workload": {"name": words, "messages?": natural, "messages_per_s?": seconds, "bytes_per_segment?": positive,
                    "latency_us?": {"p50": seconds, "p90": seconds, "p99": seconds, "p999": seconds, "max": seconds}},
       "streams": [{"id": positive, "bytes": natural, "throughput_bps": natural}], "intervals": [INTERVAL],
       "near": END, "far": END, "verdict": VERDICT}
def axis_value(value):
    return isinstance(value, (bool, str)) or natural(value)


CELL = {"n": natural, "throughput_bps": {"min?": natural, "max?": natural, "mean?": natural, "median?": natural,
                                         "ci95?": [natural], "cv_ratio?": seconds},
        "runs_bps": [natural], "grade?": {"good", "usable", "poor", "unranked"}, "group?": natural, "rtt_loaded_us?": natural, "transfer_s?": seconds, "messages_per_s?": seconds, "latency_p99_us?": natural,
        "sndbuf_eff_bytes?": positive, "rcvbuf_eff_bytes?": positive, "ramping": natural, "disturbed": natural,
        "stopped_early?": bool, "*": axis_value}
GRID_RUN = {"cell": natural, "block": natural, "bytes": natural, "ramping": bool, "started_s": seconds, "transfer_s": seconds,
            "wall_s": seconds, "throughput_bps": natural, "rtt_us?": number, "retrans_segs?": number, "messages_per_s?": number,
            "latency_p99_us?": number,
            "near_other_cpu_ratio?": number, "far_other_cpu_ratio?": number, "sndbuf_eff_bytes?": positive,
            "rcvbuf_eff_bytes?": positive}
SWEEP = {"schema": "weir.sweep/1", **HEAD, **KEPT, "command": "sweep",
         "plan": {**HEAD["plan"], "axes": {"*": [words]}, "repeat": positive, "seed": natural, "until_ratio": ratio,
                  "budget_ns?": positive, "staircase": bool},
         "axes": {"*": [axis_value]}, "seed": natural, "cells": [CELL],
         "knees": [{"axis": words, "throughput_bps": natural, "plateau_bps": natural, "climbing": bool, "monotone": bool,
                    "*": axis_value}],
         "mde_ratio?": seconds, "drift": {"ratio?": number, "p?": ratio}, "dependence": {"lag1?": number, "p?": ratio},
         "cost": {"runs": natural, "transfer_s": seconds, "wall_s": seconds}, "notes": [words], "runs": [GRID_RUN]}
POINT = {"knob": {"sndbuf", "rcvbuf"}, "side": {"near", "far"}, "throughput_bps": positive, "eff_bytes?": positive,
         "rtt_loaded_us?": positive}
TUNE = {"schema": "weir.tune/1", **HEAD, **KEPT, "command": "tune", "congestion": words,
        "path": {"rtt_min_us": positive, "mss_bytes": positive, "capacity_bps?": positive, "bdp_bytes?": positive},
        "baseline": {"throughput_bps": positive, "runs_bps": [positive], "ci95_bps?": [positive], "rtt_loaded_us?": positive,
                     "sndbuf_eff_bytes?": positive, "rcvbuf_eff_bytes?": positive},
        "verdict": VERDICT, "curve": [{**POINT, "req_bytes": lambda size: size == "unset" or positive(size)}],
        "knee?": {**POINT, "goal": {"rate", "delay"}, "req_bytes": positive, "tolerance_ratio": ratio,
                  "plateau_bps": positive},
        "proof?": {"pairs": positive, "before": {"*": words}, "after": {"*": words}, "before_bps": positive, "after_bps": positive,
                   "ratio": number, "ci95_ratio": [number], "p": ratio, "before_rtt_us": positive,
                   "after_rtt_us": positive, "holds": bool, "min_effect_ratio": number, "before_runs_bps": [positive],
                   "after_runs_bps": [positive]},
        "left_out": [words], "cost": {"probes": positive, "wall_s": seconds, "bytes": positive, "expected_s": seconds}}
ERROR = {"error": {"code": {1, 2, 3, 4, 130, 143}, "operation": words, "text": words, "hint": str}}


def check_verdict(verdict):
    """The shape, and what the shares promise."""
    check(verdict, VERDICT, "verdict")
    assert verdict["causes"], "a verdict names a cause, or says that it doesn't know"
    assert verdict["summary"]
    shares = [cause["share_ratio"] for cause in verdict["causes"] if not cause["companion"]]
    assert sum(shares) <= 1.0005, f"shares add up to {sum(shares)}"
    assert shares == sorted(shares, reverse=True), f"not ranked: {shares}"
    order = [cause["companion"] for cause in verdict["causes"]]
    assert order == sorted(order), "companions stand after what they explain"
    names = [cause["cause"] for cause in verdict["causes"]]
    assert len(names) == len(set(names)), names
    for cause in verdict["causes"]:
        assert cause["evidence"], f"{cause['cause']} without evidence"


def check_run(result):
    """weir.run/1: the shape, and how its figures hang together."""
    check(result, RUN)
    check_verdict(result["verdict"])
    streams, intervals = result["streams"], result["intervals"]
    assert len(streams) == result["plan"]["parallel"]
    assert [stream["id"] for stream in streams] == list(range(1, len(streams) + 1))
    assert sum(stream["bytes"] for stream in streams) == result["bytes"]
    workload = result["workload"]
    assert workload["name"] == result["plan"]["workload"].split(":")[0]
    assert (workload["name"] == "stream") == ("messages" not in workload) == ("latency_us" not in workload)
    times = list(workload.get("latency_us", {}).values())
    assert times == sorted(times)
    if result["plan"]["transport"] == "tcp":
        assert result["path"].keys() == {"rtt_min_us", "rtt_loaded_us", "mss_bytes"}
        assert result["path"]["rtt_loaded_us"] >= 0.9 * result["path"]["rtt_min_us"]
        assert all(result[end][f"{side}buf_option"] == f"SO_{side.upper()}BUF"
                   for end in ("near", "far") for side in ("snd", "rcv"))
        assert all({"sndbuf_eff_bytes", "rcvbuf_eff_bytes", "congestion"} <= result[end].keys() for end in ("near", "far"))
    else:
        assert result["path"].keys() == {"unmeasured"}
        assert not any("rtt_us" in interval for interval in intervals)
    assert intervals and intervals[0]["start_s"] == 0
    for before, after in zip(intervals, intervals[1:]):
        assert before["end_s"] == after["start_s"]
    if len(streams) > 1 or streams[0]["throughput_bps"]:
        total = sum(stream["throughput_bps"] for stream in streams)
        assert abs(total - result["throughput_bps"]) <= 0.1 * result["throughput_bps"] + 1e5, total
    assert result["steady"]["from_s"] <= result["steady"]["to_s"] <= result["duration_s"] + 0.5


def check_sweep(result):
    """weir.sweep/1: the shape, and how cells, runs and the plan hang together."""
    check(result, SWEEP)
    cells, runs = result["cells"], result["runs"]
    n_cells = 1
    for values in result["axes"].values():
        n_cells *= len(values)
    assert len(cells) == n_cells and len({tuple(str(cell[key]) for key in result["axes"]) for cell in cells}) == n_cells
    for index, cell in enumerate(cells):
        mine = [run for run in runs if run["cell"] == index]
        rates = cell["throughput_bps"]
        assert cell["n"] == len(mine) == len(cell["runs_bps"])
        assert [run["throughput_bps"] for run in mine] == cell["runs_bps"]
        assert len({run["block"] for run in mine}) == len(mine), "a block holds a cell once"
        if mine:
            assert rates["min"] <= rates["median"] <= rates["max"] and rates["min"] <= rates["mean"] <= rates["max"]
        assert ("ci95" in rates) == (cell["n"] >= 6)
        if "ci95" in rates:
            assert rates["min"] <= rates["ci95"][0] <= rates["median"] <= rates["ci95"][1] <= rates["max"]
    starts = [run["started_s"] for run in runs]
    assert starts == sorted(starts)


def check_tune(result):
    """weir.tune/1: the shape, and what its parts promise of each other."""
    check(result, TUNE)
    check_verdict(result["verdict"])
    verdict, baseline, proof = result["verdict"], result["baseline"], result.get("proof")
    interval = baseline.get("ci95_bps")
    assert not interval or interval[0] <= baseline["throughput_bps"] <= interval[1]
    if result["curve"]:
        assert any(point["req_bytes"] == "unset" for point in result["curve"]), "unset is a point of every curve"
    if proof:
        assert proof["after"] and proof["before"].keys() == proof["after"].keys()
        assert proof["pairs"] >= 6 and len(proof["before_runs_bps"]) == len(proof["after_runs_bps"]) == proof["pairs"]
        assert proof["ci95_ratio"][0] <= proof["ratio"] <= proof["ci95_ratio"][1]
    for advice in verdict["advice"]:
        assert advice["action"] == "none" or advice.get("why"), advice
        if advice["action"] == "sysctl":
            assert {"key", "value", "current", "apply", "persist", "undo"} <= advice.keys(), advice
            assert advice["key"] in advice["apply"] and advice["current"] in advice["undo"]
        assert not advice["proved"] or proof
