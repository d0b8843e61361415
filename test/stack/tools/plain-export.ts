/** An export without options: each Patient as it is now. */
export const PLAIN_EXPORT = {
  request: '',
  types: ['Patient'],
  ofPatients: false,
  since: null,
  outcomes: '',
  patients: null,
  group: null,
  filters: [],
} as const;
