#!/usr/bin/env python3
"""Boosted trees on scikit-learn's breast-cancer data, trained by several XGBoost workers together.

Every process reads where the tracker is from DMLC_TRACKER_URI and DMLC_TRACKER_PORT, and its number
from RANK; the one of rank 0 also starts the tracker.  Each has its share of the rows.  Prints the
error after each round, and at the end the same model's checksum in every process."""

import os
import time
import zlib

import xgboost
from sklearn.datasets import load_breast_cancer
from xgboost.tracker import RabitTracker

ROUNDS = 10


def start_tracker(host, port, workers):
    """The tracker tells the workers of one another; it ends when they have."""
    tracker = RabitTracker(host_ip=host, n_workers=workers, port=port)
    if tracker.port != port:
        raise SystemExit(f"port {port} is taken")
    tracker.start(workers)


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
    if rank == 0:
        start_tracker(host, port, world)
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


if __name__ == "__main__":
    main()
