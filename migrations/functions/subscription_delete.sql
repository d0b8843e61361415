-- Deletes a subscription of an API key; p_client null: of any API key of the site. Returns its id, or no row without such a subscription.
create or replace function subscription_delete(p_site uuid, p_client text, p_id uuid) returns table (id uuid) language sql as $$
  with deleted as (
    delete from subscription s
     where s.site_id = p_site and s.subscription_id = p_id and (p_client is null or s.client_id = p_client)
    returning s.subscription_id, s.accepted, s.failed
  ), kept as (
    insert into subscription_deleted as k (site_id, accepted, failed)
      select p_site, d.accepted, d.failed from deleted d
      on conflict (site_id) do update set accepted = k.accepted + excluded.accepted, failed = k.failed + excluded.failed
  )
  select d.subscription_id from deleted d
   cross join lateral (
     select audit_note(array[row('subscription-deleted', 'Subscription', d.subscription_id, null)::audit_item]) as noted) n
   where n.noted
$$;
