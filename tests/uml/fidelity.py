# SPDX-License-Identifier: MIT
"""The same traffic over weir's link and over sch_netem: scenarios, figures, and when two of them agree.

netem runs in a guest. weir's link runs on the host, since a guest's one slow CPU, shared with both ends, makes it
late; but in a guest like netem's where the kernel's TCP decides, as of what a receive buffer holds.
"""
import concurrent.futures
import dataclasses
import json
import math
import os
import statistics

import guest
import weirtest

LINKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "links.py")
FULL_SEGMENT = 1538 # on the wire, as both count it: netem has Ethernet's header of 14 already and is told of 24 more
NETEM, IN_GUEST, ON_HOST = "netem", "guest", "host"
LIMIT_S = 150 * weirtest.PATIENCE
Z99, T99_DF5 = 2.576, 4.032 # two-sided 99 %: normal, and Student's t with 5 degrees of freedom
STREAMS = 6


@dataclasses.dataclass(frozen=True)
class Figure:
    """Something measured. of(result): its value, shown by `show`; agree(weir's, netem's results): whether they are the
    same, by the rule that is in words in `rule`."""
    name: str
    of: callable
    agree: callable
    rule: str
    show: str = "{:.2f}"


@dataclasses.dataclass(frozen=True)
class Scenario:
    """A link in the words of weir lab and of netem, for what near and what far sends. Traffic: what datagrams.py sends
    (N SIZE GAP_US), or options of weir run. Place: where weir's link runs."""
    name: str
    lab: str
    near: str
    far: str
    figures: tuple
    datagrams: str = ""
    tcp: str = ""
    place: str = ON_HOST


def relative(name, of):
    """Nothing random decides: within 3 %."""
    return Figure(name, of, lambda weir, netem: abs(of(weir) / of(netem) - 1) <= 0.03, "3 %")


def delay(name, key):
    return Figure(name, lambda result: result[key], lambda weir, netem: abs(weir[key] - netem[key]) <= 0.5, "0.5 ms")


def chance(name, of, expected, sd):
    """Both within the 99 % interval of what was asked for; sd(result) is for its number of trials."""
    def within(result):
        return abs(of(result) - expected) <= Z99 * sd(result)
    return Figure(name, of, lambda weir, netem: within(weir) and within(netem), f"99 % interval of {expected:.3g}")


def share(name, key, p, inflated=1.0):
    """A count that has a binomial distribution, or one with a variance that is so many times larger."""
    return chance(name, lambda result: 100 * result[key] / result["n"], 100 * p,
                  lambda result: 100 * math.sqrt(p * (1 - p) * inflated / result["n"]))


def bursts(p, r):
    """Gilbert-Elliott: the number of losses varies (2 - p - r) / (p + r) times as much as a binomial one; the length of
    a burst is geometric."""
    return (share("lost, %", "lost", p / (p + r), (2 - p - r) / (p + r)),
            chance("mean burst", lambda result: result["lost"] / max(result["loss_runs"], 1), 1 / r,
                   lambda result: math.sqrt(1 - r) / r / math.sqrt(max(result["loss_runs"], 1))))


def alike(weir, netem):
    """Welch's 99 % interval of the difference of two means holds 0; with the fewest degrees of freedom it may have."""
    error = math.sqrt(sum(statistics.variance(result["streams_mbps"]) / STREAMS for result in (weir, netem)))
    return abs(statistics.fmean(weir["streams_mbps"]) - statistics.fmean(netem["streams_mbps"])) <= T99_DF5 * error


WIRE = relative("on the wire, Mbit/s", lambda result: result["rate_bps"] / 1e6)
PAYLOAD = relative("payload, Mbit/s", lambda result: result["throughput_bps"] / 1e6)
LOADED = relative("RTT under load, ms", lambda result: result["rtt_loaded_ms"])
IDLE = delay("smallest RTT, ms", "rtt_ms")


def bottleneck(rate_mbit, delay_ms, queue):
    """A rate, a delay each way, a queue in packets: netem's limit also counts what is under way."""
    limit = queue + round(rate_mbit * 1000 * delay_ms / 8 / FULL_SEGMENT)
    netem = f"rate {rate_mbit}mbit 24 delay {delay_ms}ms limit {limit}"
    return {"lab": f"--rate {rate_mbit}mbit --delay {delay_ms}ms --queue {queue}p", "near": netem, "far": netem}


