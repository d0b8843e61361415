/** The errors of the database that pass, so that a client retries, and those that are bugs of the gateway. */
import { expect, test } from 'vitest';

import { faultOfState } from '../../../edge/store/sqlstate.ts';

const kindOf = (state: string) => faultOfState(state, undefined, new Error('no'))?.kind;

test.each([
  ['a connection that broke', '08006'],
  ['a password that was changed', '28P01'],
  ['a database that is not there', '3D000'],
  ['a database that takes no writes', '25006'],
  ['a transaction that idled for too long', '25P03'],
  ['two transactions in each other’s way', '40001'],
  ['a deadlock', '40P01'],
  ['a lock of another transaction', '55P03'],
  ['a disk that is full', '53100'],
  ['a lock table that is full', '53200'],
  ['no connection left', '53300'],
  ['a statement that took too long', '57014'],
  ['a server that shuts down', '57P01'],
  ['a block that cannot be read', '58030'],
])('%s (%s) passes', (_, state) => expect(kindOf(state)).toBe('unavailable'));

test.each([
  ['a privilege that is missing', '42501'],
  ['a key that is there', '23505'],
  ['a value that does not fit', '22003'],
  ['an internal error', 'XX000'],
  ['a function that is not there', '42883'],
  ['a write in a function that says it reads', '25001'],
  ['none', ''],
])('%s (%s) is a bug', (_, state) => expect(kindOf(state)).toBeUndefined());
