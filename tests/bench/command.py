"""The command: which benchmarks there are, and how a run of them is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import click
from bench.compare_screen import compare_screen
from bench.differing import differing
from bench.figures import Figure, machine, table
from bench.following import following
from bench.grepping import grepping
from bench.home import home
from bench.key_latency import key_latency
from bench.questions import questions
from bench.recording import recording
from bench.redacting import redacting
from bench.size import claude, size
from bench.startup import startup
from bench.stores import stores
from bench.whole_session import filter_switch, first_hit
from bench.widgets import state_opened, tree_ready

Benchmark = Callable[..., Iterator[Figure]]

BENCHMARKS: dict[str, Benchmark] = {
    "keys": key_latency,
    "tree": tree_ready,
    "state": state_opened,
    "filter": filter_switch,
    "search": first_hit,
    "diff": differing,
    "compare": compare_screen,
    "size": size,
    "claude": claude,
    "startup": startup,
    "redact": redacting,
    "follow": following,
    "grep": grepping,
    "home": home,
    "stores": stores,
    "questions": questions,
    "recording": recording,
}


@click.command(help="Measure BENCHMARKS, by default all, and judge each against its goal.")
@click.argument("benchmarks", nargs=-1, type=click.Choice(list(BENCHMARKS)))
@click.option("--rounds", default=3, show_default=True, help="How often each arm has its turn.")
@click.option("--quick", is_flag=True, help="Few keys and small data: tells only that it runs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def main(benchmarks: tuple[str, ...], rounds: int, *, quick: bool, as_json: bool) -> None:
    """Run and print."""
    facts = machine()
    figures: list[Figure] = []
    for name in benchmarks or BENCHMARKS:
        click.echo(f"measuring {name}", err=True)
        figures += BENCHMARKS[name](rounds, quick=quick)
    if as_json:
        told = [each._asdict() | {"verdict": each.verdict} for each in figures]
        click.echo(json.dumps({"machine": facts, "quick": quick, "figures": told}, indent=2))
        return
    click.echo("  ".join(f"{name} {value}" for name, value in facts.items()))
    click.echo("\n".join(table(figures)))
