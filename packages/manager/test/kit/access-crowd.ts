// Seeds many access grants with SQL. Each person has a role in a project, in one of its tenants and in one of its
// applications.
import type { Pool } from 'pg'

/** Seeds `people` users with three grants each in 100 projects. The audit trail contains half of the grants. */
export async function seedAccessCrowd(sql: Pool, people: number): Promise<void> {
  const client = await sql.connect()
  try {
    await client.query('begin')
    await client.query(`
      create temporary table crowd_projects on commit drop as select gen_random_uuid() as id, gen_random_uuid() as tenant_id,
        gen_random_uuid() as application_id, n from generate_series(1, 100) n`)
    await client.query(
      `insert into projects (id, name, slug) select id, 'Project ' || n, 'crowd-' || n from crowd_projects`,
    )
    await client.query(
      `insert into tenants (id, project_id, name, slug) select tenant_id, id, 'Tenant ' || n, 'crowd-' || n from crowd_projects`,
    )
    await client.query(
      `insert into applications (id, project_id, name, slug)
       select application_id, id, 'Application ' || n, 'crowd-' || n from crowd_projects`,
    )
    await client.query(
      `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions)
       select gen_random_uuid(), id, tenant_id, 'member', '{apps.read}' from crowd_projects`,
    )
    await client.query(
      `create temporary table crowd on commit drop as
       select gen_random_uuid() as id, n, gen_random_uuid() as m1, gen_random_uuid() as m2, gen_random_uuid() as m3
       from generate_series(1, $1::int) n`,
      [people],
    )
    await client.query(
      `insert into users (id, external_name, external_username, external_email)
       select id, 'Person ' || n, 'person' || n, 'person' || n || '@example.com' from crowd`,
    )
    const placed = 'from crowd c join crowd_projects p on p.n = 1 + c.n % 100'
    await client.query(
      `insert into user2projects (id, project_id, user_id, role) select m1, p.id, c.id, 'developer' ${placed}`,
    )
    await client.query(
      `insert into user2tenants (id, project_id, tenant_id, user_id, role_name)
       select m2, p.id, p.tenant_id, c.id, 'member' ${placed}`,
    )
    await client.query(
      `insert into user2applications (id, project_id, application_id, user_id, role)
       select m3, p.id, p.application_id, c.id, 'normal' ${placed}`,
    )
    await client.query(
      `insert into audit_logs (chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes, form,
         principal_type, principal_id, user_id, ip_address, user_agent, created_at, prev_hash, hash)
       select p.id, row_number() over (partition by p.id order by c.n), gen_random_uuid(), g.type, g.id::text, 'grant', 'granted',
         '{}', '{}', 2, 'user', c.id::text, c.id, '', '', now(), '', ''
       ${placed} cross join lateral (values ('user2project', c.m1), ('user2tenant', c.m2), ('user2application', c.m3)) g (type, id)
       where c.n % 2 = 0`,
    )
    await client.query(
      `insert into user_activity select id, now() - (n % 400) * interval '1 day' from crowd where n % 3 > 0`,
    )
    await client.query('commit')
    await client.query('analyze')
  } finally {
    client.release()
  }
}
