-- Why: owners that are older than the settings table get their rows too. A transaction of its own: it takes as long as
-- there are tenants, and holds no lock that stops anyone.

insert into settings (project_id) select id from projects on conflict do nothing;
insert into settings (project_id, tenant_id) select project_id, id from tenants on conflict do nothing;
insert into settings (project_id, application_id) select project_id, id from applications on conflict do nothing;
