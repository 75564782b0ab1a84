# -*- coding: utf-8 -*-
# Copyright (c) 2026 The adgateway authors
# MIT License (see LICENSE or https://opensource.org/licenses/MIT)
"""What all modules of the collection have in common: calls of a gateway, and states.

A state is reached by plans. A dry run says what a call would change; if that is nothing,
nothing is sent. Otherwise its plan is the diff, and, without check mode, the call is sent
again with the plan's id: the gateway makes exactly that change, or none. So a change is
never made against a state that nobody has seen, and tokens that must guard their changes
(http.requireGuard) need nothing more. Each change has an Idempotency-Key and runs once,
however often it is sent.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import json
import ssl
import time
import uuid

from ansible.module_utils.basic import AnsibleModule, env_fallback
from ansible.module_utils.common.text.converters import to_native, to_text
from ansible.module_utils.six.moves.urllib.error import HTTPError
from ansible.module_utils.six.moves.urllib.parse import quote, urlencode, urlsplit
from ansible.module_utils.urls import SSLValidationError, open_url

LOCAL = ('localhost', '127.0.0.1', '::1')

# Answers after which the same call is sent again. A change has an idempotency key, so it is never made twice.
BUSY = (429, 502, 503, 504)


def connection_options():
    """The options of every module that say where the gateway is and who calls."""
    return dict(
        gateway_url=dict(type='str', required=True, fallback=(env_fallback, ['ADGATEWAY_URL', 'GATEWAY_URL'])),
        token=dict(type='str', required=True, no_log=True, fallback=(env_fallback, ['ADGATEWAY_TOKEN', 'GATEWAY_TOKEN'])),
        ca_path=dict(type='path', fallback=(env_fallback, ['ADGATEWAY_CA_PATH', 'GATEWAY_CA_PATH'])),
        timeout=dict(type='int', default=120),
        retry_seconds=dict(type='int', default=60),
    )


class Refused(Exception):
    """An answer that is an error of the gateway."""

    def __init__(self, status, error):
        super(Refused, self).__init__(error.get('message', ''))
        self.status = status
        self.error = error

    @property
    def code(self):
        return self.error.get('code')


class Gateway(object):
    """Calls a gateway with the options of a module."""

    def __init__(self, module):
        self.module = module
        self.address = module.params['gateway_url'].rstrip('/')
        parts = urlsplit(self.address)
        if parts.scheme not in ('http', 'https') or not parts.hostname or parts.path or parts.query or '@' in parts.netloc:
            module.fail_json(msg="gateway_url is '%s': it must be the address of a gateway, such as https://gateway.corp.example:8443, without /api" % self.address)
        if parts.scheme == 'http' and parts.hostname not in LOCAL:
            module.fail_json(msg="gateway_url is '%s': without TLS, the token could be read in transit; http is allowed only for a gateway on the same computer" % self.address)

    def call(self, operation, values, key=None):
        """Calls an operation and returns its answer. A busy gateway is asked again."""
        path = operation['path']
        sent = {}
        for name, value in values.items():
            place = operation['places'].get(name)
            if place is None:
                sent[name] = value
            else:
                path = path.replace('{%s}' % place, quote(to_text(value).encode('utf-8'), safe=''))
        headers = {'Authorization': 'Bearer ' + self.module.params['token'], 'Accept': 'application/json'}
        if key:
            headers['Idempotency-Key'] = key
        body = None
        if operation['method'] in ('GET', 'DELETE'):
            if sent:
                path += '?' + urlencode(sorted((name, to_text(value).encode('utf-8')) for name, value in sent.items()))
        else:
            headers['Content-Type'] = 'application/json; charset=utf-8'
            body = json.dumps(sent)
        end = time.time() + self.module.params['retry_seconds']
        pause = 1.0
        while True:
            status, wait, answer = self.send(operation['method'], path, headers, body)
            error = answer.get('error') or {}
            if status < 400 and not error:
                return answer
            repeats = status in BUSY or error.get('code') == 'in_progress'
            left = end - time.time()
            pause = max(pause, wait)
            if not repeats or pause > left:
                raise Refused(status, error)
            time.sleep(pause)
            pause = min(pause * 2, 15.0)

    def send(self, method, path, headers, body):
        """Sends one request; returns status, seconds to wait, and the answer."""
        try:
            answer = open_url(
                self.address + path, data=body, headers=headers, method=method, timeout=self.module.params['timeout'],
                ca_path=self.module.params['ca_path'], follow_redirects='none', http_agent='adgateway.ad', use_netrc=False)
            status = answer.getcode()
        except HTTPError as problem:
            answer, status = problem, problem.code
        except Exception as problem:  # connections fail in many ways, each with its own message
            # The change may have been made. With its key, it can be sent again. An untrusted certificate
            # stays untrusted, so that is not retried.
            trust = isinstance(problem, SSLValidationError) or isinstance(getattr(problem, 'reason', problem), ssl.SSLError)
            return 495 if trust else 503, 0, {'error': {'code': 'no_answer', 'message': 'The gateway at %s gave no answer: %s' % (self.address, to_native(problem))}}
        try:
            wait = float(answer.headers.get('Retry-After') or 0)
        except ValueError:
            wait = 0
        try:
            content = json.loads(to_text(answer.read()))
            if not isinstance(content, dict) or (status >= 300 and not content.get('error')):
                raise ValueError()
        except ValueError:
            if status < 300:
                status = 502
            content = {'error': {'code': 'no_answer', 'message': '%s answered with status %d, and not as a gateway does' % (self.address, status)}}
        return status, wait, content


def escaped(text):
    """Returns a value as part of a distinguished name (RFC 4514)."""
    out = ''.join('\\' + c if c in ',+"\\<>;=' else c for c in text)
    if out[:1] in (' ', '#'):
        out = '\\' + out
    if len(text) > 1 and text.endswith(' '):
        out = out[:-1] + '\\ '
    return out


class Resource(object):
    """Brings an object into a state, by the operations of a module."""

    def __init__(self, module, spec):
        self.module = module
        self.spec = spec
        self.gateway = Gateway(module)
        self.options = dict(module.params)
        for name, (kind, own, parent) in spec.get('joined', {}).items():
            self.options[name] = '%s=%s,%s' % (kind, escaped(self.options[own]), self.options[parent])
        self.before = {}
        self.after = {}
        self.headers = []
        self.plans = []
        self.changed = False
        self.output = None
        self.record = None

    def values(self, operation, without=()):
        """The parameters of an operation that the options give."""
        found = {}
        for name, option in operation['parameters'].items():
            value = self.options.get(option)
            if value is None or option in without:
                continue
            if isinstance(value, bool):
                value = 'true' if value else 'false'
            found[name] = value
        return found

    def read(self):
        """Returns the record, or None if there is none."""
        operation = self.spec['read']
        try:
            answer = self.gateway.call(operation, self.values(operation))
        except Refused as problem:
            if problem.status == 404 and problem.code == 'not_found':
                return None
            raise
        self.output = answer.get('output')
        record = (answer.get('result') or [None])[0]
        return None if record is not None and record.get('exists') is False else record

    def make(self, operation, values):
        """Makes a change unless there is nothing to change."""
        answer = self.gateway.call(operation, dict(values, DryRun='true'))
        plan = answer['plan']
        if plan['effect'] == 'none':
            return
        self.output = answer.get('output')
        if self.module.check_mode:
            self.keep(plan)
            self.changed = True
            for check in plan.get('checks') or []:
                if check['state'] == 'failed':
                    self.module.warn(check['message'])
            return
        answer = self.gateway.call(operation, dict(values, PlanId=plan['id']), key=str(uuid.uuid4()))
        self.keep(plan)
        self.changed = True
        self.output = answer.get('output')
        self.record = (answer.get('result') or [None])[0]
        for warning in answer.get('warnings') or []:
            self.module.warn(warning['message'])

    def keep(self, plan):
        """Adds what a plan would change to the diff."""
        self.plans.append(plan['id'])
        for item in plan.get('objects') or []:
            name = item.get('distinguishedName') or self.spec['title']
            if name not in self.headers:
                self.headers.append(name)
            for change in item.get('changes') or []:
                field = change['field']
                if len(plan['objects']) > 1:
                    field = '%s: %s' % (name, field)
                for side, values in (('before', self.before), ('after', self.after)):
                    if change.get(side) is not None and not (side == 'before' and field in self.after):
                        values[field] = change[side]

    def create(self):
        """Creates the object, and then sets what can only be set of one that is there."""
        operation = self.spec['create']
        if 'choice' in self.spec:
            operation = operation[self.options[self.spec['choice']]]
        self.make(operation, self.values(operation))
        self.update(tuple(option for option in operation['parameters'].values() if option not in self.spec['identity']))

    def update(self, without=()):
        for operation in self.spec['update']:
            values = self.values(operation, without)
            given = dict((option, self.options[option]) for name, option in operation['parameters'].items() if name in values and option not in self.spec['identity'])
            if given and self.module.check_mode and self.record is None:
                self.after.update(given)  # an object that does not exist yet has nothing else to read
            elif given:
                self.make(operation, values)

    def switch(self):
        """Enables or disables the object, once it is there."""
        switch = self.spec.get('switch')
        wanted = self.options.get('enabled')
        if switch and wanted is not None and self.module.check_mode and self.record is None:
            self.after['enabled'] = wanted
            return
        if not switch or wanted is None or (self.record or {}).get('enabled') in (None, wanted):
            return
        operation = switch['on' if wanted else 'off']
        self.make(operation, self.values(operation))

    def reach(self):
        """Brings the object into the state that was asked for."""
        found = self.record = self.read()
        if self.options['state'] == 'absent':
            if found is not None:
                operation = self.spec['delete']
                self.make(operation, self.values(operation))
            return
        if found is None:
            self.create()
        elif self.options.get('update_password') == 'always':
            self.update()
        else:
            self.update(tuple(self.spec.get('secrets', ())))
        self.switch()

    def result(self):
        result = dict(changed=self.changed, output=self.output, plans=self.plans)
        if self.options['state'] == 'present' and self.record is not None:
            result['result'] = self.record
        if self.changed:
            header = ', '.join(self.headers)
            result['diff'] = dict(before=self.before, after=self.after, before_header=header, after_header=header)
        return result


class Members(Resource):
    """Gives a group members, takes them away, or makes it have exactly these."""

    def reach(self):
        operation = self.spec[self.options['state']]
        if self.options['state'] != 'exact' and not self.options['members']:
            return
        self.make(operation, self.values(operation))

    def values(self, operation, without=()):
        found = super(Members, self).values(operation, without)
        if operation['method'] == 'DELETE':  # in the query, the array is sent as JSON text
            found['Members'] = json.dumps([to_text(name) for name in self.options['members']])
        return found

    def result(self):
        result = super(Members, self).result()
        result.pop('result', None)
        if self.record is not None:
            result['result'] = self.record
        return result


class Change(Resource):
    """Makes one change, by any operation."""

    def reach(self):
        operation = self.spec['operation']
        values = parameters_of(self.module, operation)
        if operation.get('previews'):
            self.make(operation, values)
            return
        if self.module.check_mode:
            self.changed = not operation.get('reveals')
            return
        answer = self.gateway.call(operation, values, key=None if operation.get('reveals') else str(uuid.uuid4()))
        self.changed = not operation.get('reveals')
        self.output = answer.get('output')
        self.records = answer.get('result') or []
        for warning in answer.get('warnings') or []:
            self.module.warn(warning['message'])

    def result(self):
        self.options['state'] = None
        result = super(Change, self).result()
        result['records'] = getattr(self, 'records', None) or ([self.record] if self.record is not None else [])
        return result


def parameters_of(module, operation):
    """The option parameters as an operation takes them."""
    in_query = operation['method'] in ('GET', 'DELETE')
    values = {}
    for name, value in module.params['parameters'].items():
        if isinstance(value, bool):
            value = 'true' if value else 'false'
        elif isinstance(value, list) and in_query:
            value = ','.join(to_text(item) for item in value)
        values[name] = value
    missing = sorted(set(operation['places']) - set(values))
    if missing:
        module.fail_json(msg='parameters must have %s for %s' % (', '.join(missing), module.params['operation']))
    return values


def explain(module, problem):
    """Ends the module with the error of an answer."""
    error = problem.error
    module.fail_json(
        msg=error.get('message') or 'the gateway answered with status %d' % problem.status, status=problem.status, code=error.get('code'),
        details=error.get('details') or [], outcome=error.get('outcome'), request_id=error.get('requestId'))


def reach_state(spec):
    """Runs a module that keeps an object in a state."""
    options = connection_options()
    options.update(spec['options'])
    module = AnsibleModule(argument_spec=options, supports_check_mode=True, required_if=spec.get('required_if', []))
    run(module, spec, Resource)


def run(module, spec, kind):
    """Brings a resource of a kind into its state, and ends the module."""
    for turn in (1, 2, 3):
        resource = kind(module, spec)
        try:
            resource.reach()
        except Refused as problem:
            # Somebody else changed the object meanwhile: read it again.
            if problem.code == 'drifted' and turn < 3 and not resource.changed:
                continue
            explain(module, problem)
        module.exit_json(**resource.result())


def query(operations):
    """Runs the module that reads."""
    options = connection_options()
    options.update(operation=dict(type='str', required=True, choices=sorted(operations)), parameters=dict(type='dict', default={}))
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    operation = operations[module.params['operation']]
    values = parameters_of(module, operation)
    gateway = Gateway(module)
    records = []
    try:
        while True:
            answer = gateway.call(operation, values)
            records.extend(answer.get('result') or [])
            if not answer.get('next'):
                break
            values['After'] = answer['next']
    except Refused as problem:
        explain(module, problem)
    for warning in answer.get('warnings') or []:
        module.warn(warning['message'])
    module.exit_json(changed=False, records=records, output=answer.get('output'))


def reach_members(spec):
    """Runs the module that keeps the members of a group."""
    options = connection_options()
    options.update(spec['options'])
    run(AnsibleModule(argument_spec=options, supports_check_mode=True), spec, Members)


def change(operations):
    """Runs the module that makes one change."""
    options = connection_options()
    options.update(operation=dict(type='str', required=True, choices=sorted(operations)), parameters=dict(type='dict', default={}))
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    operation = operations[module.params['operation']]
    if operation.get('secret') and not module.no_log:
        module.fail_json(msg='the answer of %s contains a secret: set no_log to true for the task' % module.params['operation'])
    run(module, {'title': module.params['operation'], 'operation': operation}, Change)
