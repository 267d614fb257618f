// Inserts users and objects with SQL, for tests that do not cover their creation.
import { hash, pbkdf2Sync, randomBytes, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Person } from './callers.ts'

/** Inserts a user, so that the service knows the user before their first request. */
export async function seedUser(
  sql: Pool,
  name: string,
  role: 'user' | 'administrator' = 'user',
): Promise<Person> {
  const person = { id: randomUUID(), email: `${name}@example.com`, name }
  await sql.query(
    'insert into users (id, external_name, external_username, external_email, role) values ($1, $2, $3, $3, $4)',
    [person.id, name, person.email, role],
  )
  return person
}

export type SeededProject = {
  id: string
  slug: string
  environmentId: string
  tenantId: string
  tenantSlug: string
  applicationId: string
  applicationSlug: string
  tenant2ApplicationId: string
}

/**
 * Inserts a project with environments, a tenant with seeded roles, and an application that is enabled for the
 * tenant. The tenant has no members.
 */
export async function seedProject(sql: Pool, slug: string): Promise<SeededProject> {
  const [id, environmentId, tenantId, applicationId, tenant2ApplicationId] = Array.from({ length: 5 }, () =>
    randomUUID(),
  )
  await sql.query('insert into projects (id, name, slug) values ($1, $2, $3)', [id, `Project ${slug}`, slug])
  await sql.query(
    `insert into environments (id, project_id, name, display_name, sort_order, protected)
     values ($1, $2, 'dev', 'Development', 10, false), (gen_random_uuid(), $2, 'qas', 'QA', 20, false),
            (gen_random_uuid(), $2, 'run', 'Production', 30, true)`,
    [environmentId, id],
  )
  await seedTenant(sql, id as string, tenantId as string, `${slug}-tenant`)
  await sql.query('insert into applications (id, project_id, name, slug) values ($1, $2, $3, $4)', [
    applicationId,
    id,
    `Application of ${slug}`,
    `${slug}-app`,
  ])
  await sql.query(
    'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values ($1, $2, $3, $4, true)',
    [tenant2ApplicationId, id, tenantId, applicationId],
  )
  return {
    id: id as string,
    slug,
    environmentId: environmentId as string,
    tenantId: tenantId as string,
    tenantSlug: `${slug}-tenant`,
    applicationId: applicationId as string,
    applicationSlug: `${slug}-app`,
    tenant2ApplicationId: tenant2ApplicationId as string,
  }
}

/** Inserts a tenant with the three seeded role definitions. */
export async function seedTenant(
  sql: Pool,
  projectId: string,
  tenantId: string,
  slug: string,
): Promise<void> {
  await sql.query('insert into tenants (id, project_id, name, slug) values ($1, $2, $3, $3)', [
    tenantId,
    projectId,
    slug,
  ])
  await sql.query(
    `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions, seeded)
     select gen_random_uuid(), $1, $2, name, permissions::text[], true from (values
       ('member', '{apps.read}'), ('admin', '{apps.read,apps.configure,members,invites}'),
       ('owner', '{apps.read,apps.configure,members,invites}')) as seeds (name, permissions)`,
    [projectId, tenantId],
  )
}

/** Grants a person a role in a project, a tenant or an application. Returns the row id. */
export async function seedMember(
  sql: Pool,
  person: Person,
  role: string,
  of: { projectId: string; tenantId?: string; applicationId?: string },
): Promise<string> {
  const id = randomUUID()
  if (of.tenantId !== undefined)
    await sql.query(
      'insert into user2tenants (id, project_id, tenant_id, user_id, role_name) values ($1, $2, $3, $4, $5)',
      [id, of.projectId, of.tenantId, person.id, role],
    )
  else if (of.applicationId !== undefined)
    await sql.query(
      'insert into user2applications (id, project_id, application_id, user_id, role) values ($1, $2, $3, $4, $5)',
      [id, of.projectId, of.applicationId, person.id, role],
    )
  else
    await sql.query('insert into user2projects (id, project_id, user_id, role) values ($1, $2, $3, $4)', [
      id,
      of.projectId,
      person.id,
      role,
    ])
  return id
}

/** Inserts a personal access token whose secret is unknown, and returns its id. */
export async function seedAccessToken(sql: Pool, person: Person): Promise<string> {
  const id = randomUUID()
  await sql.query(
    `insert into personal_access_tokens (id, user_id, name, token_prefix, hash)
     values ($1, $2, 'seeded', $3, '$pbkdf2-sha256$seeded')`,
    [id, person.id, id.slice(0, 8)],
  )
  return id
}

/** Inserts a token like those of older installations: in the current format, but without a checksum. */
export async function seedOldToken(
  sql: Pool,
  person: Person,
): Promise<{ id: string; token: string; tokenPrefix: string }> {
  const [id, tokenPrefix] = [randomUUID(), randomBytes(4).toString('hex')]
  const token = `pat_${tokenPrefix}_${randomBytes(16).toString('hex')}`
  await sql.query(
    `insert into personal_access_tokens (id, user_id, name, token_prefix, hash, has_check)
     values ($1, $2, 'of an old install', $3, $4, false)`,
    [id, person.id, tokenPrefix, quickHash(token)],
  )
  return { id, token, tokenPrefix }
}

/** Returns a new machine token and the values that the service stores for it. */
export function createMachineToken(): { token: string; tokenPrefix: string; tokenHash: Buffer } {
  const token = randomBytes(32).toString('base64url')
  return { token, tokenPrefix: token.slice(0, 8), tokenHash: hash('sha256', token, 'buffer') }
}

/** Inserts a Bearer machine user and returns it with its token. */
export async function seedMachineUser(
  sql: Pool,
  project: SeededProject,
): Promise<{ id: string; token: string }> {
  const id = randomUUID()
  const { token, tokenPrefix, tokenHash } = createMachineToken()
  await sql.query(
    `insert into machine_users (id, project_id, environment_id, name, username, enabled, token_prefix, token_hash)
     values ($1, $2, $3, 'seeded', $4, true, $5, $6)`,
    [id, project.id, project.environmentId, `Bearer:${tokenPrefix}`, tokenPrefix, tokenHash],
  )
  return { id, token }
}

/** Inserts a Basic machine user. Its hash uses a low iteration count to keep tests fast. */
export async function seedBasicUser(
  sql: Pool,
  project: SeededProject,
  username: string,
): Promise<{ username: string; password: string }> {
  const password = `secret of ${username}`
  await sql.query(
    `insert into machine_users (id, project_id, environment_id, name, username, enabled, password_hash)
     values ($1, $2, $3, 'seeded', $4, true, $5)`,
    [randomUUID(), project.id, project.environmentId, username, quickHash(password)],
  )
  return { username, password }
}

function quickHash(secret: string): string {
  const salt = randomBytes(16)
  const stored = pbkdf2Sync(secret, salt, 1_000, 32, 'sha256').toString('base64url')
  return `$pbkdf2-sha256$i=1000$${salt.toString('base64url')}$${stored}`
}
