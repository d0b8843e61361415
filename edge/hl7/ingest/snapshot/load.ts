/** Loads the snapshot that a message is decided by: from the isolate's cache, or from the database. */
import { charsetNamed, type Charset } from '../../../../shared/hl7/charset.ts';
import type { Header } from '../../../../shared/hl7/header.ts';
import type { Database, Deps } from '../../../deps.ts';
import { noteAudit } from '../../../store/audit.ts';
import {
  findCodes,
  keyOfCode,
  readCodeRows,
  type CodeRows,
  type LiveTable,
  type SentCode,
} from '../../../store/code-table.ts';
import {
  loadSnapshot,
  MAX_FOUND_PATIENTS,
  readLoadedCodes,
  type LiveRules,
  type LookupKeys,
  type MessageIdentity,
  type SnapshotRow,
} from '../../../store/hl7-snapshot.ts';
import { identifierFields, narrowed, ofMerge } from '../../message/outline.ts';
import { inSite } from '../../../store/in-site.ts';
import type { CodeTables } from '../../mapping/translate.ts';
import { authoritiesOf } from '../../patients/authorities.ts';
import { identifiersOfField } from '../../patients/sent-identifiers.ts';
import type { CutMessage } from '../cut-documents.ts';
import { identityOf, openBytes, readOpened, type Opened, type Reading } from '../reading.ts';
import type { NoKey } from '../sender/select-key.ts';
import type { SenderSettings } from '../sender/settings.ts';
import { isOpenTo, keyOpening, openingOf, type Opening, type Sender } from '../sender/sender.ts';
import { versionsOf, type SnapshotCache } from './cache.ts';
import { codesIn } from './message-codes.ts';
import { isLookupByKey } from './record-cache.ts';
import { snapshotIn, withMatches, type SenderSnapshot, type Snapshot } from './snapshot.ts';

export interface LoadDeps extends Pick<Deps, 'database' | 'now' | 'wake'> {
  /** The isolate's; undefined if each message is loaded from the database. */
  readonly snapshots?: SnapshotCache | undefined;
}

/** A message as received. */
export interface Received extends CutMessage {
  readonly sender: Sender;
  /** For a trial: rules in the place of those of its key. */
  readonly rules?: LiveRules | null | undefined;
}

export interface Loaded extends Snapshot {
  readonly status: 'loaded';
  readonly reading: Reading;
  readonly identity: MessageIdentity;
  readonly opening: Opening;
  /** The executed lookup: `reading.lookup`, or a part of it if too many patients share an identifier. */
  readonly lookup: LookupKeys;
  /** More patients than the snapshot has share an identifier with its exact authority. */
  readonly isCrowded: boolean;
  /** Rows of these versions of code tables; undefined if none were looked up. */
  readonly codes: { readonly tables: readonly LiveTable[]; readonly rows: CodeRows } | undefined;
}

/** No API key fits, or keys of two sites do: nothing can be stored. */
export interface NoSender {
  readonly status: 'no-sender';
  readonly header: Header;
  readonly refusal: NoKey;
}

/** A statement that is a complete request has no time limit but its deadline, and is sent again if the snapshot has changed. */
const MAX_BOUNDED_BYTES = 128 * 1024;

/** Checks that the message reads and writes a bounded amount, in a patient record of any size. */
export const isBounded = ({ bytes, documents }: Received, lookup: LookupKeys): boolean =>
  documents.length === 0 && bytes.length <= MAX_BOUNDED_BYTES && isLookupByKey(lookup);

/**
 * Loads the snapshot for a message: without a round trip from the cache, else with one. A second one is needed if too many patients
 * share an identifier, or keys of several sites may fit. So it is if the key is not in the cache, and its character set or its
 * rules change the identifiers.
 *
 * @throws Fault `unauthenticated` for a caller whose key is disabled, `unavailable` if the database cannot be reached
 */
export async function load(deps: LoadDeps, received: Received): Promise<Loaded | NoSender> {
  const opened = open(received);
  const known = knownSender(deps, received, opened);
  return (
    (known && fromCache(deps, received, known)) ?? fromDatabase(deps, received, known?.reading ?? readOpened(opened))
  );
}

/**
 * The same snapshot for a message that is read by other rules. The database is asked only if they change what is looked up.
 *
 * @throws Fault `unavailable` if the database cannot be reached
 */
