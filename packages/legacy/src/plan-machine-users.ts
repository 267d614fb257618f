// Machine users: from the tenant they belonged to, to the environment of its type. Their credentials stay as they are.
import { keptId } from './ids.ts'
import { isVerifiable } from './plan-people.ts'
import { createdAt } from './plan-projects.ts'
import { type Project, type TenantPlace, environmentId } from './project.ts'
import { remainsOf } from './remains.ts'
import type { OldMachineUser } from './rows.ts'
import type { RuleName } from './rules.ts'
import { type Step, keptAside, madeEvent, merged, moved } from './steps.ts'
import { type Taken, firstFree, fitName, noneTaken } from './texts.ts'

const hashBytes = 32
const maxUsernameLength = 100
const prefixForm = /^[A-Za-z0-9_-]{8}$/

type Credential = { username: string; columns: Record<string, unknown>; isToken: boolean }

/** Reads the machine users of a project. Their user names are remembered: a proxy finds one by it within the project. */
export async function* planMachineUsers(
  project: Project,
  rows: AsyncIterable<OldMachineUser>,
): AsyncGenerator<Step, void, void> {
  const usernames = noneTaken()
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

type Planned = { row: OldMachineUser; tenant: TenantPlace; credential: Credential; usernames: Taken }

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
    events: [madeEvent('machineUser', { projectId: project.id, id, name }, fields, { oldId: row.id })],
  })
}

/** A token wins over a password; null when neither can be verified. */
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

/** The second of a name is told apart by its tenant. */
function freeUsername(wanted: string, tenantSlug: string, taken: Taken): string {
  if (!taken.names.has(wanted)) return firstFree(taken, wanted, () => wanted)
  return firstFree(taken, `${wanted}@${tenantSlug}`, (number) => {
    const ending = `@${tenantSlug}${number === 1 ? '' : `-${number}`}`
    return `${Array.from(wanted)
      .slice(0, maxUsernameLength - ending.length)
      .join('')}${ending}`
  })
}
