/** The commonest rules of senders, each with a message as sent and as read. The documentation shows them; a test applies them. */
import type { SenderRule } from '../../edge/members/sender-rules.ts';

export interface RuleRecipe {
  /** The problem of the sender. */
  readonly title: string;
  readonly rules: readonly SenderRule[];
  /** MSH-9. */
  readonly type: string;
  /** The segments behind MSH. */
  readonly sent: readonly string[];
  /** As the gateway reads them. */
  readonly read: readonly string[];
  readonly verdict?: { readonly kind: 'ignore' } | { readonly kind: 'reject'; readonly text: string };
}

export const RULE_RECIPES: readonly RuleRecipe[] = [
  {
    title: 'The laboratory sends its number in OBR-20',
    rules: [{ name: 'Number of the laboratory', verb: 'copy', from: 'OBR-20', path: 'OBR[OBR-3=]-3' }],
    type: 'ORU^R01',
    sent: ['PID|||1', 'OBR|1|P1||GLU|||20260102|||||||||||||F77'],
    read: ['PID|||1', 'OBR|1|P1|F77|GLU|||20260102|||||||||||||F77'],
  },
  {
    title: 'The registration sends U for an unknown sex',
    rules: [{ name: 'U has no meaning', verb: 'map', path: 'PID-8', values: { U: '' } }],
    type: 'ADT^A08',
    sent: ['PID|||1||Meier^Hans|||U'],
    read: ['PID|||1||Meier^Hans|||'],
  },
  {
    title: 'Dates are written as in the country of the sender',
    rules: [
      { name: 'Birth date', verb: 'date', path: 'PID-7', format: 'DD.MM.YYYY' },
      { name: 'Collection time', verb: 'date', path: 'OBX-14', format: 'DD.MM.YYYY HH:mm' },
    ],
    type: 'ORU^R01',
    sent: ['PID|||1||||28.02.1960', 'OBR|1', 'OBX|1|NM|GLU||5|||||||||02.01.2026 03:04'],
    read: ['PID|||1||||19600228', 'OBR|1', 'OBX|1|NM|GLU||5|||||||||202601020304'],
  },
  {
    title: 'Patient identifiers have no assigning authority',
    rules: [
      { name: 'Identifiers of patients', verb: 'authority', path: 'PID-3[PID-3.5=MR]', namespace: 'HOSP' },
      { name: 'The same in merges', verb: 'authority', path: 'MRG-1[MRG-1.5=MR]', namespace: 'HOSP' },
    ],
    type: 'ADT^A40',
    sent: ['PID|||1^^^^MR~2^^^^SS', 'MRG|3^^^^MR'],
    read: ['PID|||1^^^HOSP^MR~2^^^^SS', 'MRG|3^^^HOSP^MR'],
  },
  {
    title: 'Names and addresses end with spaces',
    rules: [
      { name: 'Names', verb: 'trim', path: 'PID-5' },
      { name: 'Addresses', verb: 'trim', path: 'PID-11' },
    ],
    type: 'ADT^A08',
    sent: ['PID|||1||Meier   ^Hans   ||||||Main Street 1  ^^Vienna  '],
    read: ['PID|||1||Meier^Hans||||||Main Street 1^^Vienna'],
  },
  {
    title: 'The sender has its own codes for sex and result status',
    rules: [
      { name: 'Sex', verb: 'map', path: 'PID-8', values: { W: 'F', D: 'O' } },
      { name: 'Result status', verb: 'map', path: 'OBX-11', values: { V: 'P', E: 'F', K: 'C' } },
    ],
    type: 'ORU^R01',
    sent: ['PID|||1|||||W', 'OBR|1', 'OBX|1|NM|GLU||5||||||E', 'OBX|2|NM|NA||140||||||K'],
    read: ['PID|||1|||||F', 'OBR|1', 'OBX|1|NM|GLU||5||||||F', 'OBX|2|NM|NA||140||||||C'],
  },
  {
    title: 'Internal notes must not reach the record',
    rules: [{ name: 'Internal notes', verb: 'drop', path: 'NTE[NTE-2=I]' }],
    type: 'ORU^R01',
    sent: ['PID|||1', 'OBR|1', 'OBX|1|NM|GLU||5', 'NTE|1|I|Sample repeated', 'NTE|2|L|Fasting'],
    read: ['PID|||1', 'OBR|1', 'OBX|1|NM|GLU||5', 'NTE|2|L|Fasting'],
  },
  {
    title: 'Test patients arrive from the production system',
    rules: [{ name: 'Test patients', when: { all: [{ path: 'PID-5.1', like: 'ZZTEST*' }] }, verb: 'ignore' }],
    type: 'ADT^A08',
    sent: ['PID|||1||ZZTEST4^Anna'],
    read: ['PID|||1||ZZTEST4^Anna'],
    verdict: { kind: 'ignore' },
  },
  {
    title: 'An admission without a visit number is a fault of the sender',
    rules: [
      {
        name: 'Visit number',
        when: { types: ['ADT^A01', 'ADT^A04'], all: [{ path: 'PV1-19', is: 'absent' }] },
        verb: 'reject',
        text: 'PV1-19 (visit number) is empty. Admit the patient again with a visit number.',
      },
    ],
    type: 'ADT^A01',
    sent: ['PID|||1', 'PV1|1|I'],
    read: ['PID|||1', 'PV1|1|I'],
    verdict: {
      kind: 'reject',
      text: 'PV1-19 (visit number) is empty. Admit the patient again with a visit number.',
    },
  },
  {
    title: 'Results have no value type',
    rules: [{ name: 'Value type', verb: 'default', path: 'OBX-2', value: 'ST' }],
    type: 'ORU^R01',
    sent: ['PID|||1', 'OBR|1', 'OBX|1||COL||yellow', 'OBX|2|NM|GLU||5'],
    read: ['PID|||1', 'OBR|1', 'OBX|1|ST|COL||yellow', 'OBX|2|NM|GLU||5'],
  },
];
