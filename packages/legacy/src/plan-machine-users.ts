// Machine users move from their tenant to the environment of its type. Their credentials stay unchanged.
import { keptId } from './ids.ts'
import { isVerifiable } from './plan-people.ts'
import { createdAt } from './plan-projects.ts'
import { type Project, type TenantTarget, environmentId } from './project.ts'
import { remainsOf } from './remains.ts'
import type { OldMachineUser } from './rows.ts'
import type { RuleName } from './rules.ts'
import { type Step, keptAside, creationEvent, merged, moved } from './steps.ts'
import { type NamePool, createNamePool, fitName, reserveName } from './texts.ts'

const hashBytes = 32
const maxUsernameLength = 100
const prefixForm = /^[A-Za-z0-9_-]{8}$/

type Credential = { username: string; columns: Record<string, unknown>; isToken: boolean }

/** Plans the machine users of a project. User names must be unique, because a proxy looks them up in the project. */
export async function* planMachineUsers(
  project: Project,
  rows: AsyncIterable<OldMachineUser>,
): AsyncGenerator<Step, void, void> {
  const usernames = createNamePool()
  const merges: OldMachineUser[] = []
  for await (const row of rows) {
    const tenant = project.tenants.get(row.tenant_id ?? '')
    const credential = credentialOf(row)
    if (tenant === undefined || credential === null) {
      yield keptAside(
        'machine_users',
        row.id,
        tenant === undefined ? 'orphan' : 'no-credential',
        remainsOf(row),
      )
    } else if (credential.isToken && row.holder !== row.id) merges.push(row)
    else yield planOne(project, { row, tenant, credential, usernames })
  }
  for (const row of merges) {
    const holder = project.machineUsers.get(row.holder)
    if (holder === undefined) yield keptAside('machine_users', row.id, 'token-elsewhere', remainsOf(row))
    else {
      project.machineUsers.set(row.id, { ...holder, wasDisabled: row.enabled !== true })
      yield merged('machine_users', row.id, holder.id, { rules: ['token-shared'], detail: remainsOf(row) })
    }
  }
}

type Planned = { row: OldMachineUser; tenant: TenantTarget; credential: Credential; usernames: NamePool }

function planOne(project: Project, { row, tenant, credential, usernames }: Planned): Step {
  const id = keptId('machine_users', row.id)
  const environment = environmentId(project.id, tenant.environment)
  project.machineUsers.set(row.id, { id, environmentId: environment })
  const name = fitName(row.name, row.username ?? row.id)
  const username = credential.isToken
    ? credential.username
    : freeUsername(credential.username, tenant.slug, usernames)
  const rules: RuleName[] = [
    ...(name === row.name ? [] : (['name-fitted'] as const)),
    ...(username === credential.username ? [] : (['username-taken'] as const)),
  ]
  const was = {
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
  return moved('machine_users', row.id, id, {
    rules,
    detail: { ...(rules.length > 0 && { was }), environment: tenant.environment, tenant: tenant.id },
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
          ...createdAt(row),
        },
      },
    ],
    events: [creationEvent('machineUser', { projectId: project.id, id, name }, fields, { oldId: row.id })],
  })
}

/** A token takes precedence over a password. Returns null if neither can be verified. */
function credentialOf(row: OldMachineUser): Credential | null {
  if (row.token_hash?.length === hashBytes && prefixForm.test(row.token_prefix ?? ''))
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
  const isNamed = username !== '' && username.length <= maxUsernameLength && !username.includes(':')
  if (!isNamed || !isVerifiable(row.password_hash)) return null
  return {
    username,
    columns: { token_prefix: null, token_hash: null, password_hash: row.password_hash },
    isToken: false,
  }
}

/** A duplicate user name gets the slug of its tenant as a suffix. */
function freeUsername(wanted: string, tenantSlug: string, pool: NamePool): string {
  if (!pool.names.has(wanted)) return reserveName(pool, wanted, () => wanted)
  return reserveName(pool, `${wanted}@${tenantSlug}`, (number) => {
    const ending = `@${tenantSlug}${number === 1 ? '' : `-${number}`}`
    return `${Array.from(wanted)
      .slice(0, maxUsernameLength - ending.length)
      .join('')}${ending}`
  })
}
