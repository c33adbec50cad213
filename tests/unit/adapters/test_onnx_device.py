"""Devices, chosen from lists of what an engine was built with."""

import pytest

from ingestd.errors import ConfigurationError
from ingestd_adapters.onnx_device import choose, device_in_use

CPU, CUDA, ROCM = "CPUExecutionProvider", "CUDAExecutionProvider", "ROCMExecutionProvider"


def names(device: str, *available: str) -> list[str]:
    return [name for name, _ in choose(device, available).providers]


def test_the_cpu_is_always_left_as_the_last_resort():
    for device in ("auto", "cpu", "cuda", "gpu", "cuda:1"):
        for available in ((CPU,), (CUDA, CPU), (ROCM, CPU)):
            assert names(device, *available)[-1] == CPU


def test_auto_takes_the_fastest_there_is():
    assert names("auto", "AzureExecutionProvider", CPU) == [CPU]
    assert names("auto", ROCM, CPU) == [ROCM, CPU]
    assert names("auto", "TensorrtExecutionProvider", ROCM, CUDA, CPU) == [CUDA, CPU]


def test_auto_on_a_machine_without_a_gpu_misses_nothing():
    assert choose("auto", [CPU]).reason is None


def test_the_cpu_is_taken_when_asked_for_whatever_there_is():
    chosen = choose("CPU", [CUDA, CPU])
    assert [name for name, _ in chosen.providers] == [CPU]
    assert not chosen.beyond_cpu
    assert not chosen.wants_gpu


@pytest.mark.parametrize("device", ["cuda", "GPU", "cuda:0", "cuda:3"])
def test_a_gpu_that_the_engine_knows_nothing_of_is_told_with_the_way_out(device):
    chosen = choose(device, ["AzureExecutionProvider", CPU])
    assert not chosen.beyond_cpu
    assert chosen.wanted == device.lower()
    assert chosen.reason is not None
    assert "onnxruntime-gpu" in chosen.reason


def test_one_of_several_gpus_is_taken_by_its_number():
    chosen = choose("cuda:3", [CUDA, CPU])
    assert chosen.providers[0][1]["device_id"] == "3"
    assert chosen.wants_gpu
    assert device_in_use(chosen, [CUDA, CPU]) == "cuda:3"


def test_the_device_in_use_is_what_the_session_runs_on():
    assert device_in_use(choose("cuda", [CUDA, CPU]), [CPU]) == "cpu"
    assert device_in_use(choose("auto", [ROCM, CPU]), [ROCM, CPU]) == "rocm:0"


@pytest.mark.parametrize("device", ["", "tpu", "cuda:", "cuda:x", "cpu:1"])
def test_names_of_no_device_are_refused(device):
    with pytest.raises(ConfigurationError, match="only auto, cpu, cuda or cuda:N"):
        choose(device, [CPU])
