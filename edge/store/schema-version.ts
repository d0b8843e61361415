/**
 * The schema that this code was written for: the newest numbered migration, and the functions. A Worker cannot list
 * `migrations/`, so both stand here, and a test holds them against the folder.
 */
import type { Query } from '../deps.ts';
import { read } from './sql.ts';

/** Number of the newest numbered file in `migrations/`. */
export const SCHEMA_VERSION = 44;

/** The files of `migrations/functions/`. Their arguments and rows never change, so a name says enough. */
export const FUNCTIONS: readonly string[] = [
  'alert_ask',
  'alert_facts',
  'alert_notices_due',
  'alert_notices_tried',
  'alert_write',
  'api_key_write',
  'assert_caller',
  'assert_in_time',
  'assert_session',
  'assert_session_lasts',
  'attention_add',
  'audit_add',
  'audit_forget',
  'audit_note',
  'audit_write',
  'authorities_named',
  'authority_alias_add',
  'authority_alias_decide',
  'bulk_export_begin',
  'bulk_export_file_write',
  'bulk_export_found',
  'bulk_export_step',
  'caller_refusal',
  'client_find',
  'console_person_note',
  'console_session_ask',
  'console_session_begin',
  'console_session_is_live',
  'console_session_logout',
  'console_session_sites',
  'console_session_to_site',
  'feeds_now',
  'fhir_find',
  'fhir_read',
  'fhir_write',
  'hl7_accepted',
  'hl7_authorities',
  'hl7_body_write',
  'hl7_known',
  'hl7_merge',
  'hl7_messages_forget',
  'hl7_order_of_result',
  'hl7_references_set',
  'hl7_results_meet',
  'hl7_same_order',
  'hl7_same_time',
  'hl7_sender',
  'hl7_settings_state',
  'hl7_take',
  'hl7_value_text',
  'hl7_write',
  'job_add',
  'job_advance',
  'job_claim',
  'job_fail',
  'job_resume',
  'job_stop',
  'json_member_set',
  'jti_claim_add',
  'key_kids_note',
  'limit_time',
  'lock_keys',
  'lock_patients',
  'metrics_told',
  'mllp_candidates',
  'mllp_covered',
  'mllp_networks_of',
  'mllp_owners',
  'mllp_ranges',
  'namespaces_meet',
  'order_elements',
  'order_stamp',
  'patient_erase',
  'patient_links_without',
  'patient_rows_write',
  'patient_survivor',
  'refusals_note',
  'request_begin',
  'require_resource',
  'resource_batch',
  'resource_reindex',
  'resource_transaction',
  'resource_version_at',
  'resource_write',
  'retention_ask',
  'retention_due',
  'retention_step',
  'retention_until',
  'search_digest',
  'search_index_write',
  'search_key',
  'search_lag',
  'search_require',
  'search_zone',
  'sidecar_heard',
  'sidecar_turned_away',
  'site_address_add',
  'site_address_lock',
  'site_address_remove',
  'site_addresses_foreign',
  'site_write',
  'thumbprints_taken',
  'thumbprints_write',
  'token_revoke',
  'usage_noted',
  'write_time',
];

export interface SchemaRow {
  /** The number of the newest migration in the database, 0 for none. */
  readonly version: number;
  /** Those of FUNCTIONS that the database does not have. */
  readonly missing: readonly string[];
  /** False of a replica, after a fail-over, and where an operator or a limit of storage has stopped all writes. */
  readonly is_writable: boolean;
  /** Row-level security holds for whoever asks (edge/README.md, Second wall). */
  readonly is_walled: boolean;
}

/**
 * What the database has. Ready is `version >= SCHEMA_VERSION` with nothing missing: the schema goes forward first, the
 * code follows, and in between the older code still serves.
 */
export function schemaVersion(): Query<SchemaRow> {
  return read<SchemaRow>`select (select coalesce(max(version), 0) from schema_migration) as version,
      array(select n from unnest(${FUNCTIONS}::text[]) n
             where not exists (select from schema_function f where f.name = n) order by n) as missing,
      current_setting('default_transaction_read_only') = 'off' and not pg_is_in_recovery() as is_writable,
      row_security_active('resource') as is_walled`;
}
