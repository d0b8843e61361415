/** Messages whose results differ slightly in their keys, and their results in any order of arrival. */
import type { SentOrder, SentResults } from './hl7-results.ts';

const REPORT = ['XR wrist', 'No fracture seen.', 'End'];
const CORRECTED = ['XR wrist', 'Fracture of the distal radius.', 'Plaster.', 'End'];
export const lines = (type: string, texts: readonly string[], isCounted = false): string[] =>
  texts.map((text, at) => `${type}|RAD^Report^L|${isCounted ? at + 1 : ''}|${text}`);
const organism = (value: string, sub = '', status = ''): string => `ST|ORG^Organism^L|${sub}|${value}|${status}`;
const potassium = (value: string, more: Partial<Record<'code' | 'sub' | 'time', string>> = {}): string =>
  `NM|${more.code ?? 'K^Potassium^L'}|${more.sub ?? ''}|${value}||${more.time ?? ''}`;
export const sent = (at: number | string, order: SentOrder, sender = 'LAB|HOSP'): SentResults => ({
  at,
  sender,
  orders: [order],
});
export const sensitivity = (sub: string, name: string, value: string, more: Partial<SentOrder> = {}): SentOrder => ({
  ordered: 'S^Susceptibility^L',
  parent: `ORG&Organism&L^${sub}^${name}`,
  ...more,
  obx: [`ST|AMP^Ampicillin^L||${value}`],
});

/** An organism of order PA, and a result of order CH whose parent it is. */
const isolate = (at: number, name: string, status = 'P', sender = 'LAB|HOSP'): SentResults =>
  sent(at, { status, filler: 'PA', obx: [organism(name, '1')] }, sender);
const tested = (at: number, name: string, status = 'P', sender = 'LAB|HOSP'): SentResults =>
  sent(at, sensitivity('1', name, 'S', { status, filler: 'CH', parentOrder: '^PA' }), sender);

/** Messages about one patient, the live results after them, and the kinds of their issues to review. */
export type ResultRow = readonly [
  name: string,
  messages: readonly SentResults[],
  live: readonly string[],
  listed: readonly string[],
];