SCENARIOS = {scenario.name: scenario for scenario in (
    Scenario("25 ms each way", "--delay 25ms", "delay 25ms", "delay 25ms",
             (delay("one way, ms", "delay_ms"), delay("smallest RTT, ms", "rtt_ms")), datagrams="200 100 5000 echo"),
    # The queues last longer than a busy machine keeps the sender waiting: never empty, nothing but the rate counts.
    Scenario("6 Mbit/s into 4, queue of 30 packets", "--near-rate 4mbit --near-queue 30p", "rate 4mbit 24 limit 30", "",
             (WIRE, relative("lost, %", lambda result: 100 * result["lost"] / result["n"]),
              delay("one way, ms", "delay_ms")),
             datagrams="1000 1472 2050"),
    # Framing is a quarter of what these take.
    Scenario("1.3 Mbit/s of 100 B into 1, queue of 100", "--near-rate 1mbit --near-queue 100p",
             "rate 1mbit 24 limit 100", "", (WIRE,), datagrams="2000 100 1000"),
    Scenario("loss 1 %", "--near-loss 1%", "loss 1%", "", (share("lost, %", "lost", 0.01),), datagrams="10000 100 250"),
    Scenario("bursts of loss, p 0.5 %, r 30 %", "--near-loss ge:p=0.5%,r=30%", "loss gemodel 0.5% 30%", "",
             bursts(0.005, 0.3), datagrams="10000 100 250"),
    Scenario("duplicates 2 %", "--near-duplicate 2%", "duplicate 2%", "", (share("twice, %", "twice", 0.02),),
             datagrams="10000 100 250"),
    Scenario("TCP, 50 Mbit/s, 40 ms, SO_RCVBUF 512K", **bottleneck(50, 20, 600), figures=(PAYLOAD, IDLE),
             tcp="-t 3 --far-rcvbuf 512K"),
    Scenario("TCP, 20 Mbit/s, 100 ms, SO_RCVBUF 512K", **bottleneck(20, 50, 600), figures=(PAYLOAD, IDLE),
             tcp="-t 4 --far-rcvbuf 512K"),
    Scenario("TCP, 10 Mbit/s, 20 ms, queue of 40 packets", "--near-rate 10mbit --near-queue 40p --far-delay 20ms",
             "rate 10mbit 24 limit 40", "delay 20ms", (PAYLOAD, IDLE), tcp="-t 4"),
    Scenario("TCP, 4 Mbit/s, 20 ms, SO_RCVBUF 64K", **bottleneck(4, 10, 300), figures=(PAYLOAD, IDLE, LOADED),
             tcp="-t 3 --far-rcvbuf 64K", place=IN_GUEST),
    Scenario("TCP, 80 ms, loss 2 %, 6 streams", "--delay 40ms --near-loss 2%", "delay 40ms loss 2%", "delay 40ms",
             (Figure("payload of each, Mbit/s", lambda result: statistics.fmean(result["streams_mbps"]), alike,
                     "99 % interval of the difference"),), tcp=f"-t 6 -P {STREAMS}"),
)}


def measure(place, names):
    """The results of scenarios over a link: {name: result}. NETEM measures all, a place those whose link runs there."""
    keys = ("name", "lab", "near", "far", "datagrams", "tcp")
    scenarios = [{key: getattr(SCENARIOS[name], key) for key in keys} for name in names
                 if place in (NETEM, SCENARIOS[name].place)]
    command = [guest.PYTHON, LINKS, "netem" if place == NETEM else "weir", json.dumps(scenarios)]
    if place == ON_HOST:
        done = weirtest.call(*command, timeout=LIMIT_S, env={**weirtest.LAB_ENVIRONMENT, "WEIR": weirtest.WEIR})
    else:
        done = guest.run(command, modules=["tun"], timeout=LIMIT_S, memory_mb=512)
    if done.code:
        raise guest.Error(f"links.py {place} failed: {done.err}")
    return done.json


def compare(names, at_once):
    """{name: (weir's result, netem's)}. at_once: netem in its guest beside the host's link, with a CPU each."""
    places = {NETEM} | {SCENARIOS[name].place for name in names}
    with concurrent.futures.ThreadPoolExecutor(2 if at_once else 1) as pool:
        started = {place: pool.submit(measure, place, names) for place in places - {IN_GUEST}}
        found = {place: future.result() for place, future in started.items()}
    if IN_GUEST in places: # alone: a guest beside another makes a link late
        found[IN_GUEST] = measure(IN_GUEST, names)
    return {name: (found[SCENARIOS[name].place][name], found[NETEM][name]) for name in names}
