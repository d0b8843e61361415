/** The stored results and reports of the patients of a message, with their result keys. */
import * as z from 'zod';

import { indexBy } from '../../../shared/index-by.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { ResultRow } from '../../store/hl7-result.ts';
import type { Draft, Drafts, Found } from '../mapping/drafts.ts';
import { isMinute, morePrecise } from './collection-time.ts';
import { valueText } from '../precedence/value-text.ts';
import type { KnownResult } from './choose.ts';
import { hasNumber, printParts, storedParts, type ResultKey } from './result-key.ts';
import { isFinal, isMissing, statusPrecedence } from './result-state.ts';

export interface FiledResult extends KnownResult {
  readonly draft: Draft;
  readonly patientId: string;
  readonly key: ResultKey;
}

export interface FiledResults {
  readonly ofPatient: (type: ResourceType, patientId: string) => readonly FiledResult[];
  /**
   * The patient's results with the same observation and an equal order number, or without one. Results of another minute are
   * left out (`mayBeSameTime`).
   */
  readonly of: (type: ResourceType, patientId: string, key: ResultKey) => readonly FiledResult[];
  /** The patient's results with an equal order number, as far as they were looked up. */
  readonly ofOrder: (type: ResourceType, patientId: string, key: OrderNumbersOfKey) => readonly FiledResult[];
  /** Gives a resource its key. */
  readonly file: (draft: Draft, patientId: string, key: ResultKey, place: number) => void;
  /** Adds to a key what the statement has and the stored key lacks: a number, or the collection time. */
  readonly refile: (known: FiledResult, stated: ResultKey) => void;
  /** Removes a result that another one replaces. */
  readonly remove: (draft: Draft) => void;
  /** Moves the results of one patient to another, without those that are entered in error now. */
  readonly move: (from: string, to: string, gone: ReadonlySet<Draft>) => void;
  /** Keys that are new or have changed. */
  readonly rows: () => readonly ResultRow[];
}

type OrderNumbersOfKey = Pick<ResultKey, 'filler' | 'placer'>;

/** As `hl7_matches` returns it: patient, what, time, place, and `numbers` in hl7_result. */
const storedKey = z.tuple([z.string(), z.string(), z.string(), z.number(), storedParts]);

export function filedResults(found: readonly Found[], drafts: Drafts): FiledResults {
  const known = new Map<Draft, FiledResult>();
  for (const { role, key, resource } of found) {
    const draft = role === 'result' ? resultIn(drafts, resource.type, resource.id) : undefined;
    if (draft === undefined) continue;
    const [patientId, what, at, place, parts] = storedKey.parse(JSON.parse(key));
    known.set(draft, resultOf(draft, patientId, { what, at, ...parts }, place));
  }
  /** Built at the first lookup after a change: the results of a patient are looked up before any of them is filed. */
  let byName: ReadonlyMap<string, readonly FiledResult[]> | undefined;
  const changed = new Map<Draft, ResultRow>();
  const named = (names: readonly string[]): readonly FiledResult[] => {
    const index = (byName ??= indexOf(known.values()));
    return [...new Set(names.flatMap((name) => index.get(name) ?? []))];
  };
  const file: FiledResults['file'] = (draft, patientId, key, place) => {
    const { what, at, filler, placer } = key;
    byName = undefined;
    known.set(draft, resultOf(draft, patientId, key, place));
    changed.set(draft, {
      type: draft.type,
      id: draft.id,
      patientId,
      what,
      filler: filler?.value ?? '',
      placer: placer?.value ?? '',
      at,
      place,
      numbers: printParts(key),
    });
  };
  return {
    ofPatient: (type, patientId) =>
      [...known.values()].filter((each) => each.draft.type === type && each.patientId === patientId),
    of: (type, patientId, key) => named(namesOf(type, patientId, key, isMinute(key.at) ? [key.at, DAY] : [ANY])),
    ofOrder: (type, patientId, key) => (hasNumber(key) ? named(orderNames(type, patientId, key)) : []),
    file,
    refile: ({ draft, patientId, key: before, place }, stated) => {
      const at = morePrecise(before.at, stated.at);
      const key: ResultKey = {
        ...before,
        filler: before.filler ?? stated.filler,
        placer: before.placer ?? stated.placer,
        at,
        second: at === before.at ? before.second : stated.second,
        parent: before.parent ?? stated.parent,
      };
      if (printParts(key) !== printParts(before) || key.at !== before.at) file(draft, patientId, key, place);
    },
    remove: (draft) => {
      known.delete(draft);
      changed.delete(draft);
      byName = undefined;
    },
    move: (from, to, gone) => {
      for (const draft of gone) known.delete(draft);
      for (const [draft, each] of known) {
        if (each.patientId !== from) continue;
        known.set(draft, resultOf(draft, to, each.key, each.place));
      }
      byName = undefined;
    },
    rows: () => [...changed.values()],
  };
}

function indexOf(known: Iterable<FiledResult>): ReadonlyMap<string, readonly FiledResult[]> {
  return indexBy(known, ({ draft: { type }, patientId, key }) => {
    const times = [isMinute(key.at) ? key.at : DAY, ANY];
    return [...namesOf(type, patientId, key, times), ...orderNames(type, patientId, key)];
  });
}

/** The times of results whose minute is unknown, and of all results. */
const [DAY, ANY] = ['day', 'any'];

/** The names under which a result is indexed. One order may have thousands of times, so the time is part of a name. */
function namesOf(type: ResourceType, patientId: string, key: ResultKey, times: readonly string[]): string[] {
  const numbers = numbersOf(key);
  return (numbers.length > 0 ? numbers : [[]]).flatMap((number) =>
    times.map((time) => JSON.stringify([type, patientId, key.what, time, ...number])),
  );
}

/** The names of all results of an order. */
const orderNames = (type: ResourceType, patientId: string, key: OrderNumbersOfKey): string[] =>
  numbersOf(key).map((number) => JSON.stringify([type, patientId, ...number]));

const numbersOf = ({ filler, placer }: OrderNumbersOfKey): string[][] => [
  ...(filler === null ? [] : [['filler', filler.value]]),
  ...(placer === null ? [] : [['placer', placer.value]]),
];

/** Its state is read when it is needed: the statements of the message are applied later. */
const resultOf = (draft: Draft, patientId: string, key: ResultKey, place: number): FiledResult => ({
  draft,
  patientId,
  key,
  at: key.at,
  place,
  get value() {
    return valueText(draft.content);
  },
  get isMissing() {
    return isMissing(draft);
  },
  get isFinal() {
    return isFinal(draft);
  },
  get isCorrected() {
    return draft.content['status'] === 'corrected';
  },
  get precedence() {
    return statusPrecedence(draft);
  },
});

const resultIn = (drafts: Drafts, type: string, id: string): Draft | undefined =>
  type === 'Observation' || type === 'DiagnosticReport' ? drafts.byId(type, id) : undefined;
