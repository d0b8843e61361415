-- Who said what of a resource when, in the order of time (edge/README.md, HL7 v2): in the place of what the fields of PID
-- and PD1 last gave to a patient's lists.

drop table hl7_contribution;

-- fields: JSON { order: { register: what it gave to a list, or null } }, which edge/hl7/order/registers.ts reads and writes.
-- stamps: JSON { element: ms since the epoch }, when FHIR clients last changed what stands under that name, written by
-- order_stamp. Every resource that a message made or changed has a row, and every Patient that a FHIR client changed.
create table hl7_order (
  site_id uuid not null,
  type text not null,
  id uuid not null,
  fields text not null default '{}',
  stamps text not null default '{}',
  primary key (site_id, type, id),
  foreign key (site_id, type, id) references resource
);
