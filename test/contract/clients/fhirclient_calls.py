"""Every call of fhirclient, SMART's own library for Python."""
import uuid
import warnings

import requests
from fhirclient.client import FHIRClient
from fhirclient.models.bundle import Bundle, BundleEntry, BundleEntryRequest
from fhirclient.models.fhirreference import FHIRReference
from fhirclient.models.fhirsearch import FHIRSearch
from fhirclient.models.observation import Observation
from fhirclient.models.patient import Patient
from fhirclient.server import (
    FHIRNotFoundException,
    FHIRPermissionDeniedException,
    FHIRServer,
    FHIRUnauthorizedException,
)

from outcomes import methods_of, outcomes_of, subject, report

# Two of the calls are deprecated.
warnings.simplefilter('ignore')
OF_STATUS = (FHIRUnauthorizedException, FHIRPermissionDeniedException, FHIRNotFoundException, requests.HTTPError)


def refused_of(error):
    return (error.response.status_code, error.response.text) if isinstance(error, OF_STATUS) else None


root, token, recipe = subject()
client = recipe['connect_fhirclient'](root, token)
server = client.server
value = str(uuid.uuid4())


def new(business_id=None):
    number = {'system': 'urn:mrn', 'value': business_id or str(uuid.uuid4())}
    return Patient({'identifier': [number], 'name': [{'family': 'Smartson'}], 'gender': 'other'})


patient = Patient.read(new(value).create(server)['id'], server)
client.patient_id = patient.id
observation = {'status': 'final', 'code': {'text': 'c'}, 'subject': {'reference': f'Patient/{patient.id}'}}
observed = Observation.read(Observation(observation).create(server)['id'], server)


def mine():
    return Patient.where({'identifier': value})


def the_one(found):
    assert [each.id for each in found] == [patient.id], found


def all_pages():
    for _ in range(2):
        new().create(server)
    found = [each.id for each in Patient.where({'name': 'smartson', '_count': '1'}).perform_resources_iter(server)]
    assert len(found) >= 3 and len(set(found)) == len(found)


def prepare():
    assert client.prepare() and client.server.capabilityStatement.fhirVersion == '4.0.1'


def update():
    patient.gender = 'female'
    assert patient.update()['meta']['versionId'] == '2'


def update_of_a_part():
    part = Patient.read_from(f'Patient/{patient.id}?_elements=gender', server)
    assert part.identifier is None
    part.gender = 'male'
    part.update()


def transaction():
    entry = BundleEntry({'request': {'method': 'POST', 'url': 'Patient'}, 'resource': new().as_json()})
    bundle = Bundle({'type': 'transaction'})
    bundle.entry = [entry]
    assert bundle.create(server)['entry'][0]['response']['status'] == '201 Created'


outcomes = outcomes_of({
    # Calls of the client and its server
    'prepare': prepare,
    'get_capability': lambda: server.get_capability(force=True),
    'patient': lambda: the_one([client.patient]),
    'request_json': lambda: server.request_json(f'Patient/{patient.id}'),
    'request_json of everything': lambda: server.request_json(f'Patient/{patient.id}/$everything'),
    'request_data': lambda: server.request_data(f'Patient/{patient.id}'),
    'post_json': lambda: server.post_json('Patient', new().as_json()),
    'post_as_form': lambda: server.post_as_form(f'{root}/Patient/_search', {'identifier': value}),
    'put_json': lambda: server.put_json(f'Patient/{patient.id}', patient.as_json()),
    'delete_json': lambda: server.delete_json(f'Patient/{patient.id}'),
    # Calls of a resource
    'read': lambda: the_one([Patient.read(patient.id, server)]),
    'read_from': lambda: Patient.read_from(f'Patient/{patient.id}/_history/1', server),
    'read_from of a history': lambda: Bundle.read_from(f'Patient/{patient.id}/_history', server),
    'create': lambda: new().create(server),
    'create a transaction': transaction,
    'update': update,
    'update of a part': update_of_a_part,
    'delete': lambda: patient.delete(),
    'resolved': lambda: the_one([observed.subject.resolved(Patient)]),
    # Calls of a search
    'where': lambda: the_one(mine().perform_resources(server)),
    'search': lambda: the_one(patient.search({'_id': patient.id}).perform_resources(server)),
    'search chained': lambda: Observation.where({'patient': {'name': 'smartson'}}).perform_resources(server),
    'search exactly': lambda: Patient.where({'name': {'$exact': 'Smartson'}}).perform_resources(server),
    'search by missing value': lambda: Patient.where({'gender': {'$missing': 'true'}}).perform_resources(server),
    'search by a day before': lambda: Patient.where({'birthdate': {'$lt': '2000'}}).perform_resources(server),
    'include': lambda: Observation.where({}).include('subject').perform_resources(server),
    'include in reverse': lambda: mine().include('subject', Observation, reverse=True).perform_resources(server),
    'perform': lambda: mine().perform(server),
    'perform_iter': lambda: list(mine().perform_iter(server)),
    'perform_resources': lambda: the_one(mine().perform_resources(server)),
    'perform_resources_iter': all_pages,
}, refused_of)
report(outcomes, methods_of(FHIRClient, FHIRServer, Patient, FHIRSearch, FHIRReference))
