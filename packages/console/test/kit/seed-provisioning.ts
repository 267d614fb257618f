// Tokens of identity providers, groups with rules, and people whom a group or an administrator affects.
import { randomBytes, randomUUID } from 'node:crypto'
import type { Person } from '@manager/harness/callers.ts'
import { type SeededProject, seedMember, seedUser } from '@manager/harness/seed.ts'
import { seedGroup } from '../../../manager/test/kit/groups.ts'
import type { Scene } from './scene.ts'
import type { Objects } from './views.ts'

type Sql = Scene['service']['sql']

/** Inserts a token whose secret is unknown, and returns its id. */
async function seedScimToken(sql: Sql, name: string, creatorId: string): Promise<string> {
  const id = randomUUID()
  await sql.query(
    `insert into scim_tokens (id, name, token_prefix, token_hash, creator_id, expires_at)
     values ($1, $2, $3, $4, $5, now() + interval '1 year')`,
    [id, name, `scim_${id.slice(0, 8)}`, randomBytes(32), creatorId],
  )
  return id
}

type NewRule = { projectId: string; groupId: string; role: string; creatorId: string; tenantId?: string }

/** Inserts a rule. The roles that it gives are not inserted. */
async function seedRule(
  sql: Sql,
  { projectId, groupId, role, creatorId, tenantId }: NewRule,
): Promise<string> {
  const id = randomUUID()
  await sql.query(
    'insert into group_rules (id, project_id, group_id, tenant_id, role, creator_id) values ($1, $2, $3, $4, $5, $6)',
    [id, projectId, groupId, tenantId ?? null, role, creatorId],
  )
  return id
}

type ProvisionedObjects = Pick<Objects, 'scimTokenId' | 'groupId' | 'ruleId' | 'groupMemberId' | 'inactiveId'>

export async function seedProvisioning(
  sql: Sql,
  project: SeededProject,
  creator: Person,
): Promise<ProvisionedObjects> {
  const person = await seedUser(sql, 'provisioned')
  const inactive = await seedUser(sql, 'inactive')
  await sql.query('update users set is_provisioned = true where id = $1', [person.id])
  await sql.query('update users set deactivated_by_administrator_at = now() where id = $1', [inactive.id])
  const groupId = await seedGroup({ sql }, 'Operations', [person.id])
  const ruleId = await seedRule(sql, {
    projectId: project.id,
    groupId,
    role: 'tester',
    creatorId: creator.id,
  })
  const membershipId = await seedMember(sql, person, 'tester', { projectId: project.id })
  await sql.query('update user2projects set group_rule_id = $2 where id = $1', [membershipId, ruleId])
  return {
    scimTokenId: await seedScimToken(sql, 'directory', creator.id),
    groupId,
    ruleId,
    groupMemberId: person.id,
    inactiveId: inactive.id,
  }
}

export type HostileProvisioning = { tokenId: string; groupId: string; ruleId: string }
type Provisioned = { person: Person; projectId: string; tenantId: string; membershipId: string }

/** Inserts a token and a group with this name. A rule of the group gives the person the role in the tenant. */
export async function seedHostileProvisioning(
  sql: Sql,
  name: string,
  { person, projectId, tenantId, membershipId }: Provisioned,
): Promise<HostileProvisioning> {
  const groupId = await seedGroup({ sql }, name, [person.id])
  await sql.query('update scim_groups set external_id = $2 where id = $1', [groupId, name])
  const ruleId = await seedRule(sql, { projectId, groupId, tenantId, role: 'member', creatorId: person.id })
  await sql.query('update user2tenants set group_rule_id = $2 where id = $1', [membershipId, ruleId])
  return { tokenId: await seedScimToken(sql, name, person.id), groupId, ruleId }
}
