// Machine users move from their tenant to the environment that the tenant's type determines. Their credentials
// stay unchanged.
import { toNewId } from './ids.ts'
import { isVerifiable } from './plan-people.ts'
import { pickCreatedAt } from './plan-projects.ts'
import { type Project, type TenantTarget, deriveEnvironmentId } from './project.ts'
import { getRemainder } from './remains.ts'
import type { OldMachineUser } from './rows.ts'
import type { RuleName } from './rules.ts'
import {
  type Step,
  createSkippedStep,
  createCreationEvent,
  createMergedStep,
  createMovedStep,
} from './steps.ts'
import { type NamePool, createNamePool, fitName, reserveName } from './texts.ts'

const hashBytes = 32
const maxUsernameLength = 100
const prefixPattern = /^[A-Za-z0-9_-]{8}$/

type Credential = { username: string; columns: Record<string, unknown>; isToken: boolean }

/** Plans the machine users of a project. User names must be unique, because a proxy looks them up in the project. */
export async function* planMachineUsers(
  project: Project,
  rows: AsyncIterable<OldMachineUser>,
): AsyncGenerator<Step, void, void> {
  const usernames = createNamePool()
  const sharedTokenRows: OldMachineUser[] = []
  for await (const row of rows) {
    const tenant = project.tenants.get(row.tenant_id ?? '')
    const credential = findCredential(row)
    if (tenant === undefined || credential === null) {
      yield createSkippedStep(
        'machine_users',
        row.id,
        tenant === undefined ? 'orphan' : 'no-credential',
        getRemainder(row),
      )
    } else if (credential.isToken && row.holder !== row.id) sharedTokenRows.push(row)
    else yield planMachineUser(project, { row, tenant, credential, usernames })
  }
  for (const row of sharedTokenRows) {
    const holder = project.machineUsers.get(row.holder)
    if (holder === undefined)
      yield createSkippedStep('machine_users', row.id, 'token-elsewhere', getRemainder(row))
    else {
      project.machineUsers.set(row.id, { ...holder, wasDisabled: row.enabled !== true })
      yield createMergedStep('machine_users', row.id, holder.id, {
        rules: ['token-shared'],
        detail: getRemainder(row),
      })
    }
  }
}

type PlannedUser = { row: OldMachineUser; tenant: TenantTarget; credential: Credential; usernames: NamePool }

function planMachineUser(project: Project, { row, tenant, credential, usernames }: PlannedUser): Step {
  const id = toNewId('machine_users', row.id)
  const environment = deriveEnvironmentId(project.id, tenant.environment)
  project.machineUsers.set(row.id, { id, environmentId: environment })
  const name = fitName(row.name, row.username ?? row.id)
  const username = credential.isToken
    ? credential.username
    : reserveUsername(credential.username, tenant.slug, usernames)
  const rules: RuleName[] = [
    ...(name === row.name ? [] : (['name-fitted'] as const)),
    ...(username === credential.username ? [] : (['username-taken'] as const)),
  ]
  const previousFields = {
    ...(name !== row.name && { name: row.name }),
    ...(username !== credential.username && { username: credential.username }),
  }
  const fields = {
    environmentId: environment,
    name,
    username,
    enabled: row.enabled === true,
    tokenPrefix: credential.columns['token_prefix'] ?? null,
    lastRotatedAt: row.last_rotated_at,
  }
  return createMovedStep('machine_users', row.id, id, {
    rules,
    detail: {
      ...(rules.length > 0 && { was: previousFields }),
      environment: tenant.environment,
      tenant: tenant.id,
    },
    rows: [
      {
        table: 'machine_users',
        values: {
          id,
          project_id: project.id,
          environment_id: environment,
          name,
          username,
          enabled: row.enabled === true,
          ...credential.columns,
          last_rotated_at: row.last_rotated_at,
          ...pickCreatedAt(row),
        },
      },
    ],
    events: [
      createCreationEvent('machineUser', { projectId: project.id, id, name }, fields, { oldId: row.id }),
    ],
  })
}

/**
 * Returns the credential of a machine user. A token takes precedence over a password. Returns null if neither
 * can be verified.
 */
function findCredential(row: OldMachineUser): Credential | null {
  if (row.token_hash?.length === hashBytes && prefixPattern.test(row.token_prefix ?? ''))
    return {
      username: `Bearer:${row.token_prefix}`,
      columns: {
        token_prefix: row.token_prefix,
        token_hash: `\\x${row.token_hash.toString('hex')}`,
        password_hash: null,
      },
      isToken: true,
    }
  const username = row.username ?? ''
  const hasValidUsername = username !== '' && username.length <= maxUsernameLength && !username.includes(':')
  if (!hasValidUsername || !isVerifiable(row.password_hash)) return null
  return {
    username,
    columns: { token_prefix: null, token_hash: null, password_hash: row.password_hash },
    isToken: false,
  }
}

/** Reserves a user name. A duplicate user name gets the slug of its tenant as a suffix. */
function reserveUsername(requestedName: string, tenantSlug: string, pool: NamePool): string {
  if (!pool.names.has(requestedName)) return reserveName(pool, requestedName, () => requestedName)
  return reserveName(pool, `${requestedName}@${tenantSlug}`, (number) => {
    const suffix = `@${tenantSlug}${number === 1 ? '' : `-${number}`}`
    return `${Array.from(requestedName)
      .slice(0, maxUsernameLength - suffix.length)
      .join('')}${suffix}`
  })
}
