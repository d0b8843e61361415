/** SQL: the members of a Patient that identify the person, as JSON text; a photo may be large. @param resource an alias with a body */
export const personSql = (resource: string): string =>
  `(select json_build_object('name', j -> 'name', 'birthDate', j -> 'birthDate',
      'gender', j -> 'gender', 'identifier', j -> 'identifier', 'telecom', j -> 'telecom', 'address', j -> 'address')::text
    from (select ('{' || ${resource}.body || '}')::json as j where ${resource}.body is not null) p)`;
