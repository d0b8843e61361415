/** A row of the tables of search parameters (parameters.ts, us-core.ts). */
import type { IndexedParameter } from './kind.ts';
import type { KindName } from './kinds.ts';

export interface SearchParameter extends IndexedParameter<KindName> {
  /** The canonical of R4's own definition, where ours is no narrower. */
  readonly definition?: string;
  readonly documentation: string;
}