export const loadByRules = (
  deps: LoadDeps,
  received: Received & { readonly rules: LiveRules },
  { status: _status, isCrowded: _isCrowded, ...known }: Loaded,
): Promise<Loaded | NoSender> => complete(deps, received, known);

/** The sender of no message: none is found as sent before, and no control id as used before. */
const NO_IDENTITY: MessageIdentity = { application: '', facility: '', controlId: '', sha256: '' };

/**
 * Loads only the settings of the sender. No patient and no earlier message is found.
 *
 * @throws Fault `unauthenticated` for a caller whose key is disabled, `unavailable` if the database cannot be reached
 */
export async function loadAlone(
  deps: Pick<LoadDeps, 'database' | 'now'>,
  received: Received,
): Promise<Loaded | NoSender> {
  const reading = read(received);
  const found = await snapshotOf(deps, received, {
    reading,
    identity: NO_IDENTITY,
    opening: openingOf(received.sender, reading.header, NO_IDENTITY),
    lookup: { identifierValues: [], keys: [] },
  });
  if ('status' in found) return found;
  return {
    ...found,
    status: 'loaded',
    reading: reread(received, reading, found.settings) ?? reading,
    isCrowded: false,
  };
}

/** Checks whether a lookup leaves out identifiers that too many patients share. */
export const isNarrowed = ({ keys }: LookupKeys): boolean => keys.some(({ type }) => type === 'Patient');

/**
 * Loads the current snapshot after a change.
 *
 * @param row from the commit; undefined without one
 */
export async function loadChanged(
  deps: LoadDeps,
  received: Received,
  { reading, identity, opening, lookup }: Loaded,
  row: SnapshotRow | undefined,
): Promise<Loaded | NoSender> {
  // A narrowed lookup returns too little.
  if (row === undefined || isNarrowed(lookup)) return fromDatabase(deps, received, read(received));
  return complete(deps, received, await snapshotOf(deps, received, { reading, identity, opening, lookup }, row));
}

/**
 * Loads a snapshot for a decision that merges patients although the message is of another type.
 *
 * @returns undefined if the snapshot has what a merge needs
 */
export async function loadForMerge(
  deps: LoadDeps,
  received: Received,
  { reading, lookup, isCrowded }: Loaded,
): Promise<Loaded | NoSender | undefined> {
  const more = ofMerge(lookup);
  if (more === undefined) return undefined;
  const found = await lookUp(deps, received, reading, more);
  return 'status' in found ? found : { status: 'loaded', isCrowded, ...found };
}

/** Looks up codes that the load did not, in the tables of the message's settings. */
export async function loadCodes(
  deps: Pick<LoadDeps, 'database' | 'now' | 'snapshots'>,
  loaded: Loaded,
  codes: readonly SentCode[],
): Promise<Loaded> {
  const { site, codeTables: tables } = loaded.settings;
  const [row] = await inSite(deps.database, site).run(findCodes(site, tables, codes));
  const found = readCodeRows(codes, JSON.parse(row?.rows ?? 'null'));
  deps.snapshots?.keepCodes(site, tables, found, deps.now());
  return { ...loaded, codes: { tables, rows: new Map([...(currentCodes(loaded) ?? []), ...found]) } };
}

/** The rows that were looked up, unless other versions are live in the settings. */
const currentCodes = ({ codes, settings }: Pick<Loaded, 'codes' | 'settings'>): CodeRows | undefined =>
  codes !== undefined && versionsOf(codes.tables) === versionsOf(settings.codeTables) ? codes.rows : undefined;

/** The rows of code tables that are known for a message. */
export function codeRowsOf(
  { snapshots, now }: Pick<LoadDeps, 'snapshots' | 'now'>,
  loaded: Pick<Loaded, 'codes' | 'settings'>,
): CodeTables['rowsOf'] {
  const { site, codeTables } = loaded.settings;
  const current = currentCodes(loaded);
  return (code) => current?.get(keyOfCode(code)) ?? snapshots?.codeRows(site, codeTables, code, now());
}

/** The codes to look up with the snapshot: none if the sender's site had no table at its last message. */
function codesToFind(
  { snapshots, now }: Pick<LoadDeps, 'snapshots' | 'now'>,
  { reading, opening }: MessageLookup,
): SentCode[] {
  const known = snapshots?.sender(opening, now())?.settings;
  if (known === undefined) return codesIn(reading);
  if (known.codeTables.length === 0) return [];
  const systems = new Set(known.codeTables.flatMap((table) => table.systems));
  const isMissing = (code: SentCode): boolean =>
    systems.has(code.system) && snapshots?.codeRows(known.site, known.codeTables, code, now()) === undefined;
  return codesIn(reading).filter(isMissing);
}

