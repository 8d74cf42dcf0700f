# host-libraries.py - which libraries of deep learning does this Python have, and with GPUs?
#
# Run by `dlspool run` as `python3 -I -`, without privileges.  Nothing of the libraries is imported: only
# what their packages say of themselves is read.  Prints what renderer/host.h describes.
import importlib.metadata
import importlib.util
import json
import os
import platform
import re

# library of a job file: (its modules, the distributions that bring it)
LIBRARIES = {
    "pytorch": ("torch", ["torch"]),
    "tensorflow": ("tensorflow", ["tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tensorflow-rocm"]),
    "keras": ("keras", ["keras"]),
    "jax": ("jax", ["jax"]),
    "mxnet": ("mxnet", ["mxnet"]),
    "paddle": ("paddle", ["paddlepaddle", "paddlepaddle-gpu"]),
    "mindspore": ("mindspore", ["mindspore", "mindspore-gpu"]),
    "horovod": ("horovod", ["horovod"]),
    "deepspeed": ("deepspeed", ["deepspeed"]),
    "caffe": ("caffe", ["caffe"]),
    "caffe2": ("caffe2", ["caffe2"]),
    "cntk": ("cntk", ["cntk", "cntk-gpu"]),
    "chainer": ("chainer", ["chainer"]),
    "sklearn": ("sklearn", ["scikit-learn"]),
    "xgboost": ("xgboost", ["xgboost"]),
}
# distributions that are there only beside a build for GPUs
GPU_BUILDS = {
    "jax": r"jax-(cuda|rocm)",
    "mxnet": r"mxnet-cu",
    "paddle": r"paddlepaddle-gpu",
    "mindspore": r"mindspore-gpu",
    "cntk": r"cntk-gpu",
    "chainer": r"cupy",
    "xgboost": r"nvidia-nccl",
}
# files of the module that say so, and what they then hold
GPU_MARKS = {
    "pytorch": ("version.py", r"^(cuda|hip)\b[^=\n]*=\s*['\"]"),
    "tensorflow": ("python/platform/build_info.py", r"['\"]is_(cuda|rocm)_build['\"]\s*[:\]]\s*=?\s*True"),
}
# libraries that compute by another
FOLLOWS = {"horovod": ("pytorch", "tensorflow"), "deepspeed": ("pytorch",), "caffe2": ("pytorch",),
           "keras": ("tensorflow", "pytorch", "jax")}


def normal(name):
    return re.sub(r"[-_.]+", "-", name or "").lower()


def distributions():
    found = {}
    for distribution in importlib.metadata.distributions():
        try:
            found.setdefault(normal(distribution.metadata["Name"]), distribution.version or "")
        except Exception:
            continue
    return found


def module_directory(name):
    try:
        found = importlib.util.find_spec(name)
    except Exception:
        return None
    return os.path.dirname(found.origin) if found and found.origin else None


def marked(directory, path, pattern):
    try:
        with open(os.path.join(directory, path), encoding="utf-8", errors="replace") as file:
            return bool(re.search(pattern, file.read(1 << 20), re.MULTILINE))
    except OSError:
        return False


def main():
    installed = distributions()
    libraries = {}
    for library, (module, names) in LIBRARIES.items():
        directory = module_directory(module)
        if not directory:
            continue
        versions = [version for name, version in installed.items()
                    if name in names or (library == "mxnet" and name.startswith("mxnet-cu"))]
        gpus = any(re.match(GPU_BUILDS[library], name) for name in installed) if library in GPU_BUILDS else False
        if library in GPU_MARKS:
            gpus = marked(directory, *GPU_MARKS[library])
        libraries[library] = {"version": versions[0] if versions else "", "gpus": gpus}
    for library, others in FOLLOWS.items():
        if library in libraries:
            libraries[library]["gpus"] = any(libraries.get(other, {}).get("gpus") for other in others)
    libraries["any"] = {"version": platform.python_version(), "gpus": True}
    print(json.dumps({"python": platform.python_version(), "libraries": libraries}, sort_keys=True))


main()
