/** The stored results and reports of the patients of a message, with their result keys. */
import * as z from 'zod';

import type { ResourceType } from '../../../shared/resource-type.ts';
import type { ResultRow } from '../../store/hl7-result.ts';
import type { Draft, Drafts, Found } from '../mapping/drafts.ts';
import { morePrecise } from './collection-time.ts';
import type { ResultKey } from './result-key.ts';
import { valueText } from '../mapping/value-text.ts';

export interface FiledResult {
  readonly draft: Draft;
  readonly patientId: string;
  readonly key: ResultKey;
  readonly value: string;
  readonly at: string;
  readonly place: number;
}

export interface FiledResults {
  readonly ofPatient: (type: ResourceType, patientId: string) => readonly FiledResult[];
  /** The patient's results with the same observation and an equal order number, or without one. */
  readonly of: (type: ResourceType, patientId: string, key: ResultKey) => readonly FiledResult[];
  /** Gives a resource its key. */
  readonly file: (draft: Draft, patientId: string, key: ResultKey, place: number) => void;
  /** Adds to a key what the statement has and the stored key lacks: a number, or the collection time. */
  readonly refile: (known: FiledResult, stated: ResultKey) => void;
  /** Moves the results of one patient to another, without those that are entered in error now. */
  readonly move: (from: string, to: string, gone: ReadonlySet<Draft>) => void;
  /** Keys that are new or have changed. */
  readonly rows: () => readonly ResultRow[];
}

const authority = z.object({ uri: z.string().nullable(), name: z.string().nullable() });
const number = z.object({ value: z.string(), authority }).nullable();
/** As `hl7_matches` returns it: patient, what, time, place, and the JSON of `numbers` in hl7_result. */
const storedKey = z.tuple([
  z.string(),
  z.string(),
  z.string(),
  z.number(),
  z.object({ filler: number, placer: number, own: authority }),
]);

export function filedResults(found: readonly Found[], drafts: Drafts): FiledResults {
  const known = new Map<Draft, FiledResult>();
  for (const { role, key, resource } of found) {
    const draft = role === 'result' ? resultIn(drafts, resource.type, resource.id) : undefined;
    if (draft === undefined) continue;
    const [patientId, what, at, place, numbers] = storedKey.parse(JSON.parse(key));
    known.set(draft, { draft, patientId, key: { what, at, ...numbers }, value: valueText(draft.content), at, place });
  }
  /** Built at the first lookup after a change: the results of a patient are looked up before any of them is filed. */
  let byName: ReadonlyMap<string, readonly FiledResult[]> | undefined;
  const changed = new Map<Draft, ResultRow>();
  const file: FiledResults['file'] = (draft, patientId, key, place) => {
    const { what, at, filler, placer, own } = key;
    byName = undefined;
    // The statements of the message are applied later.
    known.set(draft, {
      draft,
      patientId,
      key,
      at,
      place,
      get value() {
        return valueText(draft.content);
      },
    });
    changed.set(draft, {
      type: draft.type,
      id: draft.id,
      patientId,
      what,
      filler: filler?.value ?? '',
      placer: placer?.value ?? '',
      at,
      place,
      numbers: JSON.stringify({ filler, placer, own }),
    });
  };
  return {
    ofPatient: (type, patientId) =>
      [...known.values()].filter((each) => each.draft.type === type && each.patientId === patientId),
    of: (type, patientId, key) => {
      const index = (byName ??= indexOf(known.values()));
      return [...new Set(namesOf(type, patientId, key).flatMap((name) => index.get(name) ?? []))];
    },
    file,
    refile: ({ draft, patientId, key: before, place }, stated) => {
      const key: ResultKey = {
        ...before,
        filler: before.filler ?? stated.filler,
        placer: before.placer ?? stated.placer,
        at: morePrecise(before.at, stated.at),
      };
      if (JSON.stringify(key) !== JSON.stringify(before)) file(draft, patientId, key, place);
    },
    move: (from, to, gone) => {
      for (const draft of gone) known.delete(draft);
      for (const [draft, each] of known) {
        if (each.patientId !== from) continue;
        known.set(draft, { ...each, patientId: to });
      }
      byName = undefined;
    },
    rows: () => [...changed.values()],
  };
}

function indexOf(known: Iterable<FiledResult>): ReadonlyMap<string, readonly FiledResult[]> {
  const lists = new Map<string, FiledResult[]>();
  for (const each of known) {
    for (const name of namesOf(each.draft.type, each.patientId, each.key)) {
      const list = lists.get(name) ?? [];
      lists.set(name, list);
      list.push(each);
    }
  }
  return lists;
}

/** The names under which a result is indexed: a message may have as many as it has results. */
function namesOf(type: ResourceType, patientId: string, { what, filler, placer }: ResultKey): string[] {
  const numbers = [
    ...(filler === null ? [] : [['filler', filler.value]]),
    ...(placer === null ? [] : [['placer', placer.value]]),
  ];
  return (numbers.length > 0 ? numbers : [[]]).map((number) => JSON.stringify([type, patientId, what, ...number]));
}

const resultIn = (drafts: Drafts, type: string, id: string): Draft | undefined =>
  type === 'Observation' || type === 'DiagnosticReport' ? drafts.byId(type, id) : undefined;
