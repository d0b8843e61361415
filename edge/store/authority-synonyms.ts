/**
 * SQL that compares assigning authorities (CX.4). A name and a URI are equal if the site's settings say so. They are
 * also equal if messages of a key taught it and no administrator rejected it. Compared values are in small letters, an
 * OID or UUID without `urn:oid:` and `urn:uuid:` before it.
 */

/** SQL: a name or a URI in the form that is compared. */
const folded = (text: string): string => `replace(replace(lower(trim(${text})), 'urn:oid:', ''), 'urn:uuid:', '')`;

/** SQL: namespace and universal id of an authority of `hl7_message_key`, without empty ones. @param text SQL */
export const authoritiesOf = (text: string): string => `array_remove(string_to_array(${folded(text)}, '&'), '')`;

/** A common table expression for `withSynonyms`: the URIs of names. @param site SQL */
export const authorityNames = (site: string): string => `named as materialized (
  select ${folded('e.key')} as name, ${folded('e.value')} as uri
    from site s cross join lateral jsonb_each_text(s.assigning_authorities) e where s.site_id = ${site}
), synonyms as materialized (
  select name, uri from named
   union
  select ${folded('a.namespace')}, ${folded('a.uri')} from authority_alias a
   where a.site_id = ${site} and a.state in ('taught', 'confirmed')
     and not exists (select from named n where n.name = ${folded('a.namespace')})
)`;

/**
 * SQL: these authorities and all that are equal to one of them, as an array.
 *
 * @param authorities SQL of an array, as `authoritiesOf` makes it
 */
export const withSynonyms = (authorities: string): string => `array(
  select unnest(${authorities})
   union select meaning.uri from synonyms meaning where meaning.name = any (${authorities})
   union select other.name from synonyms other
          where other.uri = any (${authorities})
             or other.uri in (select meaning.uri from synonyms meaning where meaning.name = any (${authorities})))`;
