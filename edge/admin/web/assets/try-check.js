/* Shows the check of a message. */
import { shortPathOf } from '../../../../shared/hl7/value.ts';
import { badge, code, counted, make, notice, quiet, section, table } from './try-elements.js';

const SEVERITIES = { E: ['bad', 'error'], W: ['warn', 'warning'], I: ['plain', 'information'] };
const severityOf = ({ severity = '' }) => badge(...(SEVERITIES[severity] ?? ['plain', severity]));
const inOrder = (findings) =>
  findings.toSorted((one, other) => 'EWI'.indexOf(one.severity) - 'EWI'.indexOf(other.severity));

const findingTable = (findings) =>
  table(
    'Errors and warnings',
    ['Where', 'Severity', 'Code', 'Reason', 'What'],
    inOrder(findings).map((finding) => ({
      cells: [
        make('code', {}, finding.at === undefined ? 'message' : shortPathOf(finding.at)),
        severityOf(finding),
        finding.code ?? '',
        make('code', {}, finding.reason ?? ''),
        finding.message ?? '',
      ],
    })),
  );

const faults = (findings) =>
  findings.length === 0
    ? null
    : make(
        'ul',
        { className: 'plain wrong' },
        ...findings.map((finding) => make('li', {}, severityOf(finding), ` ${finding.message ?? ''}`)),
      );

/** A value may hold a whole document. */
const MAX_SHOWN = 2000;
const shortened = (value) =>
  value.length <= MAX_SHOWN ? value : `${value.slice(0, MAX_SHOWN)} … (${counted(value.length, 'character')})`;

const more = (count, one) => (count === 0 ? null : quiet(`${counted(count, `more ${one}`)} are not listed.`));

const componentList = (components) =>
  make(
    'dl',
    { className: 'components' },
    ...components.map(({ number, name, value }) =>
      make('div', {}, make('dt', {}, `${number} ${name ?? ''}`), make('dd', {}, shortened(value))),
    ),
  );

function valueOf({ value, repetitions, moreRepetitions, findings }) {
  const shown =
    value === ''
      ? make('span', { className: 'quiet' }, 'not sent')
      : repetitions.length === 0
        ? make('code', { className: 'sent' }, shortened(value))
        : repetitions.length === 1
          ? componentList(repetitions[0])
          : make('ol', { className: 'repetitions' }, ...repetitions.map((each) => make('li', {}, componentList(each))));
  return [shown, more(moreRepetitions, 'repetition'), faults(findings)];
}

function toneOf(findings) {
  const [worst] = findings.map(({ severity = '' }) => severity).sort();
  return worst === 'E' ? 'value faulty bad' : worst === 'W' ? 'value faulty warn' : 'value';
}

function segmentView({ id, name, fields, moreFields, findings }, at) {
  const serious = [...findings, ...fields.flatMap((field) => field.findings)].filter(
    ({ severity }) => severity !== 'I',
  );
  const tone = serious.some(({ severity }) => severity === 'E') ? 'bad' : 'warn';
  return make(
    'details',
    { open: at < 4 || serious.length > 0 },
    make(
      'summary',
      {},
      make('code', {}, id),
      ` ${name ?? 'not in the table of segments'} `,
      serious.length === 0 ? null : badge(tone, counted(serious.length, 'finding')),
    ),
    faults(findings),
    table(
      `Segment ${at + 1}, ${id}`,
      ['Field', 'Name', 'Value'],
      fields.map((field) => ({
        cells: [make('code', {}, field.path), field.name ?? '', valueOf(field)],
        className: toneOf(field.findings),
      })),
    ),
    more(moreFields, 'field'),
  );
}

const OUTCOMES = {
  AA: ['good', 'The gateway would accept this message.'],
  AE: ['bad', 'The gateway would reject this message with an error.'],
  AR: ['bad', 'The gateway would reject this message.'],
};

/** The sections of a checked message. */
export function checkView({
  outcome,
  problem,
  errors,
  ack,
  segments,
  moreSegments,
  resources,
  moreResources,
  ticketCopy,
  judgedAs,
}) {
  const [tone, verdict] = OUTCOMES[outcome];
  return [
    section(
      'Verdict',
      notice(
        tone,
        make('p', {}, badge(tone, outcome), ` ${verdict}`),
        problem === null ? null : make('p', {}, problem),
        judgedAs === 'empty-site'
          ? make(
              'p',
              {},
              'It was judged as in a site without patients and earlier messages. In your site the answer can differ.',
            )
          : null,
      ),
    ),
    section(
      'Errors and warnings',
      errors.length === 0 ? quiet('The message has no errors and no warnings.') : findingTable(errors),
    ),
    ...(ack === null ? [] : [section('ACK', code('the ACK', ack))]),
    section(
      'Message',
      make('div', { className: 'segments' }, ...segments.map(segmentView)),
      segments.length === 0 ? quiet('The message has no segments that can be read.') : null,
      more(moreSegments, 'segment'),
    ),
    section(
      'Resources',
      resources.length === 0 ? quiet('The message would create no resources.') : null,
      ...resources.map((resource, at) =>
        make(
          'details',
          {},
          make('summary', {}, make('code', {}, resource.resourceType)),
          code(`resource ${at + 1}, ${resource.resourceType}`, JSON.stringify(resource, null, 2)),
        ),
      ),
      more(moreResources, 'resource'),
    ),
    ...(ticketCopy === null
      ? []
      : [
          section(
            'Copy for a ticket',
            make(
              'p',
              {},
              'The copy has the same faults, and invented names, identifiers, addresses, texts and dates. Read it before you send it.',
            ),
            code('the scrubbed message', ticketCopy),
          ),
        ]),
  ];
}
