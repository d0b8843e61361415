/** Seeded defects of migrations/functions: a condition on the site, a lock, a check that is missing. */
import type { Mutant } from './mutant.ts';

const TWINS = ['test/integration/store/isolation.test.ts'];
const LOCKS = ['test/integration/store/lock-order.test.ts'];
const STORE = ['test/integration/store/fhir-store.test.ts'];
const RACES = ['test/contract/fhir.test.ts'];
const FHIR = ['test/contract/fhir.test.ts'];
const OAUTH = ['test/contract/oauth.test.ts'];
const OAUTH_STORE = ['test/integration/store/oauth-store.test.ts'];
const OAUTH_STORE_FHIR = ['test/contract/oauth.test.ts'];
const INGEST_RACES = ['test/integration/hl7/ingest.test.ts', 'test/integration/hl7/bad-input.test.ts'];
const ADMIN_SITES = ['test/integration/store/admin-isolation.test.ts'];
const ADMIN = ['test/contract/admin-api.test.ts'];
const SITE = ['test/contract/admin-site.test.ts'];
const JOBS = ['test/integration/jobs/jobs.test.ts'];

export const SQL: readonly Mutant[] = [
  {
    name: 'resource_write: a patient of another site will do',
    file: 'migrations/functions/resource_write.sql',
    find: "where p.site_id = p_site and p.type = 'Patient' and p.id = x.patient offset 0",
    replace: "where p.type = 'Patient' and p.id = x.patient offset 0",
    tests: STORE,
  },
  {
    name: 'resource_write: the version of another site is looked at',
    file: 'migrations/functions/resource_write.sql',
    find: 'from resource c where c.site_id = p_site and c.type = r.type and c.id = r.id for no key update;',
    replace: 'from resource c where c.type = r.type and c.id = r.id order by c.version desc for no key update;',
    tests: TWINS,
  },
  {
    name: 'resource_write: another site is updated',
    file: 'migrations/functions/resource_write.sql',
    find: 'where c.site_id = p_site and c.type = r.type and c.id = r.id;',
    replace: 'where c.type = r.type and c.id = r.id;',
    tests: TWINS,
  },
  {
    name: 'search_rows_write: identifiers of another site go',
    file: 'migrations/functions/search_rows_write.sql',
    find: 'where i.site_id = p_site and i.type = p_type and i.id = p_id',
    replace: 'where i.type = p_type and i.id = p_id',
    tests: TWINS,
  },
  {
    name: 'search_rows_write: tokens of another site go',
    file: 'migrations/functions/search_rows_write.sql',
    find: 'where t.site_id = p_site and t.type = p_type and t.id = p_id',
    replace: 'where t.type = p_type and t.id = p_id',
    tests: TWINS,
  },
  {
    name: 'resource_write: the row is not locked',
    file: 'migrations/functions/resource_write.sql',
    find: ' for no key update;',
    replace: ';',
    tests: RACES,
  },
  {
    name: 'resource_write: locks in the order of the request',
    file: 'migrations/functions/resource_write.sql',
    find: "order by x.type <> 'Patient', x.id, x.n",
    replace: "order by x.type <> 'Patient', x.n",
    tests: LOCKS,
  },
  {
    name: 'resource_write: any version may be overwritten',
    file: 'migrations/functions/resource_write.sql',
    find: 'if (r.expect is not null and r.expect is distinct from coalesce(cur.version, 0))',
    replace: 'if (false)',
    tests: STORE,
  },
  {
    name: 'resource_write: what is the same is a new version',
    file: 'migrations/functions/resource_write.sql',
    find: '(cur.body = r.body and cur.meta = r.meta)',
    replace: 'false',
    tests: STORE,
  },
  {
    name: 'resource_write: the old version is not kept',
    file: 'migrations/functions/resource_write.sql',
    find: `      insert into resource_history (site_id, type, id, version, last_updated, meta, body, patient_id)
        values (p_site, r.type, r.id, cur.version, cur.last_updated, cur.meta, cur.body, cur.patient_id);
`,
    replace: '',
    tests: STORE,
  },
  {
    name: 'search_rows_write: what was searched is found on',
    file: 'migrations/functions/search_rows_write.sql',
    find: 'and (i.system, i.value) not in (',
    replace: 'and false and (i.system, i.value) not in (',
    tests: STORE,
  },
  {
    name: 'resource_write: an update of what is not there creates',
    file: 'migrations/functions/resource_write.sql',
    find: "if not found and r.mode in ('update', 'keep') then",
    replace: "if not found and r.mode in ('keep') then",
    tests: STORE,
  },
  {
    name: 'resource_transaction: of two matches the first is taken',
    file: 'migrations/functions/resource_transaction.sql',
    find: "when cardinality(found) > 1 then 'ambiguous'",
    replace: "when cardinality(found) > 9 then 'ambiguous'",
    tests: STORE,
  },
  {
    name: 'resource_transaction: another id than the body names is written',
    file: 'migrations/functions/resource_transaction.sql',
    find: "when c.required is not null and target::text <> c.required then 'another-id'",
    replace: '',
    tests: FHIR,
    only: 'onditional|transaction|batch',
  },
  {
    name: 'resource_transaction: one resource written twice',
    file: 'migrations/functions/resource_transaction.sql',
    find: 'if twice is not null then',
    replace: 'if false then',
    tests: STORE,
  },
  {
    name: 'resource_transaction: an unmet condition writes the rest',
    file: 'migrations/functions/resource_transaction.sql',
    find: 'if failed then return; end if;',
    replace: '',
    tests: STORE,
  },
  {
    name: 'resource_batch: a failed entry fails the batch',
    file: 'migrations/functions/resource_batch.sql',
    find: "exception when sqlstate 'GW404' or ",
    replace: 'exception when ',
    tests: STORE,
  },
  {
    name: 'require_resource: the current version of another site',
    file: 'migrations/functions/require_resource.sql',
    find: 'from resource r where r.site_id = p_site and r.type',
    replace: 'from resource r where r.type',
    tests: TWINS,
  },
  {
    name: 'require_resource: a superseded version of another site',
    file: 'migrations/functions/require_resource.sql',
    find: 'from resource_history h where h.site_id = p_site and h.type',
    replace: 'from resource_history h where h.type',
    tests: TWINS,
  },
  {
    name: 'caller_refusal: a disabled key goes on',
    file: 'migrations/functions/caller_refusal.sql',
    find: " and k.status = 'active')",
    replace: ')',
    tests: OAUTH_STORE_FHIR,
    only: 'isabled',
  },
  {
    name: 'caller_refusal: a revoked token goes on',
    file: 'migrations/functions/caller_refusal.sql',
    find: 'if exists (select from revoked_token',
    replace: 'if false and exists (select from revoked_token',
    tests: OAUTH,
    only: 'revo',
  },
  {
    name: 'token_revoke: nothing is revoked',
    file: 'migrations/functions/token_revoke.sql',
    find: `  insert into revoked_token (site_id, jti, expires_at) values (p_site, p_jti, p_expires) on conflict do nothing;
`,
    replace: '',
    tests: OAUTH_STORE,
  },
  {
    name: 'token_revoke: forgotten while it lives',
    file: 'migrations/functions/token_revoke.sql',
    find: "now() - interval '5 minutes'",
    replace: "now() + interval '5 minutes'",
    tests: OAUTH_STORE,
  },
  {
    name: 'jti_claim_add: the second use is a first',
    file: 'migrations/functions/jti_claim_add.sql',
    find: 'and c.jti_hash = p_hash and c.attempt = p_attempt)',
    replace: 'and c.jti_hash = p_hash)',
    tests: OAUTH_STORE,
  },
  {
    name: 'jti_claim_add: of another client',
    file: 'migrations/functions/jti_claim_add.sql',
    find: 'return found or exists (',
    replace: 'return true or exists (',
    tests: OAUTH_STORE,
  },
  {
    name: 'jti_claim_add: forgotten while it lives',
    file: 'migrations/functions/jti_claim_add.sql',
    find: 'where o.expires_at < now()',
    replace: "where o.expires_at < now() + interval '1 hour'",
    tests: OAUTH_STORE,
  },
  {
    name: 'lock_keys: no lock',
    file: 'migrations/functions/lock_keys.sql',
    find: '    perform pg_advisory_xact_lock(k);',
    replace: '    perform k;',
    tests: LOCKS,
  },
  {
    name: 'lock_keys: in the order of the request',
    file: 'migrations/functions/lock_keys.sql',
    find: "select distinct hashtextextended(p_site || '|' || u.key, 0) as hash from unnest(p_keys) u(key) order by hash loop",
    replace:
      "select hashtextextended(p_site || '|' || u.key, 0) as hash from unnest(p_keys) with ordinality u(key, n) order by n loop",
    tests: LOCKS,
  },
  {
    name: 'lock_keys: two sites are one',
    file: 'migrations/functions/lock_keys.sql',
    find: "hashtextextended(p_site || '|' || u.key, 0)",
    replace: "hashtextextended('|' || u.key, 0)",
    tests: LOCKS,
  },
  {
    name: 'hl7_match: the link of another site’s patient',
    file: 'migrations/functions/hl7_match.sql',
    find: "select x.body from resource x where x.site_id = p_site and x.type = 'Patient' and x.id = c.id limit 1",
    replace: "select x.body from resource x where x.type = 'Patient' and x.id = c.id order by x.version desc limit 1",
    tests: TWINS,
  },
  {
    name: 'hl7_match: the patient of another site',
    file: 'migrations/functions/hl7_match.sql',
    find: "select x.* from resource x where x.site_id = p_site and x.type = 'Patient' and x.id = p.id limit 1",
    replace: "select x.* from resource x where x.type = 'Patient' and x.id = p.id order by x.version desc limit 1",
    tests: TWINS,
  },
  {
    name: 'hl7_match: what messages gave to another site’s patient',
    file: 'migrations/functions/hl7_match.sql',
    find: "hl7_order x where x.site_id = p_site and x.type = 'Patient' and x.id = p.id limit 1) f",
    replace: "hl7_order x where x.type = 'Patient' and x.id = p.id order by x.site_id = p_site limit 1) f",
    tests: TWINS,
  },
  {
    name: 'hl7_match: the resource of another site',
    file: 'migrations/functions/hl7_match.sql',
    find: 'resource x where x.site_id = p_site and x.type = i.type and x.id = i.id limit 1',
    replace: 'resource x where x.type = i.type and x.id = i.id order by x.version desc limit 1',
    tests: TWINS,
  },
  {
    name: 'hl7_merge: another site’s resources get a history',
    file: 'migrations/functions/hl7_merge.sql',
    find: `      from resource r where r.site_id = p_site and r.patient_id = p_from;
  insert into hl7_message_resource`,
    replace: `      from resource r where r.patient_id = p_from;
  insert into hl7_message_resource`,
    tests: TWINS,
  },
  {
    name: 'hl7_merge: another site’s resources move',
    file: 'migrations/functions/hl7_merge.sql',
    find: `         patient_id = p_to
   where r.site_id = p_site and r.patient_id = p_from;`,
    replace: `         patient_id = p_to
   where r.patient_id = p_from;`,
    tests: TWINS,
  },
  {
    name: 'hl7_merge: another site’s keys move',
    file: 'migrations/functions/hl7_merge.sql',
    find: 'and i.site_id = p_site and i.type = r.type and i.id = r.id',
    replace: 'and i.type = r.type and i.id = r.id',
    tests: TWINS,
  },
  {
    name: 'hl7_merge: another site’s studies move',
    file: 'migrations/functions/hl7_merge.sql',
    find: '      update study x set patient_id = p_to where x.site_id = p_site and x.study_id = s.study_id;',
    replace: '      update study x set patient_id = p_to where x.study_id = s.study_id;',
    tests: TWINS,
  },
  {
    name: 'hl7_store: messages about one patient do not take turns',
    file: 'migrations/functions/hl7_store.sql',
    find: `  perform lock_keys(p_site, array(select 'Patient|' || v from unnest(p_values) v));
`,
    replace: '',
    tests: LOCKS,
  },
  {
    name: 'hl7_match: results are found by the filler number alone',
    file: 'migrations/functions/hl7_match.sql',
    find: "and x.placer <> '' and (length",
    replace: 'and false and (length',
    tests: ['test/contract/hl7.test.ts'],
    only: 'on deno > which result is meant',
  },
  {
    name: 'hl7_merge: results stay with who was merged away',
    file: 'migrations/functions/hl7_merge.sql',
    find: 'set patient_id = p_to,\n         place',
    replace: 'set patient_id = p_from,\n         place',
    tests: ['test/contract/hl7.test.ts'],
    only: 'on deno > which result is meant',
  },
  {
    name: 'hl7_merge: results that meet stay side by side',
    file: 'migrations/functions/hl7_merge.sql',
    find: '  perform hl7_results_meet(p_site, p_message, p_from, p_to);\n',
    replace: '',
    tests: ['test/contract/hl7.test.ts'],
    only: 'on deno > results that meet',
  },
  {
    name: 'hl7_results_meet: the survivor’s stays, however old',
    file: 'migrations/functions/hl7_results_meet.sql',
    find: 'm.other) collate "C" > hl7_order',
    replace: 'm.other) collate "C" > \'9\' || hl7_order',
    tests: ['test/contract/hl7.test.ts'],
    only: 'on deno > results that meet',
  },
  {
    name: 'hl7_results_meet: results of equal value or not meet',
    file: 'migrations/functions/hl7_results_meet.sql',
    find: 'on t.value = o.value and t.n = o.n',
    replace: 'on t.n = o.n',
    tests: ['test/contract/hl7.test.ts'],
    only: 'on deno > results that meet',
  },
  {
    name: 'hl7_results_meet: a report keeps only its own results',
    file: 'migrations/functions/hl7_results_meet.sql',
    find: 'hl7_references_set(r.other, gone, kept) ||',
    replace: 'hl7_references_set(r.body, gone, kept) ||',
    tests: ['test/contract/hl7.test.ts'],
    only: 'on deno > results that meet',
  },
  {
    name: 'hl7_same_order: the number of another laboratory will do',
    file: 'migrations/functions/hl7_same_order.sql',
    find: `p_a #>> '{filler,authority,name}' = p_b #>> '{filler,authority,name}', false)`,
    replace: 'true)',
    tests: ['test/contract/hl7.test.ts'],
    only: 'on deno > results that meet',
  },
  {
    name: 'hl7_same_time: any time of collection will do',
    file: 'migrations/functions/hl7_same_time.sql',
    find: 'when length(p_a) = length(p_b) then false',
    replace: 'when length(p_a) = length(p_b) then true',
    tests: ['test/contract/hl7.test.ts'],
    only: 'on deno > results that meet',
  },
  {
    name: 'hl7_store: what was accepted meanwhile is processed again',
    file: 'migrations/functions/hl7_store.sql',
    find: "if m.why not in ('replayed', 'forced') then",
    replace: 'if false then',
    tests: ['test/integration/hl7/settings.test.ts'],
  },
  {
    name: 'hl7_store: what was found may have changed',
    file: 'migrations/functions/hl7_store.sql',
    find: 'if p_state is distinct from (',
    replace: 'if false and p_state is distinct from (',
    tests: INGEST_RACES,
  },
  {
    name: 'api_key_write: a key of another site is changed',
    file: 'migrations/functions/api_key_write.sql',
    find: 'from api_key k where k.site_id = p_site and k.client_id = p_client for no key update;',
    replace: 'from api_key k where k.client_id = p_client for no key update;',
    tests: ADMIN_SITES,
  },
  {
    name: 'api_key_write: two editors overwrite each other',
    file: 'migrations/functions/api_key_write.sql',
    find: 'if cardinality(p_expected) > 0 and not cur.version = any (p_expected) then',
    replace: 'if false then',
    tests: ADMIN,
  },
  {
    name: 'api_key_write: one public key for two clients',
    file: 'migrations/functions/api_key_write.sql',
    find: '  if taken is not null then',
    replace: '  if false then',
    tests: ADMIN,
  },
  {
    name: 'api_key_write: no history',
    file: 'migrations/functions/api_key_write.sql',
    find: `  insert into api_key_change (site_id, client_id, version, by, before, after)
    values (p_site, p_client, new_key.version, p_by, case when p_expected is null then null else to_json(cur) end, to_json(new_key));
`,
    replace: '',
    tests: ADMIN,
  },
  {
    name: 'site_write: two editors overwrite each other',
    file: 'migrations/functions/site_write.sql',
    find: 'if cardinality(p_expected) > 0 and not cur.version = any (p_expected) then',
    replace: 'if false then',
    tests: SITE,
  },
  {
    name: 'site_write: without the lock two editors overwrite each other',
    file: 'migrations/functions/site_write.sql',
    find: 'where s.site_id = p_site for no key update;',
    replace: 'where s.site_id = p_site;',
    tests: SITE,
  },
  {
    name: 'site_write: every site is changed',
    file: 'migrations/functions/site_write.sql',
    find: '      where site_id = $1 returning *',
    replace: '      where $1 is not null returning *',
    tests: SITE,
  },
  {
    name: 'site_write: no history',
    file: 'migrations/functions/site_write.sql',
    find: `  insert into site_change (site_id, version, by, before, after)
    values (p_site, new_site.version, p_by, case when p_expected is null then null else to_json(cur) end,
      to_json(new_site));
`,
    replace: '',
    tests: SITE,
  },
  {
    name: 'refusal_add: a flood pushes out the refusals of others',
    file: 'migrations/functions/refusal_add.sql',
    find: 'delete from refusal r where r.site_id = v_site and r.client_id = p_client and r.refusal_id <= v_oldest;',
    replace: 'delete from refusal r where r.site_id = v_site and r.refusal_id <= v_oldest;',
    tests: OAUTH_STORE,
  },
  {
    name: 'job_advance: a lost lease writes on',
    file: 'migrations/functions/job_advance.sql',
    find: 'where j.job_id = p_id and j.lease = p_lease;',
    replace: 'where j.job_id = p_id;',
    tests: JOBS,
  },
  {
    name: 'job_claim: one job for two runners',
    file: 'migrations/functions/job_claim.sql',
    find: `        and (d.lease_until is null or d.lease_until <= clock_timestamp())
`,
    replace: '',
    tests: JOBS,
  },
  {
    name: 'job_stop: a stopped job keeps its lease',
    file: 'migrations/functions/job_stop.sql',
    find: 'lease = null, lease_until = null, ',
    replace: '',
    tests: JOBS,
  },
];
