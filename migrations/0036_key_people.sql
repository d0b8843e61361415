-- What people should know of an API key (edge/README.md, Administration): nothing that a token or a message is judged by.
alter table api_key
  add contact text,
  add notes text;
