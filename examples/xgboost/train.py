#!/usr/bin/env python3
"""Boosted trees on scikit-learn's breast-cancer data, trained by several XGBoost workers together.

Every process reads where the tracker is from DMLC_TRACKER_URI and DMLC_TRACKER_PORT, and its number
from RANK, and hands them to XGBoost, which from 2.1 reads no variables itself; the one of rank 0 also
starts the tracker.  Each has its share of the rows.  Prints the error after each round, and at the end
the same model's checksum in every process."""

import os
import socket
import time
import zlib

import xgboost
from sklearn.datasets import load_breast_cancer
from xgboost.tracker import RabitTracker

ROUNDS = 10


def start_tracker(host, port, workers):
    """The tracker tells the workers of one another; it ends when they have."""
    tracker = RabitTracker(n_workers=workers, host_ip=socket.gethostbyname(host), port=port)
    if hasattr(tracker, "worker_args"):  # XGBoost 2.1 and later
        tracker.start()
        return tracker
    if tracker.port != port:
        raise SystemExit(f"port {port} is taken")
    tracker.start(workers)
    return tracker


def connect(parameters, patience=60):
    """A communicator; the tracker may not be up yet."""
    for attempt in range(patience):
        try:
            return xgboost.collective.CommunicatorContext(**parameters).__enter__()
        except xgboost.core.XGBoostError:
            if attempt == patience - 1:
                raise
            time.sleep(1)


def main():
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    host, port = os.environ["DMLC_TRACKER_URI"], int(os.environ["DMLC_TRACKER_PORT"])
    # It goes when nothing refers to it.
    tracker = start_tracker(host, port, world) if rank == 0 else None
    connect(
        {
            "DMLC_TRACKER_URI": host,
            "DMLC_TRACKER_PORT": port,
            "DMLC_TASK_ID": os.environ["DMLC_TASK_ID"],
        }
    )
    x, y = load_breast_cancer(return_X_y=True)
    rows = xgboost.DMatrix(x[rank::world], y[rank::world])
    progress = {}
    model = xgboost.train(
        {"objective": "binary:logistic", "max_depth": 3, "tree_method": "hist", "nthread": 1},
        rows,
        num_boost_round=ROUNDS,
        evals=[(rows, "train")],
        evals_result=progress,
        verbose_eval=False,
    )
    for number, error in enumerate(progress["train"]["logloss"], 1):
        print(f"rank {rank} round {number} loss {error:.4f}", flush=True)
    checksum = zlib.crc32(b"".join(tree.encode() for tree in model.get_dump()))
    print(f"rank {rank} of {world} done, checksum {checksum:08x}", flush=True)
    xgboost.collective.finalize()
    if tracker and hasattr(tracker, "wait_for"):
        tracker.wait_for()


if __name__ == "__main__":
    main()
