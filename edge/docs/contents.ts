/** The documentation's chapters, in the order of the navigation. A chapter is `edge/docs/{page}.md`, served at `/docs/{page}`. */
export interface Chapter {
  readonly page: string;
  readonly title: string;
}

export interface Part {
  readonly title: string;
  readonly chapters: readonly Chapter[];
}

export const CONTENTS: readonly Part[] = [
  {
    title: 'Start',
    chapters: [
      { page: 'quickstart', title: 'Quickstart' },
      { page: 'concepts', title: 'Concepts and glossary' },
    ],
  },
  {
    title: 'Connect',
    chapters: [
      { page: 'clients', title: 'FHIR clients' },
      { page: 'libraries', title: 'Client libraries' },
      { page: 'curl', title: 'curl' },
      { page: 'javascript', title: 'JavaScript' },
      { page: 'python', title: 'Python' },
      { page: 'java', title: 'Java' },
      { page: 'senders', title: 'HL7 senders' },
    ],
  },
  {
    title: 'Administer',
    chapters: [{ page: 'console', title: 'Console by task' }],
  },
  {
    title: 'Run',
    chapters: [
      { page: 'deploy', title: 'Deploy' },
      { page: 'configuration', title: 'Configuration' },
      { page: 'operate', title: 'Operate' },
      { page: 'capacity', title: 'Capacity and cost' },
    ],
  },
  {
    title: 'Look up',
    chapters: [
      { page: 'behaviour', title: 'Behaviour' },
      { page: 'contribute', title: 'Contribute' },
    ],
  },
];

export const CHAPTERS: readonly Chapter[] = CONTENTS.flatMap(({ chapters }) => chapters);

/** The asset that holds a chapter's HTML. Not `.html`, whose addresses Workers' assets rewrite. */
export const fragmentName = (page: string): string => `docs-${page}.fragment`;

/** The asset that holds the search index, as MiniSearch writes it. */
export const SEARCH_INDEX = 'docs-search.json';