interface KnownSender {
  /** By the settings of the cache. */
  readonly reading: Reading;
  readonly opening: Opening;
  readonly sender: SenderSnapshot;
}

/** The sender of a message, if the cache has it. */
function knownSender({ snapshots, now }: LoadDeps, received: Received, opened: Opened): KnownSender | undefined {
  if (snapshots === undefined || received.sender.kind === 'key') return undefined;
  const named = identityOf(opened.header, received.sha256);
  const opening = openingOf(received.sender, opened.header, named);
  const sender = snapshots.sender(opening, now());
  if (sender === undefined || !isOpenTo(opening, sender.settings.site)) return undefined;
  const reading = readBy(received, opened, sender.settings);
  const { application, facility } = identityOf(reading.header, received.sha256);
  // The key was selected by the names in UTF-8: other names may select another key.
  return application === named.application && facility === named.facility ? { reading, opening, sender } : undefined;
}

function fromCache(
  { snapshots, now }: LoadDeps,
  { bytes, sha256, documents }: Received,
  { reading, opening, sender }: KnownSender,
): Loaded | undefined {
  if (documents.length > 0 || bytes.length > MAX_BOUNDED_BYTES) return undefined;
  const { header, lookup } = reading;
  const matches = snapshots?.matches(sender.settings.site, lookup, now());
  if (matches === undefined) return undefined;
  const loaded = { reading, identity: identityOf(header, sha256), opening, lookup, isCrowded: false, codes: undefined };
  return { status: 'loaded', ...loaded, ...sender, ...withMatches(matches) };
}

async function fromDatabase(deps: LoadDeps, received: Received, reading: Reading): Promise<Loaded | NoSender> {
  return complete(deps, received, await lookUp(deps, received, reading));
}

/** A lookup for a message, with the opening of its transaction. */
type MessageLookup = Pick<Loaded, 'reading' | 'identity' | 'opening' | 'lookup'>;
/** A lookup with its snapshot. */
type WithSnapshot = MessageLookup & Snapshot & Pick<Loaded, 'codes'>;

function lookUp(
  deps: LoadDeps,
  received: Received,
  reading: Reading,
  lookup = reading.lookup,
): Promise<WithSnapshot | NoSender> {
  const identity = identityOf(reading.header, received.sha256);
  return snapshotOf(deps, received, {
    reading,
    identity,
    opening: openingOf(received.sender, reading.header, identity),
    lookup,
  });
}

/** @param row undefined: the database is asked */
async function snapshotOf(
  deps: Pick<LoadDeps, 'database' | 'snapshots' | 'now'>,
  received: Received,
  message: MessageLookup,
  row?: SnapshotRow,
): Promise<WithSnapshot | NoSender> {
  const codes = row === undefined ? codesToFind(deps, message) : [];
  const loaded = row ?? (await rowOf(deps.database, received.sender, message, codes));
  const found = snapshotIn(loaded, message.opening);
  if ('key' in found) return snapshotOf(deps, received, { ...message, opening: keyOpening(found.key) });
  if ('refused' in found) return { status: 'no-sender', header: message.reading.header, refusal: found };
  return { ...message, ...found.snapshot, codes: readLoadedCodes(loaded, codes) };
}

const NO_ROWS: SnapshotRow = { candidates: null, senders: null, matches: null };

async function rowOf(
  database: Database,
  sender: Sender,
  { opening, identity, lookup }: MessageLookup,
  codes: readonly SentCode[],
): Promise<SnapshotRow> {
  const shown = sender.kind === 'key' ? sender.shown : null;
  const query = loadSnapshot({
    opening: opening.arguments,
    site: opening.kind === 'key' ? opening.site : undefined,
    identity,
    lookup,
    codes,
    shown: shown?.action ?? null,
  });
  const noted = shown?.messageId ? [noteAudit(shown.action, 'Hl7Message', shown.messageId)] : [];
  const [[row = NO_ROWS]] = await database.batch([query, ...noted]);
  return row;
}

