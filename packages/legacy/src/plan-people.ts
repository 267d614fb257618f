// Plans the roles of people in tenants, and their tokens. Users who already exist are not changed.
import { parseHash, parseUuid } from '@manager/manager/rules'
import { deriveId, toNewId } from './ids.ts'
import { formatMemberId } from './member-id.ts'
import { pickCreatedAt, describeChangedTexts } from './plan-projects.ts'
import type { Project } from './project.ts'
import { getRemainder } from './remains.ts'
import type { OldMember, OldToken } from './rows.ts'
import {
  type NewRow,
  type Step,
  createSkippedStep,
  createCreationEvent,
  createMergedStep,
  createMovedStep,
} from './steps.ts'
import { fitName, fitText } from './texts.ts'

const maxNameLength = 200
const maxEmailLength = 320

/** Creates a user row as a first sign-in does. The next sign-in updates the name and the e-mail address. */
const createUserRow = (id: string, name: string | null, email: string | null): NewRow => ({
  table: 'users',
  values: {
    id,
    external_name: fitText(name, maxNameLength),
    external_username: fitText(email, maxEmailLength),
    external_email: fitText(email, maxEmailLength),
  },
})

/** Returns the new role: owner stays owner, maintainer becomes admin, any other role becomes member. */
export const mapRole = (role: string | null): 'owner' | 'admin' | 'member' =>
  role === 'owner' ? 'owner' : role === 'maintainer' ? 'admin' : 'member'

export async function* planMembers(
  project: Project,
  rows: AsyncIterable<OldMember>,
): AsyncGenerator<Step, void, void> {
  for await (const row of rows) {
    const oldId = formatMemberId(row)
    const tenant = project.tenants.get(row.tenant_id ?? '')
    const userId = parseUuid(row.user_id)
    if (tenant === undefined || userId === null) {
      yield createSkippedStep(
        'tenant_members',
        oldId,
        tenant === undefined ? 'orphan' : 'no-subject',
        getRemainder(row),
      )
      continue
    }
    const id = deriveId('tenant_members', tenant.id, userId)
    if (row.rank > 1) {
      yield createMergedStep('tenant_members', oldId, id, {
        rules: ['role-twice'],
        detail: { role: row.role },
      })
      continue
    }
    const roleName = mapRole(row.role)
    yield createMovedStep('tenant_members', oldId, id, {
      detail: { role: row.role },
      rows: [
        createUserRow(userId, row.name, row.email),
        {
          table: 'user2tenants',
          values: {
            id,
            project_id: project.id,
            tenant_id: tenant.id,
            user_id: userId,
            role_name: roleName,
            ...pickCreatedAt(row),
          },
        },
      ],
      events: [
        createCreationEvent(
          'user2tenant',
          { projectId: project.id, id, name: `${roleName} of user ${userId}` },
          { tenantId: tenant.id, userId, roleName },
          { action: 'grant' },
        ),
      ],
    })
  }
}

const prefixPattern = /^[0-9A-Za-z]{8}$/
// Limits the number of iterations, because the service has to compute them at every sign-in.
const maxIterations = 2_000_000

/** Returns whether a secret can be verified against this hash. */
export function isVerifiable(hash: string | null): boolean {
  const iterations = parseHash(hash ?? '')?.iterations ?? 0
  return iterations >= 1 && iterations <= maxIterations
}

/**
 * Plans the tokens. They stay valid, because their hash is kept. They do not end in a checksum, so
 * `has_check` is false.
 */
export async function* planTokens(rows: AsyncIterable<OldToken>): AsyncGenerator<Step, void, void> {
  for await (const row of rows) {
    const userId = parseUuid(row.user_id)
    const isUsable = prefixPattern.test(row.token_prefix ?? '') && isVerifiable(row.hash)
    if (userId === null || !isUsable || row.holder !== row.id) {
      const rule = userId === null ? 'no-subject' : isUsable ? 'prefix-taken' : 'no-credential'
      yield createSkippedStep('tokens', row.id, rule, getRemainder(row))
      continue
    }
    const id = toNewId('tokens', row.id)
    const name = fitName(row.name, 'imported')
    const isRevoked = row.revoked === true
    const { token_prefix: tokenPrefix, expires_at: expiresAt } = row
    yield createMovedStep('tokens', row.id, id, {
      ...describeChangedTexts({ name: row.name }, { name }),
      rows: [
        createUserRow(userId, row.user_name, row.user_email),
        {
          table: 'personal_access_tokens',
          values: {
            id,
            user_id: userId,
            name,
            token_prefix: tokenPrefix,
            hash: row.hash,
            has_check: false,
            expires_at: expiresAt,
            revoked: isRevoked,
            last_used_at: row.last_used_at,
            ...pickCreatedAt(row),
          },
        },
      ],
      events: [
        createCreationEvent(
          'personalAccessToken',
          { projectId: null, id, name: `${name} (${tokenPrefix})` },
          { userId, name, tokenPrefix, expiresAt, revoked: isRevoked },
          { oldId: row.id },
        ),
      ],
    })
  }
}
