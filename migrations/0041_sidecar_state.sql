-- What a sidecar says of itself when it asks for the ranges: null where an older release told nothing.
alter table sidecar_seen add version text, add connections integer, add told_at timestamptz;