/** Reads the message by its key's settings, and narrows the lookup if too many patients share an identifier. */
async function complete(
  deps: LoadDeps,
  received: Received,
  first: WithSnapshot | NoSender,
): Promise<Loaded | NoSender> {
  if ('status' in first) return first;
  const reading = reread(received, first.reading, first.settings);
  const found = reading === undefined ? first : await lookUpAgain(deps, received, reading, first);
  if ('status' in found) return found;
  const loaded = await outsideCrowd(deps, received, found);
  if (loaded.status === 'loaded') {
    deps.snapshots?.keepSender(loaded.opening, loaded, deps.now());
    const { codes, settings } = loaded;
    if (codes !== undefined) deps.snapshots?.keepCodes(settings.site, codes.tables, codes.rows, deps.now());
  }
  return loaded;
}

/** Reuses the rows if the lookup is the same. */
async function lookUpAgain(
  deps: LoadDeps,
  received: Received,
  reading: Reading,
  first: WithSnapshot,
): Promise<WithSnapshot | NoSender> {
  const { lookup, header } = reading;
  if (JSON.stringify(lookup) !== JSON.stringify(first.lookup)) return lookUp(deps, received, reading);
  return { ...first, reading, identity: identityOf(header, received.sha256), lookup };
}

/** @param isOf selects the identifiers that count */
function isCrowd({ patients }: Snapshot, isOf: (value: string, authority: string) => boolean): boolean {
  const holders = new Map<string, number>();
  for (const { numbers } of patients) {
    const values = new Set(numbers.filter(([authority, value]) => isOf(value, authority)).map(([, value]) => value));
    for (const value of values) holders.set(value, (holders.get(value) ?? 0) + 1);
  }
  return Math.max(0, ...holders.values()) >= MAX_FOUND_PATIENTS;
}

/**
 * An identifier that many patients share hides the patient of another identifier. So the lookup is repeated with the
 * identifying ones only, without the site's placeholders and social security numbers. Patients with the exact authority are
 * found first. If these are too many too, the message stays crowded.
 */
async function outsideCrowd(deps: LoadDeps, received: Received, found: WithSnapshot): Promise<Loaded | NoSender> {
  const isCrowded = isCrowd(found, () => true);
  const loaded: Loaded = { status: 'loaded', isCrowded, ...found };
  const { reading, settings } = found;
  const { header, outline, rule } = reading;
  if (!isCrowded || outline === undefined || rule === undefined) return loaded;
  const fields = identifierFields(outline, rule);
  const { authorities } = authoritiesOf(settings, header.segment, fields);
  const identifying = fields
    .flatMap(({ segment, field }) => identifiersOfField(segment, field, authorities, settings))
    .filter(({ identifies }) => identifies);
  if (identifying.length === 0) return loaded;
  const narrow = await lookUp(deps, received, reading, narrowed(reading.lookup, identifying));
  if ('status' in narrow) return narrow;
  const isOwn = (value: string, id: string): boolean =>
    identifying.some((one) => one.value === value && one.authority.ids.includes(id));
  return { status: 'loaded', ...narrow, isCrowded: isCrowd(narrow, isOwn) };
}

const open = ({ bytes, documents }: CutMessage, charset: Charset = 'utf-8'): Opened =>
  openBytes(bytes, charset, documents);

const read = (received: CutMessage): Reading => readOpened(open(received));

type ReadingSettings = Pick<SenderSettings, 'charset' | 'hl7_rules'>;

const rulesOf = (received: Received, { hl7_rules: live }: ReadingSettings): LiveRules | null =>
  received.rules === undefined ? live : received.rules;

function readBy(received: Received, opened: Opened, settings: ReadingSettings): Reading {
  const isSame = hasCharset(opened, settings.charset);
  return readOpened(isSame ? opened : open(received, settings.charset), rulesOf(received, settings));
}

/** Checks whether the text of a message is the same in its key's character set. */
function hasCharset({ header, sent, assumedCharset }: Opened, charset: Charset): boolean {
  const isNamed = header.characterSets.some((name) => charsetNamed(name) !== undefined);
  return charset === assumedCharset || isNamed || (sent !== undefined && header.charset === charset);
}

/** Reads the message by these settings; undefined if the result would be the same. */
function reread(received: Received, { opened, rulesVersion }: Reading, settings: ReadingSettings): Reading | undefined {
  const isSame = rulesVersion === (rulesOf(received, settings)?.version ?? null);
  return isSame && hasCharset(opened, settings.charset) ? undefined : readBy(received, opened, settings);
}
