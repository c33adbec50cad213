"""The unit files say what the documentation promises, and systemd agrees."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ingestd.resources import shipped

EXPOSURE = 2.0
UNITS = shipped("systemd")
DROP_INS = ("cpu-only.conf", "notify-reload.conf", "qdrant-server.conf", "roots.conf")
Directives = dict[str, list[str]]


def directives(name: str) -> dict[str, Directives]:
    """Values of each directive of each section, in order."""
    sections: dict[str, Directives] = {}
    section: Directives = {}
    for number, line in enumerate((UNITS / name).read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            section = sections.setdefault(heading[1], {})
            continue
        key, equals, value = line.partition("=")
        assert equals, f"{name}:{number} is neither a heading nor a directive: {line!r}"
        assert value == value.strip(), f"{name}:{number}"
        section.setdefault(key, []).append(value)
    return sections


def words(service: Directives, key: str) -> list[str]:
    return " ".join(service[key]).split()


REQUIRED = [
    "Type=notify",
    "NotifyAccess=main",
    "WatchdogSec=60",
    "TimeoutStartSec=10min",
    "TimeoutStopSec=90",
    "KillMode=mixed",
    "Restart=on-failure",
    "RestartSec=5",
    "RestartPreventExitStatus=2",
    "OOMPolicy=continue",
    "User=ingestd",
    "StateDirectory=ingestd",
    "CacheDirectory=ingestd",
    "RuntimeDirectory=ingestd",
    "UMask=0077",
    "ProtectSystem=strict",
    "ProtectHome=tmpfs",
    "PrivateTmp=yes",
    "PrivateMounts=yes",
    "PrivateUsers=yes",
    "ProtectProc=invisible",
    "ProcSubset=all",
    "ProtectKernelTunables=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelLogs=yes",
    "ProtectControlGroups=yes",
    "ProtectClock=yes",
    "ProtectHostname=yes",
    "LockPersonality=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "RestrictNamespaces=yes",
    "NoNewPrivileges=yes",
    "CapabilityBoundingSet=",
    "SystemCallArchitectures=native",
    "IPAddressDeny=any",
    "IPAddressAllow=localhost",
    "DevicePolicy=closed",
    "MemorySwapMax=0",
    "LimitCORE=0",
]


@pytest.mark.parametrize("directive", REQUIRED)
def test_the_service_has_each_required_directive_once(directive: str) -> None:
    key, _, value = directive.partition("=")
    assert directives("ingestd.service")["Service"][key] == [value]


@pytest.mark.parametrize("key", ["MemoryHigh", "MemoryMax", "TasksMax"])
def test_the_service_is_bounded(key: str) -> None:
    assert directives("ingestd.service")["Service"][key]


@pytest.mark.parametrize("key", ["PrivateDevices", "MemoryDenyWriteExecute"])
def test_what_would_break_a_gpu_is_left_to_the_machine_without_one(key: str) -> None:
    assert key not in directives("ingestd.service")["Service"]
    assert directives("cpu-only.conf")["Service"][key] == ["yes"]


def test_every_nvidia_device_class_is_allowed() -> None:
    allowed = directives("ingestd.service")["Service"]["DeviceAllow"]
    classes = ("nvidia-frontend", "nvidiactl", "nvidia-uvm", "nvidia-caps", "nvidia")
    assert {f"char-{name} rw" for name in classes} <= set(allowed)
    assert "char-drm rw" in allowed


def test_a_restart_storm_ends() -> None:
    unit = directives("ingestd.service")["Unit"]
    assert unit["StartLimitIntervalSec"] == ["10min"]
    assert unit["StartLimitBurst"] == ["5"]


def test_the_calls_that_engines_and_converters_need_are_added_after_the_refusals() -> None:
    filters = directives("ingestd.service")["Service"]["SystemCallFilter"]
    assert filters[:2] == ["@system-service", "~@privileged @resources"]
    added = " ".join(filters[2:]).split()
    assert not any(call.startswith(("~", "@")) for call in added)
    assert {"sched_setaffinity", "mbind", "set_mempolicy", "setpriority", "seccomp"} <= set(added)
    assert {f"landlock_{call}" for call in ("create_ruleset", "add_rule", "restrict_self")} <= set(added)


def test_no_secret_is_in_an_environment_variable() -> None:
    for name in ("ingestd.service", *DROP_INS):
        for value in directives(name).get("Service", {}).get("Environment", []):
            assert not re.search("key|token|secret|password", value, re.IGNORECASE)
    assert directives("qdrant-server.conf")["Service"]["LoadCredential"] == [
        "qdrant_api_key:/etc/ingestd/qdrant_api_key"
    ]


def test_models_are_never_fetched_by_a_library() -> None:
    environment = words(directives("ingestd.service")["Service"], "Environment")
    assert {"HF_HUB_OFFLINE=1", "TRANSFORMERS_OFFLINE=1"} <= set(environment)


def test_newer_systemd_gets_its_reload_by_a_drop_in() -> None:
    assert directives("ingestd.service")["Service"]["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    assert directives("notify-reload.conf")["Service"] == {"Type": ["notify-reload"], "ExecReload": [""]}


def test_every_shipped_file_is_documented() -> None:
    guide = Path(__file__).parents[3] / "docs" / "systemd.md"
    if not guide.is_file():
        pytest.skip("the guide is not in this tree")
    text = guide.read_text(encoding="utf-8")
    shipped_names = {path.name for path in UNITS.iterdir() if not path.name.startswith(".")}
    assert shipped_names == {"ingestd.service", "ingestd.sysusers", *DROP_INS}
    assert {name for name in shipped_names if f"`{name}`" not in text} == set()


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """Unit with a program that exists, which is all that ``verify`` asks of it."""
    text = (UNITS / "ingestd.service").read_text(encoding="utf-8")
    assert "\nExecStart=/opt/ingestd/bin/ingestd " in text
    path = tmp_path / "ingestd.service"
    path.write_text(text.replace("/opt/ingestd/bin/ingestd", sys.executable), encoding="utf-8")
    return path


def analyze(*arguments: str) -> "subprocess.CompletedProcess[str]":
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)


def version() -> int:
    return int(analyze("--version").stdout.split()[1])


def with_drop_in(unit: Path, name: str) -> None:
    folder = unit.with_name("ingestd.service.d")
    folder.mkdir()
    shutil.copy(UNITS / name, folder)


@pytest.mark.parametrize("drop_in", ["", *DROP_INS])
def test_systemd_understands_every_line(unit: Path, drop_in: str) -> None:
    if drop_in == "notify-reload.conf" and version() < 253:
        pytest.skip("this systemd does not know notify-reload")
    if drop_in:
        with_drop_in(unit, drop_in)
    done = analyze("verify", "--man=no", str(unit))
    ours = [line for line in done.stderr.splitlines() if "ingestd.service" in line]
    assert ours == []


@pytest.mark.parametrize("drop_in", ["", "cpu-only.conf", "qdrant-server.conf", "roots.conf"])
def test_the_exposure_stays_low(unit: Path, drop_in: str) -> None:
    if version() < 250:
        pytest.skip("this systemd does not analyse units that are not loaded")
    if drop_in:
        with_drop_in(unit, drop_in)
    done = analyze("security", "--offline=true", "--no-pager", str(unit))
    found = re.search(r"Overall exposure level for ingestd\.service: (\d+\.\d+)", done.stdout)
    assert found, done.stderr
    assert float(found[1]) < EXPOSURE


def test_the_user_file_is_one_that_systemd_reads() -> None:
    program = shutil.which("systemd-sysusers")
    if program is None:
        pytest.skip("systemd-sysusers is not installed")
    path = str(UNITS / "ingestd.sysusers")
    done = subprocess.run([program, "--dry-run", path], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "ignoring" not in done.stderr
