"""domain_of_samba.py FOLDER PORT NAME: provisions a domain controller of Samba whose KDC listens at
127.0.0.2:PORT, with people, groups in groups, and the key of HTTP/NAME in FOLDER/gateway.keytab. samba-tool
would insist on access lists for SYSVOL, which need a file system that has such lists."""

import logging
import os
import sys

import samba.dckeytab  # gives Net its export_keytab
from samba.auth import system_session
from samba.dsdb import DS_DOMAIN_FUNCTION_2008_R2
from samba.net import Net
from samba.param import LoadParm
from samba.provision import provision

folder, port, gateway = sys.argv[1:]
conf = folder + "/etc/smb.conf"
password = "Secret-1"
for name in ["etc", "private", "state/sysvol", "cache", "lock", "run", "dns"]:
    os.makedirs(f"{folder}/{name}", exist_ok=True)
with open(conf, "w") as file:
    file.write(f"""[global]
    netbios name = DC1
    workgroup = CORP
    realm = CORP.EXAMPLE
    server role = active directory domain controller
    server services = kdc
    interfaces = 127.0.0.2/8
    bind interfaces only = yes
    krb5 port = {port}
    kpasswd port = 0
    private dir = {folder}/private
    state directory = {folder}/state
    cache directory = {folder}/cache
    lock directory = {folder}/lock
    pid directory = {folder}/run
    ncalrpc dir = {folder}/run
    binddns dir = {folder}/dns
    log file = {folder}/log
[sysvol]
    path = {folder}/state/sysvol
[netlogon]
    path = {folder}/state/sysvol/corp.example/scripts
""")
domain = provision(
    logging.getLogger("provision"), system_session(), smbconf=conf, realm="CORP.EXAMPLE", domain="CORP",
    hostname="dc1", hostip="127.0.0.1", adminpass=password, serverrole="active directory domain controller",
    dns_backend="NONE", dom_for_fun_level=DS_DOMAIN_FUNCTION_2008_R2, skip_sysvolacl=True)
directory = domain.samdb

for name in ["helpdesk", "operator", "nobody", "svc-http"]:
    directory.newuser(name, password)
kinds = {"global": 0x80000002 - (1 << 32), "local": 0x80000004 - (1 << 32), "universal": 0x80000008 - (1 << 32)}
for name, kind, members in [
    ("Berlin", "global", ["helpdesk"]),
    ("Desks", "universal", ["Berlin"]),
    ("GW-Nested", "local", ["Desks"]),
    ("GW-Helpdesk", "global", ["helpdesk", "operator"]),
    ("GW-Operators", "local", ["operator"]),
]:
    directory.newgroup(name, grouptype=kinds[kind])
    directory.add_remove_group_members(name, members, add_members_operation=True)
service = str(directory.search(expression="(sAMAccountName=svc-http)", attrs=[])[0].dn)
directory.modify_ldif(f"""dn: {service}
changetype: modify
add: servicePrincipalName
servicePrincipalName: HTTP/{gateway}
-
replace: msDS-SupportedEncryptionTypes
msDS-SupportedEncryptionTypes: 24
""")
Net(None, LoadParm(conf)).export_keytab(keytab=folder + "/gateway.keytab", principal="HTTP/" + gateway)
