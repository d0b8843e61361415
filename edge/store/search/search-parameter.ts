/** A row of the tables of search parameters (parameters.ts, us-core.ts). */
import type { IndexedParameter } from './kind.ts';
import type { KindName } from './kinds.ts';

export interface SearchParameter extends IndexedParameter<KindName> {
  /** The canonical URL of R4's definition, unless the gateway supports less. */
  readonly definition?: string;
  readonly documentation: string;
}
