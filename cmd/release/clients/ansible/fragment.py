# -*- coding: utf-8 -*-
# Copyright (c) 2026 The adgateway authors
# MIT License (see LICENSE or https://opensource.org/licenses/MIT)

from __future__ import absolute_import, division, print_function

__metaclass__ = type


class ModuleDocFragment(object):
    """The common options of all modules of the collection."""

    DOCUMENTATION = r'''
options:
  gateway_url:
    description:
      - Address of the gateway without C(/api), such as C(https://gateway.corp.example:8443).
      - If not set, the environment variable C(ADGATEWAY_URL) is used.
      - C(http) is allowed only for a gateway on the same computer.
    type: str
    required: true
  token:
    description:
      - Token of the gateway, in the standard dialect.
      - If not set, the environment variable C(ADGATEWAY_TOKEN) is used.
    type: str
    required: true
  ca_path:
    description:
      - PEM file with certificates of authorities to trust in addition to those that the computer trusts.
      - If not set, the environment variable C(ADGATEWAY_CA_PATH) is used.
    type: path
  timeout:
    description:
      - Time to wait for an answer, in seconds. A change that takes longer continues at the gateway.
    type: int
    default: 120
  retry_seconds:
    description:
      - Time during which a call is repeated if the gateway is busy or unreachable (429, 502, 503, 504), in seconds.
      - The pause is the time in C(Retry-After). A repeated change has the same C(Idempotency-Key).
    type: int
    default: 60
requirements:
  - A gateway that is reachable from the computer on which the module runs.
'''
