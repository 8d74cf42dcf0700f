#!/usr/bin/env python3
"""Train a small network with PyTorch's DistributedDataParallel over gloo, on processors.

Every process reads where the others are from MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK.  The
data are made up from a fixed seed, each process has its share of them, and gradients are averaged
over all.  Prints the loss after each epoch, and at the end the same sum of weights in every process.
EPOCHS or --epochs says how long it runs."""

import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

SAMPLES = 2048
FEATURES = 16
BATCH = 64


def make_data(rank, world_size):
    """This process's share of points of a smooth function that a network can learn."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(SAMPLES, FEATURES, generator=generator)
    weights = torch.randn(FEATURES, 1, generator=generator) / FEATURES**0.5
    y = torch.sin(2 * x @ weights)
    return x[rank::world_size], y[rank::world_size]


def make_model():
    torch.manual_seed(2)
    return torch.nn.Sequential(
        torch.nn.Linear(FEATURES, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
    )


def train_epoch(model, optimizer, x, y):
    """One pass over this process's data; returns the mean loss over all processes."""
    total = torch.zeros(1)
    batches = 0
    for at in range(0, len(x) - BATCH + 1, BATCH):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x[at : at + BATCH]), y[at : at + BATCH])
        loss.backward()
        optimizer.step()
        total += loss.detach()
        batches += 1
    mean = total / max(1, batches)
    dist.all_reduce(mean)
    return mean.item() / dist.get_world_size()


def train(rank, world_size, epochs):
    """Train, and return the sum of all weights' sizes, which is the same in every process."""
    x, y = make_data(rank, world_size)
    model = DistributedDataParallel(make_model())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(1, epochs + 1):
        loss = train_epoch(model, optimizer, x, y)
        print(f"rank {rank} epoch {epoch} loss {loss:.4f}", flush=True)
    return sum(parameter.detach().abs().sum().item() for parameter in model.parameters())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=int(os.environ.get("EPOCHS", "5")))
    arguments = parser.parse_args()

    dist.init_process_group("gloo", init_method="env://")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    print(f"rank {rank} of {world_size} is up", flush=True)

    weights = train(rank, world_size, arguments.epochs)
    print(f"rank {rank} done, sum of weights {weights:.4f}", flush=True)

    # The model is gone when train() returns, and no process leaves before the others have come
    # here: with either missing, the end can hang in gloo's destructor.
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
