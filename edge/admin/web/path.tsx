/** A place in a message (ERR-2), as people write it. */
import { shortPathOf } from '../../../shared/hl7/value.ts';

/** @param at `PID^1^3^1^4`: shown as `PID-3.4` */
export const Path = ({ at }: { at: string }) => <code>{shortPathOf(at)}</code>;
