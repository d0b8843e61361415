/** The settings that `npm run migrate` gives the gateway's login, and that the doctor checks. */

/** PostgreSQL ends a statement after this time, so that no query runs on after the gateway has answered 503. */
export const STATEMENT_TIMEOUT = '8s';

/**
 * Off for the login. A statement is planned as if each table had only its site (migrations/0001_site.sql). So PostgreSQL could read
 * the rows of all sites from end to end, or compile the plan of a few rows.
 */
export const PLANS_OFF: readonly string[] = ['enable_seqscan', 'jit'];