export const RESULT_ROWS: readonly ResultRow[] = [
  [
    'a final text of four ST lines retracts the sentence of a preliminary one',
    [sent(1, { status: 'P', obx: lines('ST', REPORT) }), sent(2, { obx: lines('ST', CORRECTED) })],
    CORRECTED.map((text) => `${text} final`),
    [],
  ],
  [
    'TX lines that OBX-4 counts are one text',
    [sent(1, { status: 'P', obx: lines('TX', REPORT, true) }), sent(2, { obx: lines('TX', CORRECTED, true) })],
    [`${CORRECTED.join('/')} final`],
    [],
  ],
  [
    'ST lines beside FT are lines of its text',
    [
      sent(1, { status: 'P', obx: [...lines('FT', ['a']), ...lines('ST', ['b', 'c'])] }),
      sent(2, { obx: [...lines('FT', ['a']), ...lines('ST', ['d'])] }),
    ],
    ['a/d final'],
    [],
  ],
  [
    'no growth is withdrawn when two organisms are final',
    [
      sent(1, { status: 'P', obx: [organism('No growth')] }),
      sent(2, { obx: [organism('E. coli'), organism('Klebsiella')] }),
    ],
    ['E. coli final', 'Klebsiella final'],
    [],
  ],
  [
    'an organism below final stays while its report is not final',
    [
      sent(1, { status: 'P', obx: [organism('E. coli'), organism('Klebsiella')] }),
      sent(2, { status: 'P', obx: [organism('E. coli', '', 'F')] }),
    ],
    ['E. coli final', 'Klebsiella preliminary'],
    [],
  ],
  [
    'a final organism that a newer final message no longer has stays and is listed',
    [sent(1, { obx: [organism('E. coli'), organism('Klebsiella')] }), sent(2, { obx: [organism('E. coli')] })],
    ['E. coli final', 'Klebsiella final'],
    ['result-missing'],
  ],
  [
    'a correction with more lines than the final text replaces all of them',
    [sent(1, { obx: lines('ST', REPORT) }), sent(2, { status: 'C', obx: lines('ST', CORRECTED) })],
    CORRECTED.map((text) => `${text} corrected`),
    ['correction-unmatched'],
  ],
  [
    'an addendum does not replace the report',
    [sent(1, { obx: lines('TX', ['a', 'b', 'c', 'd', 'e']) }), sent(2, { obx: lines('TX', ['Addendum']) })],
    ['Addendum final', 'a/b/c/d/e final'],
    ['result-unclear'],
  ],
  [
    'a corrected susceptibility is that of its isolate',
    [
      {
        at: 1,
        orders: [
          { obx: [organism('E. coli', '1'), organism('Klebsiella', '2')] },
          sensitivity('1', 'E. coli', 'S'),
          sensitivity('2', 'Klebsiella', 'R'),
        ],
      },
      sent(2, sensitivity('2', 'Klebsiella', 'I', { status: 'C' })),
    ],
    ['E. coli final', 'I corrected', 'Klebsiella final', 'S final'],
    [],
  ],
  [
    'susceptibilities of a former organism are withdrawn',
    [
      {
        at: 1,
        orders: [
          { status: 'P', obx: [organism('Gram negative', '1')] },
          sensitivity('1', 'Gram negative', 'S', { status: 'P' }),
        ],
      },
      sent(2, { obx: [organism('E. coli', '1')] }),
    ],
    ['E. coli final'],
    [],
  ],
  [
    'susceptibilities of another order are withdrawn with the former organism of its parent',
    [
      sent(1, { status: 'P', filler: 'PA', obx: [organism('Gram negative', '1')] }),
      sent(2, sensitivity('1', 'Gram negative', 'S', { status: 'P', filler: 'CH', parentOrder: '^PA' })),
      sent(3, { filler: 'PA', obx: [organism('E. coli', '1')] }),
    ],
    ['E. coli final'],
    [],
  ],
  [
    'susceptibilities stay with their own organism when another one without OBX-4 changes',
    [
      sent(1, { status: 'P', filler: 'PA', obx: [organism('E. coli'), organism('Gram negative')] }),
      sent(2, sensitivity('', 'E. coli', 'S', { status: 'P', filler: 'CH', parentOrder: '^PA' })),
      sent(3, { status: 'P', filler: 'PA', obx: [organism('E. coli'), organism('Klebsiella')] }),
    ],
    ['E. coli preliminary', 'Klebsiella preliminary', 'S preliminary'],
    [],
  ],
  [
    'susceptibilities are withdrawn with an organism that the final message no longer has',
    [
      sent(1, { status: 'P', filler: 'PA', obx: [organism('E. coli'), organism('Klebsiella')] }),
      sent(2, sensitivity('', 'Klebsiella', 'R', { status: 'P', filler: 'CH', parentOrder: '^PA' })),
      sent(3, { filler: 'PA', obx: [organism('E. coli')] }),
    ],
    ['E. coli final'],
    [],
  ],
  ...(
    [
      ['susceptibilities are withdrawn with the organism of a cancelled report', 2, 'P', [], []],
      ['final susceptibilities of a cancelled report are listed', 2, 'F', ['S final'], ['result-missing']],
      ['susceptibilities that are newer than the cancelled report stay', 4, 'P', ['S preliminary'], []],
    ] as const
  ).map(([name, at, status, live, listed]): ResultRow => [
    name,
    [
      sent(1, { status: 'P', filler: 'PA', obx: [organism('E. coli', '1')] }),
      sent(at, sensitivity('1', 'E. coli', 'S', { status, filler: 'CH', parentOrder: '^PA' })),
      sent(3, { status: 'X', filler: 'PA', obx: [] }),
    ],
    live,
    listed,
  ]),
  ...(
    [
      ['a preliminary susceptibility stays withdrawn', 'E. coli', 'P', ['E. coli final']],
      ['a preliminary susceptibility without OBR-26.3 stays withdrawn', '', 'P', ['E. coli final']],
      ['a final susceptibility stays', 'E. coli', 'F', ['E. coli final', 'S final']],
    ] as const
  ).map(([name, organismName, status, live]): ResultRow => [
    `${name}, and is listed, when its organism was another one and is the first one again`,
    [
      isolate(1, 'E. coli', 'F'),
      tested(2, organismName, status),
      isolate(3, 'S. aureus', 'F'),
      isolate(4, 'E. coli', 'F'),
    ],
    live,
    ['result-missing'],
  ]),
  [
    'the susceptibility of the next organism counts',
    [
      isolate(1, 'E. coli'),
      tested(2, 'E. coli'),
      { at: 3, orders: [isolate(3, 'S. aureus'), tested(3, 'S. aureus')].flatMap(({ orders }) => orders) },
    ],
    ['S preliminary', 'S. aureus preliminary'],
    [],
  ],
  [
    'results of results are withdrawn with the former organism',
    [
      isolate(1, 'Gram negative'),
      tested(2, 'Gram negative'),
      sent(3, {
        status: 'P',
        filler: 'GC',
        parent: 'AMP&Ampicillin&L^^S',
        parentOrder: '^CH',
        obx: ['ST|ESBL^ESBL^L||none'],
      }),
      isolate(4, 'E. coli', 'F'),
    ],
    ['E. coli final'],
    [],
  ],
  ...(
    [
      [
        'with its organism, whose text gets a count',
        [isolate(1, 'E. coli'), tested(1, 'E. coli'), isolate(2, 'E. coli'), isolate(3, 'E. coli >100,000 CFU/ml')],
        ['E. coli >100,000 CFU/ml preliminary', 'S preliminary'],
      ],
      [
        'if OBR-26.3 names its organism by another text',
        [isolate(1, 'Escherichia coli'), tested(1, 'E.COLI'), isolate(2, 'Escherichia coli', 'F')],
        ['Escherichia coli final', 'S preliminary'],
      ],
      [
        'that arrives with its organism, in the minute of a former one',
        [isolate(1, 'Gram negative'), isolate(1, 'E. coli', 'F'), tested(1, 'E. coli')],
        ['E. coli final', 'S preliminary'],
      ],
      [
        'that was verified a minute before its organism',
        [isolate(1, 'Gram negative'), tested(2, 'E. coli'), isolate(3, 'E. coli', 'F')],
        ['E. coli final', 'S preliminary'],
      ],
      [
        'when the organism of an equal order number of another laboratory changes',
        [
          isolate(1, 'E. coli', 'P', 'LAB|A'),
          tested(2, 'E. coli', 'P', 'LAB|A'),
          isolate(1, 'Gram negative', 'P', 'LAB|B'),
          isolate(3, 'S. aureus', 'P', 'LAB|B'),
        ],
        ['E. coli preliminary', 'S preliminary', 'S. aureus preliminary'],
      ],
    ] as const
  ).map(([name, messages, live]): ResultRow => [`a susceptibility stays ${name}`, messages, live, []]),
  [
    'a reflex test stays when the number that led to it is corrected',
    [
      sent(1, { filler: 'PA', status: 'P', obx: ['NM|TSH^TSH^L||8.0'] }),
      sent(2, { filler: 'CH', status: 'P', parent: 'TSH&TSH&L', parentOrder: '^PA', obx: ['NM|FT4^FT4^L||9'] }),
      sent(3, { filler: 'PA', obx: ['NM|TSH^TSH^L||8.1'] }),
    ],
    ['8.1 final', '9 preliminary'],
    [],
  ],
  [
    'a preliminary result without an order number stays beside the final one of its report, and is listed',
    [
      sent(1, { filler: '', status: 'P', obx: [potassium('4.0', { time: '202601010800' })] }),
      sent(2, { filler: '', obx: [potassium('4.1', { time: '202601011000' })] }),
    ],
    ['4.0 preliminary', '4.1 final'],
    ['preliminary-left'],
  ],
  [
    'an accession number of last year is another result',
    [
      sent('202501011200', { collected: '', obx: [potassium('90')] }),
      sent('202601011200', { collected: '', obx: [potassium('300')] }),
    ],
    ['300 final', '90 final'],
    [],
  ],
  [
    'a time of verification in OBX-14 leaves a preliminary result, which is listed',
    [
      sent(1, { status: 'P', obx: [potassium('4.0', { time: '202601010800' })] }),
      sent(2, { obx: [potassium('4.1', { time: '202601011000' })] }),
    ],
    ['4.0 preliminary', '4.1 final'],
    ['preliminary-left'],
  ],
  [
    'a time in seconds rounds to the minute',
    [
      sent(1, { collected: '20260101110047', status: 'P', obx: [potassium('4.0')] }),
      sent(2, { collected: '202601011101', obx: [potassium('4.1')] }),
    ],
    ['4.1 final'],
    [],
  ],
  [
    'OBX-4 of only one of two does not matter',
    [sent(1, { status: 'P', obx: [potassium('4.0')] }), sent(2, { obx: [potassium('4.1', { sub: '1' })] })],
    ['4.1 final'],
    [],
  ],
  [
    'both order numbers find across MSH-4',
    [
      sent(1, { placer: 'PL', status: 'P', obx: [potassium('4.0')] }, 'LAB|A'),
      sent(2, { placer: 'PL', obx: [potassium('4.1')] }, 'LAB|B'),
    ],
    ['4.1 final'],
    [],
  ],
  [
    'the authority of only one of two numbers does not matter',
    [
      sent(1, { filler: 'F1^LAB', status: 'P', obx: [potassium('4.0')] }),
      sent(2, { filler: 'F1', obx: [potassium('4.1')] }),
    ],
    ['4.1 final'],
    [],
  ],
  [
    'LN equals LOINC, and L equals an empty coding system',
    [
      sent(1, { status: 'P', obx: [potassium('4.0', { code: '2823-3^K^LN' }), 'NM|X^X||1'] }),
      sent(2, { obx: [potassium('4.1', { code: '2823-3^K^LOINC' }), 'NM|X^X^L||2'] }),
    ],
    ['2 final', '4.1 final'],
    [],
  ],
  [
    'swapped codings are one code',
    [
      sent(1, { status: 'P', obx: [potassium('4.0', { code: '2823-3^K^LN^K^Potassium^L' })] }),
      sent(2, { obx: [potassium('4.1', { code: 'K^Potassium^L^2823-3^K^LN' })] }),
    ],
    ['4.1 final'],
    [],
  ],
  [
    'a message with both order numbers joins the results of either',
    [
      sent(1, { placer: 'PL', filler: '', status: 'P', obx: [potassium('4.0')] }),
      sent(2, { filler: 'FI', status: 'P', obx: [potassium('4.1')] }),
      sent(3, { placer: 'PL', filler: 'FI', obx: [potassium('4.2')] }),
    ],
    ['4.2 final'],
    [],
  ],
  [
    'a cancelled report leaves its final result, which is listed',
    [sent(1, { obx: [potassium('4.0')] }), sent(2, { status: 'X', obx: [] })],
    ['4.0 final'],
    ['result-missing'],
  ],
  [
    'a cancelled report leaves its final result, which was preliminary before, and is listed',
    [
      sent(1, { status: 'P', obx: [potassium('4.0')] }),
      sent(2, { obx: [potassium('4.0')] }),
      sent(3, { status: 'X', obx: [] }),
    ],
    ['4.0 final'],
    ['result-missing'],
  ],
  [
    'a cancelled report withdraws its preliminary result',
    [sent(1, { status: 'P', obx: [potassium('4.0')] }), sent(2, { status: 'X', obx: [] })],
    [],
    [],
  ],
];
