-- Why: the lengths of two texts of endpoints were checked by the service alone; the database now holds them too.
alter table endpoints
  add constraint endpoints_description_length check (char_length(description) <= 2000),
  add constraint endpoints_auth_username_length check (char_length(auth_username) <= 200);
