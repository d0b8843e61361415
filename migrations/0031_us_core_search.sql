-- What US Core's searches ask for beside the others (edge/README.md, FHIR): dates as the intervals that they are, and
-- the parts of names. Which parameters a resource has no value of are tokens of the parameter 'missing'.

create table resource_date (
  site_id uuid not null,
  type text not null,
  id uuid not null,
  param text not null,
  -- [from_at, before_at), unbounded where a Period is. What is written without a zone is kept as if it were of UTC, and
  -- marked: which instants it means, the site's time zone says, which may change.
  from_at timestamptz(3) not null,
  before_at timestamptz(3) not null,
  from_is_local boolean not null,
  before_is_local boolean not null,
  foreign key (site_id, type, id) references resource
);
-- Everything since, and everything until.
create index resource_date_before on resource_date (site_id, type, param, before_at, id);
create index resource_date_from on resource_date (site_id, type, param, from_at, id);
alter table resource_date add primary key (site_id, type, id, param);
select table_of_site('resource_date');
grant select, insert, update, delete on resource_date to gateway_app;

-- families, givens: each folded as in names, a line break before and after each. exact: every text (T), family (F) and
-- given (G) name as it was sent, with that letter before it.
alter table patient_search
  add families text collate "C" not null default '',
  add givens text collate "C" not null default '',
  add exact text collate "C" not null default '';
create or replace view patient_search_here as
  select * from patient_search where site_id = nullif(current_setting('gateway.site', true), '')::uuid;

-- Sites of which some resources were written by a release that did not write all that is searched now. generation: the
-- parameters up to it are whole (edge/store/search/parameters.ts); a site without a row has all. filling: the generation
-- that a reindexing is at; null: none, or an older release has written since it began.
create table search_behind (
  site_id uuid primary key references site,
  generation integer not null,
  filling integer
);
select table_of_site('search_behind');
grant select, insert, update, delete on search_behind to gateway_app;
insert into search_behind (site_id, generation) select site_id, 1 from site;

drop function if exists search_rows_write(uuid, text, uuid, boolean, uuid, json, json, json, json);
