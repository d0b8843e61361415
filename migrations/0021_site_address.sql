-- Which source addresses of MLLP are whose, as the operator of the gateway assigned them (edge/README.md, MLLP).

-- A range as its network among all addresses, IPv4 as IPv4-mapped (RFC 4291 §2.5.5.2), so that both families compare.
-- Null for what is no range.
create function mllp_network(p_range text) returns cidr
language sql immutable as $$
  select case when r = '*' then '::/0'::cidr
              when not pg_input_is_valid(r, 'inet') then null
              when family(r::inet) = 4
              then network(set_masklen(('::ffff:' || host(r::inet))::inet, 96 + masklen(r::inet)))
              else network(r::inet) end
    from unnest(array[p_range]) r
$$;

create table site_address (
  site_id uuid not null references site,
  range text not null,
  network cidr generated always as (mllp_network(range)) stored check (network is not null),
  -- Only messages with these MSH-3, MSH-4 and subject of the sender's TLS certificate; '' for any.
  application text not null default '',
  facility text not null default '',
  tls_subject text not null default '',
  assigned_at timestamptz not null default now(),
  assigned_by text not null,
  primary key (site_id, range, application, facility, tls_subject)
);
create index site_address_network on site_address using gist (network inet_ops);
-- The operator's alone to change, as the owner.
select table_of_site('site_address');
grant select on site_address to gateway_app;
drop function if exists mllp_senders(text, text, text);

alter table api_key add column tls_subject text;
-- What the sidecar vouched for; null without a certificate.
alter table hl7_message add column tls_subject text;

-- A site that is alone has every address. Of several each keeps what its keys take messages from, so that none is lost;
-- where two of them take the same, its sender is refused until the operator says whose it is.
insert into site_address (site_id, range, assigned_by)
  select s.site_id, '*', 'migration' from site s where (select count(*) from site) = 1;
insert into site_address (site_id, range, application, facility, assigned_by)
  select distinct k.site_id, a, coalesce(k.hl7_sender_application, ''), coalesce(k.hl7_sender_facility, ''), 'migration'
    from api_key k cross join unnest(k.allowed_ips) a
   where 'hl7-mllp' = any (k.protocols) and mllp_network(a) is not null and (select count(*) from site) > 1;
