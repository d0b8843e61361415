/** What stays as it is, what may be added, and what has changed: for whoever builds on the interface. */
import { RESOURCE_TYPES } from '../../../shared/resource-type.ts';
import { API_VERSION } from '../api-version.ts';
import { referencePath, type Site, TextPage } from './frame.tsx';

/** The newest first. */
const VERSIONS: readonly { readonly version: string; readonly changes: readonly string[] }[] = [
  {
    version: API_VERSION,
    changes: ['The first version: token service, FHIR R4, Bulk Data 2.0.0, HL7 v2 over HTTP and MLLP, administration.'],
  },
];

export const ChangesPage = ({ site }: { site: Site }) => (
  <TextPage site={site} page="changes" heading="Versions">
    <p class="lead">
      The interface has version {API_VERSION}, as <a href={`${referencePath(site)}/openapi.json`}>openapi.json</a> says.
      FHIR is R4 (4.0.1); messages are read as HL7 v2.5.1.
    </p>
    <section aria-labelledby="rules">
      <h2 id="rules">What you can build on</h2>
      <ul>
        <li>
          <strong>Additions come at any time</strong> and change the second number: operations, optional parameters,
          members of answers, headers, codes in <code>ERR-5</code>. Let your program leave alone what it does not know.
        </li>
        <li>
          <strong>What breaks a client changes the first number</strong>: it is said here beforehand, and what was there
          goes on beside it.
        </li>
        <li>
          <strong>Ids, ETags and cursors are opaque</strong>, and so are the sentences in <code>diagnostics</code>,{' '}
          <code>error_description</code> and <code>ERR-8</code>: decide by codes and statuses.
        </li>
        <li>
          <strong>Addresses come from discovery</strong>: take the token endpoint from{' '}
          <code>/.well-known/smart-configuration</code>, and what each of the {RESOURCE_TYPES.length} types can do from{' '}
          <code>/fhir/metadata</code>.
        </li>
      </ul>
    </section>
    <section aria-labelledby="tools">
      <h2 id="tools">In your own tools</h2>
      <p>
        <a href={`${referencePath(site)}/openapi.json`} download="integration-gateway.openapi.json">
          Download the OpenAPI document
        </a>{' '}
        (3.1). Postman: Import, then the file or its address. Bruno: Import Collection, OpenAPI. Insomnia: Import. Set
        the collection’s Bearer token to an access token; the schemas and examples come with it.
      </p>
    </section>
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      {VERSIONS.map(({ version, changes }) => (
        <>
          <h3>{version}</h3>
          <ul>
            {changes.map((change) => (
              <li>{change}</li>
            ))}
          </ul>
        </>
      ))}
    </section>
  </TextPage>
);
