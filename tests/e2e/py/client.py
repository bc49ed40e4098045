"""A tool that uses the Azure SDK for Python as its documentation shows: python3 client.py COMMAND SETTINGS_AS_JSON.

Prints one JSON value: what was acknowledged and what was refused, as this client saw it.
"""
import json
import os
import sys
import time

from azure.core.credentials import AccessToken
from azure.core.exceptions import AzureError, HttpResponseError

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
SCALE_SET_VERSION = "2024-07-01"  # the SDK's own default is older than the first that knows ETags
THINK_SECONDS = 0.03
ATTEMPTS_MAX = 100

command, settings = sys.argv[1], json.loads(sys.argv[2])
group, name = settings["group"], settings["name"]


class Credential:
    def get_token(self, *scopes, **kwargs):
        return AccessToken(settings.get("token", "test-token"), int(time.time()) + 3600)


def compute():
    from azure.mgmt.compute import ComputeManagementClient

    return ComputeManagementClient(Credential(), SUBSCRIPTION).virtual_machine_scale_sets


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


def read_modify_write(read, change, write):
    """Changes and writes back the whole resource `writes` times; begins again, from the read, when refused with 412.

    If that read shows what was read before, the refusal was undeserved.
    """
    result = {"acknowledged": [], "refused": 0, "undeserved": 0, "errors": []}
    await_others()
    for i in range(settings["writes"]):
        member = f"{settings['client']}-{i}"
        last_read = None
        for _ in range(ATTEMPTS_MAX):
            try:
                resource = read()
                etag = getattr(resource, "etag", None)
                result["undeserved"] += last_read is not None and etag == last_read
                last_read = etag
                change(resource, member, i)
                time.sleep(THINK_SECONDS)
                write(resource)
                result["acknowledged"].append(member)
                break
            except AzureError as error:
                if not (isinstance(error, HttpResponseError) and error.status_code == 412):
                    result["errors"].append(describe(error))
                    break
                result["refused"] += 1
    return result


def attempt(work):
    try:
        work()
        return {"ok": True}
    except AzureError as error:
        return {"ok": False, **describe(error)}


def write_scale_set(client, resource, **options):
    return client.begin_create_or_update(group, name, resource, api_version=SCALE_SET_VERSION, **options)


def add_tags():
    client = compute()

    def change(resource, member, _):
        resource.tags = {**(resource.tags or {}), member: settings["client"]}

    return read_modify_write(lambda: client.get(group, name, api_version=SCALE_SET_VERSION), change,
                             lambda resource: write_scale_set(client, resource).result())


def add_rules():
    client = security_groups()

    def change(resource, member, i):
        from azure.mgmt.network.models import SecurityRule

        resource.security_rules = [*(resource.security_rules or []), SecurityRule(
            name=member, priority=settings["priority"] + i, direction="Inbound", access="Allow", protocol="Tcp",
            source_address_prefix="*", source_port_range="*", destination_address_prefix="*", destination_port_range="443")]

    def write(resource):
        client.begin_create_or_update(group, name, resource, headers={"x-sim-base-etag": resource.etag}).result()

    return read_modify_write(lambda: client.get(group, name), change, write)


def restart():
    client = compute()
    return attempt(lambda: client.begin_restart(group, name).result())


def chain():
    """Starts one write after the other and waits for none; each is built on the read before it."""
    client = compute()

    def change(resource, member, _):
        resource.tags = {**(resource.tags or {}), member: "1"}

    return read_modify_write(lambda: client.get(group, name, api_version=SCALE_SET_VERSION), change,
                             lambda resource: write_scale_set(client, resource, polling=False))


COMMANDS = {"addTags": add_tags, "addRules": add_rules, "restart": restart, "chain": chain}
print(json.dumps(COMMANDS[command]()))
