#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright (c) 2026 The adgateway authors
# MIT License (see LICENSE or https://opensource.org/licenses/MIT)
# Generated from the operations of the gateway.

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r'''
module: computer
short_description: Keep a computer in a state
version_added: "1.0.0"
author:
  - The adgateway authors (@adgateway)
description:
  - "Creates, changes or removes a computer through a gateway. What is not given stays as it is."
  - "A dry run tells what would be changed; the change is made exactly as it was shown, or not at all."
extends_documentation_fragment:
  - adgateway.ad.gateway
notes:
  - Check mode and diff mode are supported.
  - "Needs the scopes computer:delete, computer:read, computer:write."
options:
  description:
    description:
      - "Text for the attribute description, of several lines if need be."
    type: str
  enabled:
    description:
      - "Whether the account is enabled."
    type: bool
  force:
    description:
      - "Lift protection from accidental deletion first."
    type: bool
  name:
    description:
      - "The computer's NetBIOS name."
    type: str
    required: true
  ou_path:
    description:
      - "The OU or container that will hold it; the domain's Computers container when absent."
    type: str
  reason:
    description:
      - "Why, for the plan, the history and the audit log."
    type: str
  recursive:
    description:
      - "Remove all that is below it, too."
    type: bool
  state:
    description:
      - "Whether the computer is to be there."
    type: str
    choices:
      - "present"
      - "absent"
    default: "present"
'''

EXAMPLES = r'''
- name: "The computer is there"
  adgateway.ad.computer:
    name: "PC042"
    description: ""
    ou_path: "OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"
    state: present
- name: "The computer is not there"
  adgateway.ad.computer:
    name: "PC042"
    state: absent
'''

RETURN = r'''
output:
  description: The gateway's sentence about what was done.
  returned: success
  type: str
plans:
  description: The ids of the plans of what was, or in check mode would be, changed.
  returned: success
  type: list
  elements: str
code:
  description: The gateway's code of an error, such as C(not_found). The sentence is in C(msg).
  returned: failure
  type: str
details:
  description: Every problem of a call that was refused, with the field that it is about.
  returned: failure
  type: list
  elements: dict
request_id:
  description: The id of a call that failed, by which the gateway's log and audit name it.
  returned: failure
  type: str
result:
  description: The record of what is there.
  returned: I(state=present), except in check mode for what would be created
  type: dict
  contains:
    guid:
      description: "As the directory has it."
      type: str
    sid:
      description: "As the directory has it."
      type: str
    computerName:
      description: "As the directory has it."
      type: str
    samName:
      description: "As the directory has it."
      type: str
    operatingSystem:
      description: "As the directory has it."
      type: str
    operatingSystemVersion:
      description: "As the directory has it."
      type: str
    description:
      description: "As the directory has it."
      type: str
    dnsName:
      description: "As the directory has it."
      type: str
    path:
      description: "As the directory has it."
      type: str
    distinguishedName:
      description: "As the directory has it."
      type: str
    enabled:
      description: "As the directory has it."
      type: bool
    lastLogon:
      description: "As the directory has it."
      type: str
    passwordLastSet:
      description: "As the directory has it."
      type: str
    created:
      description: "As the directory has it."
      type: str
    modified:
      description: "As the directory has it."
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
