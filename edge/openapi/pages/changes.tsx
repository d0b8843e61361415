/** The rules of compatibility, and the history of the interface. */
import { RESOURCE_TYPES } from '../../../shared/resource-type.ts';
import { Section } from '../../admin/web/ui.tsx';
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
      The interface has version {API_VERSION}, as in <a href={`${referencePath(site)}/openapi.json`}>openapi.json</a>.
      FHIR is R4 (4.0.1); HL7 v2 is v2.5.1.
    </p>
    <Section id="rules" title="Compatibility">
      <ul>
        <li>
          <strong>Additions are possible at any time</strong> and change the second number: operations, optional
          parameters, members of answers, headers, codes in <code>ERR-5</code>. Your program must ignore unknown ones.
        </li>
        <li>
          <strong>A breaking change changes the first number</strong>. It is announced here, and the earlier behaviour
          stays available beside it.
        </li>
        <li>
          <strong>Ids, ETags and cursors are opaque</strong>, and so is the text in <code>diagnostics</code>,{' '}
          <code>error_description</code> and <code>ERR-8</code>: decide by codes and statuses.
        </li>
        <li>
          <strong>Use discovery for addresses</strong>: read the token endpoint from{' '}
          <code>/.well-known/smart-configuration</code>, and the interactions of the {RESOURCE_TYPES.length} types from{' '}
          <code>/fhir/metadata</code>.
        </li>
      </ul>
    </Section>
    <Section id="tools" title="In your own tools">
      <p>
        <a href={`${referencePath(site)}/openapi.json`} download="integration-gateway.openapi.json">
          Download the OpenAPI document
        </a>{' '}
        (3.1). Postman: Import, then the file or its address. Bruno: Import Collection, OpenAPI. Insomnia: Import. Set
        the collection’s Bearer token to an access token; the schemas and examples come with it.
      </p>
    </Section>
    <Section id="history" title="History">
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
    </Section>
  </TextPage>
);
