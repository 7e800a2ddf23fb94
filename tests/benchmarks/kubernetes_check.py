"""Checks the manifest on stdin and prints JSON; runs in an environment with dask-kubernetes and the Kubernetes client.

A DaskCluster must fit its definition without unknown fields. The objects that the operator makes from it must fit the
client's models, and a service must lead to the pods. Whether images start, and what a cluster's policies admit, is not
checked.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask_kubernetes
import yaml
from dask_kubernetes.operator.controller import controller
from jsonschema import Draft202012Validator
from kubernetes import client

DEFINITIONS = "operator/deployment/helm/dask-kubernetes-operator/crds/*.yaml"
MODELS = {"Deployment": client.V1Deployment, "Service": client.V1Service}
NAMESPACE = "default"


def definition(kind: str) -> dict[str, Any]:
    """The schema of a custom resource."""
    files = Path(dask_kubernetes.__file__).parent.glob(DEFINITIONS)
    (found,) = [crd for crd in map(yaml.safe_load, map(Path.read_text, files)) if crd["spec"]["names"]["kind"] == kind]
    return closed(found["spec"]["versions"][0]["schema"]["openAPIV3Schema"])


def closed(schema: Any) -> Any:
    """The schema without unknown fields, which Kubernetes would silently drop."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: closed(part) for name, part in schema.items()}
    if isinstance(parts.get("properties"), dict) and not parts.get("x-kubernetes-preserve-unknown-fields"):
        parts.setdefault("additionalProperties", False)
    if parts.pop("x-kubernetes-int-or-string", False):
        parts.pop("type", None)
        parts.pop("anyOf", None)
    return parts


def invalid(resource: dict[str, Any]) -> Iterator[str]:
    """What does not fit the definition of the resource's kind."""
    schema = definition(resource["kind"])
    schema["properties"] |= {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {}}
    for error in Draft202012Validator(schema).iter_errors(resource):
        yield f"{resource['kind']} {'.'.join(map(str, error.path))}: {error.message}"


def made(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects that the operator makes from a DaskCluster, including the first worker's."""
    name, spec, empty = cluster["metadata"]["name"], cluster["spec"], dict[str, str]()
    group = controller.build_default_worker_group_spec(name, spec["worker"], empty, empty)
    pods = spec["scheduler"]["spec"], spec["worker"]["spec"]
    return [
        group,
        controller.build_scheduler_deployment_spec(name, pods[0], empty, empty),
        controller.build_scheduler_service_spec(name, spec["scheduler"]["service"], empty, empty),
        controller.build_worker_deployment_spec(group["metadata"]["name"], NAMESPACE, name, "0", pods[1], empty, empty),
    ]


def unmodeled(value: Any, model: Any, place: str) -> Iterator[str]:
    """Values that the client's model of an object does not accept, and fields that it lacks."""
    try:
        kept = client.ApiClient().sanitize_for_serialization(model.from_dict(value))
    except ValueError as error:
        yield f"{place}: {error}"
    else:
        yield from lost(value, kept, place)


def lost(value: Any, kept: Any, place: str) -> Iterator[str]:
    if isinstance(value, dict) and isinstance(kept, dict):
        for name, part in value.items():
            yield from lost(part, kept.get(name), f"{place}.{name}")
    elif isinstance(value, list) and isinstance(kept, list):
        for number, (part, other) in enumerate(zip(value, kept, strict=True)):
            yield from lost(part, other, f"{place}[{number}]")
    elif value != kept and value not in ({}, []):
        yield f"{place}: {value!r} became {kept!r}"


def unconnected(scheduler: dict[str, Any], service: dict[str, Any], worker: dict[str, Any]) -> Iterator[str]:
    """Where the service does not lead to the scheduler, or the worker not to the service."""
    pod, spec = scheduler["spec"]["template"], service["spec"]
    if not spec["selector"].items() <= pod["metadata"]["labels"].items():
        yield f"the service selects {spec['selector']}, the scheduler is {pod['metadata']['labels']}"
    ports = {port["name"]: port["containerPort"] for port in pod["spec"]["containers"][0]["ports"]}
    if [ports.get(port["targetPort"]) for port in spec["ports"]] != [port["port"] for port in spec["ports"]]:
        yield f"the service has the ports {spec['ports']}, the scheduler {ports}"
    container = worker["spec"]["template"]["spec"]["containers"][0]
    variables = {variable["name"]: variable.get("value") for variable in container["env"]}
    for name in re.findall(r"\$\((\w+)\)", " ".join(container["args"])):
        if name not in variables:
            yield f"the worker's arguments name {name}, which is not set"
    address = f"tcp://{service['metadata']['name']}.{NAMESPACE}.svc.cluster.local:{spec['ports'][0]['port']}"
    if variables["DASK_SCHEDULER_ADDRESS"] != address:
        yield f"the worker goes to {variables['DASK_SCHEDULER_ADDRESS']}, the service is {address}"


def main() -> None:
    cluster = yaml.safe_load(sys.stdin)
    objects = made(cluster)
    group, *plain = objects
    wrong = [*invalid(cluster), *invalid(group), *unconnected(*plain)]
    for one in plain:
        wrong += unmodeled(one, MODELS[one["kind"]], one["kind"])
    names = [f"{manifest['kind']} {manifest['metadata']['name']}" for manifest in (cluster, *objects)]
    print(json.dumps({"made": names, "wrong": wrong}))


if __name__ == "__main__":
    main()
