"""Every call of fhirpy's synchronous client, and the calls of its asynchronous client that differ."""
import asyncio
import datetime
import json
import uuid

from fhirpy import AsyncFHIRClient, SyncFHIRClient
from fhirpy.base.exceptions import (
    BaseFHIRError,
    MultipleResourcesFound,
    OperationOutcome,
    ResourceNotFound,
)
from fhirpy.lib import SyncFHIRReference, SyncFHIRResource, SyncFHIRSearchSet

from outcomes import methods_of, outcomes_of, subject, report

STATUS = {ResourceNotFound: 404, MultipleResourcesFound: 412}


def refused_of(error):
    if not isinstance(error, BaseFHIRError):
        return None
    text = json.dumps(error.resource) if isinstance(error, OperationOutcome) else str(error)
    return STATUS.get(type(error)), text


root, token, recipe = subject()
client = recipe['connect_fhirpy'](root, token)
authorization = client.authorization
value = str(uuid.uuid4())


def new(business_id=None, **more):
    number = {'system': 'urn:mrn', 'value': business_id or str(uuid.uuid4())}
    return client.resource('Patient', identifier=[number], name=[{'family': 'Pyrenees'}], birthDate='1970-12-31', **more)


class Typed:
    """A client class, which the newer calls of fhirpy expect."""
    resourceType = 'Patient'

    def __init__(self, id=None, **content):
        self.id = id
        self.content = {**content, 'resourceType': 'Patient'}

    def dump(self):
        return self.content if self.id is None else {**self.content, 'id': self.id}


typed = SyncFHIRClient(root, authorization=authorization, dump_resource=Typed.dump)
patient = new(value, gender='other').save()
observed = client.resource(
    'Observation', status='final', code={'text': 'c'}, subject=patient.to_reference()).save()
patients = client.resources('Patient')
mine = patients.search(identifier=value)
observations = client.resources('Observation')
today = datetime.date(2026, 1, 1)


def the_one(found):
    assert [each.id for each in found] == [patient.id], found


def update_one():
    changed, created = mine.update(new(value, active=True))
    assert changed.id == patient.id and not created


def save_of_a_part():
    part = mine.elements('gender').first()
    assert 'identifier' not in part
    part['gender'] = 'female'
    part.save()


def elements():
    found, = mine.elements('gender').fetch()
    assert 'name' not in found and found.id == patient.id


def all_pages():
    for _ in range(2):
        new().save()
    found = patients.search(name='pyrenees').limit(1).fetch_all()
    assert len(found) >= 3 and len({each.id for each in found}) == len(found)


def is_valid():
    assert patient.is_valid()
    assert not client.resource('Patient', birthDate='x').is_valid()


def asynchronously():
    async def run():
        waiting = AsyncFHIRClient(root, authorization=authorization)
        made = waiting.resource('Patient', gender='other')
        await made.save()
        found = [each.id async for each in waiting.resources('Patient').search(_id=made.id)]
        assert found == [made.id]
        made['gender'] = 'female'
        await made.save()
        assert made['meta']['versionId'] == '2'
    asyncio.run(run())


outcomes = outcomes_of({
    # Calls of the client
    'get': lambda: the_one([typed.get(Typed, patient.id)]),
    'create': lambda: typed.create(Typed(gender='other')),
    'save': lambda: typed.save(Typed(gender='other')),
    'update': lambda: typed.update(typed.get(Typed, patient.id)),
    'patch': lambda: typed.patch(Typed, patient.id, gender='female'),
    'delete': lambda: typed.delete(Typed, patient.id),
    'execute': lambda: client.execute('Patient/$validate', data=new().serialize()),
    'execute $everything': lambda: client.execute(f'Patient/{patient.id}/$everything', method='get'),
    # Calls of a search
    'fetch': lambda: the_one(mine.fetch()),
    'fetch_raw': lambda: mine.fetch_raw()['entry'],
    'fetch_raw of a count': lambda: mine.search(_summary='count').fetch_raw()['total'],
    'fetch_all': all_pages,
    'first': lambda: the_one([mine.first()]),
    'get of a search': lambda: the_one([mine.get()]),
    'count': lambda: mine.count(),
    'limit': lambda: the_one(mine.limit(1).fetch()),
    'sort': lambda: the_one(mine.sort('-_lastUpdated').fetch()),
    'elements': elements,
    'elements but some': lambda: mine.elements('gender', exclude=True).fetch(),
    'search by date': lambda: the_one(mine.search(birthdate='1970-12-31').fetch()),
    'search by a day before': lambda: mine.search(birthdate__lt=today).fetch(),
    'search by the time of change': lambda: the_one(mine.search(_lastUpdated__ge=datetime.datetime(
        2000, 1, 1, tzinfo=datetime.timezone.utc)).fetch()),
    'search by reference': lambda: observations.search(patient=patient).get(),
    'search by subject': lambda: observations.search(subject=patient).fetch(),
    'search exactly': lambda: mine.search(name__exact='Pyrenees').fetch(),
    'search by missing value': lambda: mine.search(gender__missing=True).fetch(),
    'search chained': lambda: observations.search(patient__Patient__name='Pyrenees').fetch(),
    'include': lambda: observations.include('Observation', 'patient').fetch(),
    'revinclude': lambda: mine.revinclude('Observation', 'patient').fetch(),
    'has': lambda: mine.has('Observation', 'patient', code='c').fetch(),
    'execute of a search': lambda: patients.execute('$validate', data=new().serialize()),
    'get_or_create': lambda: mine.get_or_create(new(value)),
    'update by search': update_one,
    'patch by search': lambda: mine.patch(gender='female'),
    'delete by search': lambda: mine.delete(),
    # Calls of a resource
    'create of a resource': lambda: new().create(),
    'create of a resource by search': lambda: new(value).create(identifier=value),
    'save of a resource': lambda: new().save(),
    'save of a part': save_of_a_part,
    'save of some fields': lambda: patient.save(fields=['gender']),
    'update of a resource': lambda: patient.update(),
    'patch of a resource': lambda: client.get('Patient', patient.id) and patient.to_resource().patch(gender='female'),
    'delete of a resource': lambda: patient.delete(),
    'refresh': lambda: patient.refresh(),
    'is_valid': is_valid,
    'execute of a resource': lambda: patient.execute('$validate', data=patient.serialize()),
    # Calls of a reference
    'to_resource': lambda: the_one([observed['subject'].to_resource()]),
    'to_reference': lambda: patient.to_reference(),
    'execute of a reference': lambda: patient.to_reference().execute('$validate', data=patient.serialize()),
    'patch of a reference': lambda: patient.to_reference().patch(gender='male'),
    'delete of a reference': lambda: patient.to_reference().delete(),
    'asynchronously': asynchronously,
}, refused_of)
report(outcomes, methods_of(SyncFHIRClient, SyncFHIRSearchSet, SyncFHIRResource, SyncFHIRReference))
