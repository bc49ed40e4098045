"""A tool that uses the Azure SDK for Python as its documentation shows: python3 client.py COMMAND SETTINGS_AS_JSON.

Prints one JSON value: what was acknowledged and what was refused, as this client saw it.
"""
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from azure.core.credentials import AccessToken
from azure.core.exceptions import AzureError, HttpResponseError

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
SCALE_SET_VERSION = "2024-07-01"  # the SDK's own default is older than the first that knows ETags
THINK_SECONDS = 0.03
POLL_SECONDS = 0.1
ATTEMPTS_MAX = 100

command, settings = sys.argv[1], json.loads(sys.argv[2])
group, name = settings["group"], settings.get("name")


class Credential:
    def get_token(self, *scopes, **kwargs):
        return AccessToken(settings.get("token", "test-token"), int(time.time()) + 3600)


# With `fresh`, each request has a connection of its own.
OF_CONNECTIONS = {"headers": {"Connection": "close"}} if settings.get("fresh") else {}


def networks():
    from azure.mgmt.network import NetworkManagementClient

    return NetworkManagementClient(Credential(), SUBSCRIPTION).virtual_networks


def compute():
    from azure.mgmt.compute import ComputeManagementClient

    return ComputeManagementClient(Credential(), SUBSCRIPTION, **OF_CONNECTIONS).virtual_machine_scale_sets


def security_groups():
    from azure.mgmt.network import NetworkManagementClient

    return NetworkManagementClient(Credential(), SUBSCRIPTION).network_security_groups


def await_others():
    """All clients of a race begin at once: when the barrier appears."""
    barrier = settings.get("barrier")
    if barrier:
        open(f"{barrier}.{settings['client']}", "w").close()
        while not os.path.exists(barrier):
            time.sleep(0.02)


def describe(error):
    return {"status": getattr(error, "status_code", None) or 0, "message": str(error)[:300]}


def member_names(resource):
    rules = getattr(resource, "security_rules", None) or []
    return sorted([*(resource.tags or {}), *(rule.name for rule in rules)])


def add_one(work, member, i, until, log):
    """Changes and writes back the whole resource; begins again, from the read, when refused with 412.

    If that read shows what was read before, the refusal was undeserved. Each write tells armsim's judge who it is and what it was built
    from. With `persist`, whatever else goes wrong is looked into by reading, until there is no time left.
    """
    read, change, write = work
    last_read = None
    for attempt in range(ATTEMPTS_MAX):
        if time.time() >= until:
            break
        try:
            resource = read()
            if settings.get("persist") and member in member_names(resource):
                return "found" if log["unsure"] else "done but refused"
            etag = getattr(resource, "etag", None)
            shown = member_names(resource) if settings.get("persist") else etag
            log["undeserved"] += last_read is not None and shown == last_read
            last_read = None
            change(resource, member, i)
            time.sleep(settings.get("think", 1000 * THINK_SECONDS) / 1000)
            headers = {"x-sim-write-id": f"{member}/{attempt}", "x-sim-client": settings["client"]}
            last_read = shown
            write(resource, {**headers, "x-sim-base-etag": etag} if etag else headers)
            return "acknowledged"
        except AzureError as error:
            if isinstance(error, HttpResponseError) and error.status_code == 412:
                log["refused"] += 1
                continue
            log["unsure"].append(describe(error))
            if not settings.get("persist"):
                return "failed"
            last_read = None
            time.sleep(THINK_SECONDS)
    return "unfinished"


def add_members(*works):
    """`writes` members, one after the other, to the `works` in turn; each is (read, change, write)."""
    adds = []
    await_others()
    until = time.time() + settings.get("seconds", 200)
    for i in range(settings["writes"]):
        log = {"name": f"{settings['client']}-{i}", "target": i % len(works), "refused": 0, "undeserved": 0, "unsure": []}
        started = time.time()
        log["outcome"] = add_one(works[log["target"]], log["name"], i, until, log)
        adds.append({**log, "ms": round(1000 * (time.time() - started))})
    return {"acknowledged": [log["name"] for log in adds if log["outcome"] == "acknowledged"],
            "refused": sum(log["refused"] for log in adds), "undeserved": sum(log["undeserved"] for log in adds),
            "errors": [error for log in adds if log["outcome"] == "failed" for error in log["unsure"]], "adds": adds}


def attempt(work):
    try:
        work()
        return {"ok": True}
    except AzureError as error:
        return {"ok": False, **describe(error)}


def tags_of_scale_set(set_name, version, wait=True):
    client = compute()

    def change(resource, member, _):
        resource.tags = {**(resource.tags or {}), member: settings["client"]}

    def write(resource, headers):
        polling = {"polling_interval": POLL_SECONDS} if wait else {"polling": False}
        client.begin_create_or_update(group, set_name, resource, api_version=version, headers=headers, **polling).result()

    return lambda: client.get(group, set_name, api_version=version), change, write


