/** The facts of a message's header that decide how it is read. */
import type { EventRule } from '../mapping/tables/events.ts';

export interface MessageKind {
  readonly messageType: string;
  /** MSH-12.1 */
  readonly versionId: string;
  readonly rule: EventRule;
  /** MSH-3 and MSH-4: the authority of numbers of documents, diagnoses and others without one. */
  readonly sender: string;
}
