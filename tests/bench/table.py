"""table - rows that are measured of one build, or of two by turns, and their ratios"""
import statistics
import subprocess

from builds import Lacking


class Group:
    """Rows that are measured together; what it keeps between the turns is by the build's program."""

    def __init__(self, parent, arguments):
        self.parent, self.arguments = parent, arguments

    def turn(self, program):
        """The rows, by name."""
        raise NotImplementedError

    def end(self):
        """Remove what was kept."""


def figure(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def spread(values):
    if len(values) == 1:
        return figure(values[0])
    return f"{figure(statistics.median(values))} ({figure(min(values))} to {figure(max(values))})"


def print_row(name, columns):
    print(f"{name:46}" + "".join(f"{column:>26}" for column in columns), flush=True)


def compare(group, programs, turns):
    """Measure it with each program in turn, print its rows, and say what could not be had."""
    found, lacking, rows = {}, {}, []
    for _ in range(turns):
        for label, program in programs.items():
            try:
                measured = group.turn(program)
            except (Lacking, subprocess.CalledProcessError) as reason:
                lacking[label, type(group).__name__.lower()] = reason
                continue
            for row, value in measured.items():
                rows += [row] if row not in rows else []
                if isinstance(value, Lacking):
                    lacking[label, row] = value
                else:
                    found.setdefault((row, label), []).append(value)
    group.end()
    for row in rows:
        columns = [found.get((row, label)) for label in programs]
        ratios = [a / b for a, b in zip(*columns) if b] if len(columns) == 2 and all(columns) else []
        print_row(row, [spread(values) if values else "-" for values in columns] +
                  ([spread(ratios) if ratios else "-"] if len(columns) == 2 else []))
    for (label, row), reason in lacking.items():
        print(f"  {row}: not of {label}: {reason}", flush=True)
