#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 The adgateway authors
# MIT License (see LICENSE or https://opensource.org/licenses/MIT)
# Generated from the operations of the gateway.

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r'''
module: computer
short_description: Manage a computer
version_added: "1.0.0"
author:
  - The adgateway authors (@adgateway)
description:
  - "Creates, changes or removes a computer through a gateway. Values that are not given do not change."
  - "The gateway first plans the change in a dry run. The change is then made exactly as planned, or not at all."
extends_documentation_fragment:
  - adgateway.ad.gateway
notes:
  - Check mode and diff mode are supported.
  - "Requires the scopes computer:delete, computer:read, computer:write."
options:
  description:
    description:
      - "Description."
    type: str
  enabled:
    description:
      - "Whether the account is enabled."
    type: bool
  force:
    description:
      - "Whether to remove the protection from accidental deletion first."
    type: bool
  name:
    description:
      - "NetBIOS name of the computer."
    type: str
    required: true
  ou_path:
    description:
      - "OU or container for the computer. If absent, the computer is created in the domain's container for computers."
    type: str
  reason:
    description:
      - "Reason for the change, for the plan, the history, and the audit log."
    type: str
  recursive:
    description:
      - "Whether to remove all objects below it, too."
    type: bool
  state:
    description:
      - "State to ensure: whether the computer exists."
    type: str
    choices:
      - "present"
      - "absent"
    default: "present"
'''

EXAMPLES = r'''
- name: "Ensure that the computer is present"
  adgateway.ad.computer:
    name: "PC042"
    description: ""
    ou_path: "OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"
    state: present
- name: "Ensure that the computer is absent"
  adgateway.ad.computer:
    name: "PC042"
    state: absent
'''

RETURN = r'''
output:
  description: Sentence that describes the outcome.
  returned: success
  type: str
plans:
  description: IDs of the plans of the changes that were made or, in check mode, would be made.
  returned: success
  type: list
  elements: str
code:
  description: Error code, such as C(not_found). C(msg) contains the error message.
  returned: failure
  type: str
details:
  description: All problems of a rejected call, each with the name of the field.
  returned: failure
  type: list
  elements: dict
request_id:
  description: ID of the failed request, which identifies it in the log and the audit log of the gateway.
  returned: failure
  type: str
result:
  description: Record of the object.
  returned: I(state=present), except in check mode for an object that would be created
  type: dict
  contains:
    guid:
      description: "Value in the directory."
      type: str
    sid:
      description: "Value in the directory."
      type: str
    computerName:
      description: "Value in the directory."
      type: str
    samName:
      description: "Value in the directory."
      type: str
    operatingSystem:
      description: "Value in the directory."
      type: str
    operatingSystemVersion:
      description: "Value in the directory."
      type: str
    description:
      description: "Value in the directory."
      type: str
    dnsName:
      description: "Value in the directory."
      type: str
    path:
      description: "Value in the directory."
      type: str
    distinguishedName:
      description: "Value in the directory."
      type: str
    enabled:
      description: "Value in the directory."
      type: bool
    lastLogon:
      description: "Value in the directory."
      type: str
    passwordLastSet:
      description: "Value in the directory."
      type: str
    created:
      description: "Value in the directory."
      type: str
    modified:
      description: "Value in the directory."
      type: str
'''

from ansible_collections.adgateway.ad.plugins.module_utils.gateway import reach_state

SPEC = {
    'create': {
        'id': 'computer.register',
        'method': 'POST',
        'parameters': {'ADComputerDescription': 'description', 'ADComputerName': 'name', 'OUPath': 'ou_path', 'Reason': 'reason'},
        'path': '/api/Computers/{ADComputerName}/Register',
        'places': {'ADComputerName': 'ADComputerName'},
    },
    'delete': {
        'id': 'computer.delete',
        'method': 'DELETE',
        'parameters': {'ADComputerName': 'name', 'Force': 'force', 'Reason': 'reason', 'Recursive': 'recursive'},
        'path': '/api/Computers/{ADComputerName}/Remove',
        'places': {'ADComputerName': 'ADComputerName'},
    },
    'identity': ['name'],
    'options': {
        'description': {'type': 'str'},
        'enabled': {'type': 'bool'},
        'force': {'type': 'bool'},
        'name': {'required': True, 'type': 'str'},
        'ou_path': {'type': 'str'},
        'reason': {'type': 'str'},
        'recursive': {'type': 'bool'},
        'state': {'choices': ['present', 'absent'], 'default': 'present', 'type': 'str'},
    },
    'read': {
        'id': 'computer.get',
        'method': 'GET',
        'parameters': {'ADComputerName': 'name'},
        'path': '/api/Computers/{ADComputersName}',
        'places': {'ADComputerName': 'ADComputersName'},
    },
    'switch': {
        'off': {
            'id': 'computer.disable',
            'method': 'PUT',
            'parameters': {'ADComputerName': 'name', 'Reason': 'reason'},
            'path': '/api/Computers/{ADComputerName}/Disable',
            'places': {'ADComputerName': 'ADComputerName'},
        },
        'on': {
            'id': 'computer.enable',
            'method': 'PUT',
            'parameters': {'ADComputerName': 'name', 'Reason': 'reason'},
            'path': '/api/Computers/{ADComputerName}/Enable',
            'places': {'ADComputerName': 'ADComputerName'},
        },
    },
    'title': 'computer',
    'update': [
        {
            'id': 'computer.update',
            'method': 'PUT',
            'parameters': {'ADComputerName': 'name', 'ComputerDescription': 'description', 'Reason': 'reason'},
            'path': '/api/Computers/{ADComputerName}/Update',
            'places': {'ADComputerName': 'ADComputerName'},
        },
        {
            'id': 'computer.move',
            'method': 'PUT',
            'parameters': {'ADComputerName': 'name', 'OUPath': 'ou_path', 'Reason': 'reason'},
            'path': '/api/Computers/{ADComputerName}/Move',
            'places': {'ADComputerName': 'ADComputerName'},
        },
    ],
}


def main():
    reach_state(SPEC)


if __name__ == '__main__':
    main()