def rules_of_security_group(group_name):
    client = security_groups()

    def change(resource, member, i):
        from azure.mgmt.network.models import SecurityRule

        resource.security_rules = [*(resource.security_rules or []), SecurityRule(
            name=member, priority=settings["priority"] + i, direction="Inbound", access="Allow", protocol="Tcp",
            source_address_prefix="*", source_port_range="*", destination_address_prefix="*", destination_port_range="443")]

    def write(resource, headers):
        client.begin_create_or_update(group, group_name, resource, headers=headers, polling_interval=POLL_SECONDS).result()

    return lambda: client.get(group, group_name), change, write


def subnets_of_network(network_name):
    client = networks()

    def change(resource, member, i):
        from azure.mgmt.network.models import Subnet

        prefix = f"10.{settings['priority'] // 100}.{i}.0/24"
        resource.subnets = [*(resource.subnets or []), Subnet(name=member, address_prefix=prefix)]

    def write(resource, headers):
        client.begin_create_or_update(group, network_name, resource, headers=headers, polling_interval=POLL_SECONDS).result()

    return lambda: client.get(group, network_name), change, write


def count():
    """All count the same."""
    read, _, write = tags_of_scale_set(name, SCALE_SET_VERSION)

    def change(resource, *_):
        resource.sku.capacity += 1

    return add_members((read, change, write))


def change_once():
    """One change of what everybody has read before anybody writes, and no second try."""
    read, add_tag, write = tags_of_scale_set(name, SCALE_SET_VERSION)
    resource = read()
    if "capacity" in settings:
        resource.sku.capacity = settings["capacity"]
    else:
        add_tag(resource, settings["client"], 0)
    await_others()
    try:
        write(resource, {})
        return {"acknowledged": [settings["client"]], "refused": 0, "errors": []}
    except HttpResponseError as error:
        return {"acknowledged": [], "refused": int(error.status_code == 412), "errors": [], "shown": str(error)}


def tags_by_id(resource_id, version):
    """Of whatever resource, as one that the SDK knows nothing of."""
    from azure.mgmt.resource.resources import ResourceManagementClient

    client = ResourceManagementClient(Credential(), SUBSCRIPTION).resources

    def change(resource, member, _):
        resource.tags = {**(resource.tags or {}), member: settings["client"]}

    def write(resource, headers):
        client.begin_create_or_update_by_id(resource_id, version, resource, headers=headers, polling_interval=POLL_SECONDS).result()

    return lambda: client.get_by_id(resource_id, version), change, write


def restart():
    client = compute()
    return attempt(lambda: client.begin_restart(group, name).result())


def climb():
    """What an autoscaler does: reads, raises the capacity by one, writes the whole back, and waits for nothing."""
    client, refused, in_row, worst = compute(), 0, 0, 0
    for _ in range(settings["writes"]):
        resource = client.get(group, name, api_version=SCALE_SET_VERSION)
        resource.sku.capacity += 1
        try:
            client.begin_create_or_update(group, name, resource, api_version=SCALE_SET_VERSION, polling=False)
            in_row = 0
        except HttpResponseError as error:
            if error.status_code != 412:
                raise
            refused, in_row = refused + 1, in_row + 1
            worst = max(worst, in_row)
    return {"refused": refused, "worst": worst}


def write_rules():
    """What Terraform does: reads all its rules, then writes all of them at once."""
    from azure.mgmt.network import NetworkManagementClient

    client = NetworkManagementClient(Credential(), SUBSCRIPTION).security_rules
    names = [f"rule-{i}" for i in range(settings["writes"])]
    rules = [client.get(group, name, rule) for rule in names]

    def write(rule):
        rule.description = "changed"
        try:
            client.begin_create_or_update(group, name, rule.name, rule, polling_interval=POLL_SECONDS).result()
            return 200
        except HttpResponseError as error:
            return error.status_code

    with ThreadPoolExecutor(len(rules)) as pool:
        return {"statuses": list(pool.map(write, rules))}


COMMANDS = {
    "addTags": lambda: add_members(tags_of_scale_set(name, SCALE_SET_VERSION)),
    "addRules": lambda: add_members(rules_of_security_group(name)),
    "addSubnets": lambda: add_members(subnets_of_network(name)),
    "count": count,
    "changeOnce": change_once,
    # Starts one write after the other and waits for none; each is built on the read before it.
    "chain": lambda: add_members(tags_of_scale_set(name, SCALE_SET_VERSION, wait=False)),
    # To a scale set, a security group, and a scale set at an api-version without ETags.
    "addEverywhere": lambda: add_members(tags_of_scale_set("web", SCALE_SET_VERSION), rules_of_security_group("front"),
                                         tags_of_scale_set("old", settings["oldVersion"])),
    "addById": lambda: add_members(tags_by_id(settings["id"], settings["version"])),
    "addOld": lambda: add_members(tags_of_scale_set("old", settings["oldVersion"])),
    "restart": restart,
    "climb": climb,
    "writeRules": write_rules,
}
print(json.dumps(COMMANDS[command]()))
