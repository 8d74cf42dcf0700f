#!/usr/bin/env python3
"""Recognise handwritten digits with a support vector machine.

The data set comes with scikit-learn: 1,797 images of 8 by 8 pixels.  Prints the accuracy on a third
of them that training never saw, and leaves it with the model in the output directory, if there is
one."""

import argparse
import json
import os
import pickle
import time

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--c", type=float, default=5.0, help="penalty of a wrong answer")
    parser.add_argument("--output", default=os.environ.get("DLSPOOL_OUTPUT"), help="directory")
    return parser.parse_args()


def main():
    arguments = read_arguments()
    images, answers = load_digits(return_X_y=True)
    train_x, test_x, train_y, test_y = train_test_split(
        images, answers, test_size=1 / 3, random_state=0, stratify=answers
    )
    print(f"training on {len(train_x)} images, testing on {len(test_x)}")

    started = time.monotonic()
    model = make_pipeline(StandardScaler(), SVC(C=arguments.c))
    model.fit(train_x, train_y)
    print(f"trained in {time.monotonic() - started:.2f} s")

    accuracy = model.score(test_x, test_y)
    print(f"accuracy {accuracy:.4f}")

    if arguments.output:
        with open(os.path.join(arguments.output, "result.json"), "w", encoding="utf-8") as file:
            json.dump({"accuracy": accuracy, "images": len(test_x)}, file)
        with open(os.path.join(arguments.output, "model.pickle"), "wb") as file:
            pickle.dump(model, file)
        print(f"model and result are in {arguments.output}")


if __name__ == "__main__":
    main()
