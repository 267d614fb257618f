// Compares credentials: the stored hashes and the enabled state must be unchanged.
import { sql } from 'kysely'
import type { Reads } from '@manager/manager/storage'
import { type CheckPart, createPart, processInBatches } from './check-part.ts'
import { findNewIds } from './new-ids.ts'
import type { TypeEnvironments } from './project.ts'
import type { Source } from './source.ts'

const batchSize = 500

export async function checkCredentials(
  db: Reads,
  source: Source,
  types: TypeEnvironments,
): Promise<CheckPart[]> {
  const environments = new Map<string, string>()
  const [tenants, machineUsers] = [source.read('tenants'), source.read('machine_users')]
  const part = createPart('machine users with the same credential, in the right environment')
  for await (const { id: projectId } of source.projects()) {
    environments.clear()
    for await (const { id, type } of tenants.of(projectId)) environments.set(id, types[type ?? ''] ?? '')
    await processInBatches(machineUsers.of(projectId), batchSize, async (batch) => {
      const currentUsers = await readMachineUsers(
        db,
        await findNewIds(
          db,
          'machine_users',
          batch.map(({ id }) => id),
        ),
      )
      for (const old of batch) {
        const currentUser = currentUsers.get(old.id)
        if (currentUser === undefined) continue
        const isSame =
          currentUser.tokenHash === null
            ? currentUser.passwordHash === old.password_hash && currentUser.enabled === old.enabled
            : currentUser.tokenHash === old.token_hash?.toString('hex') &&
              (currentUser.enabled === old.enabled || old.holder !== old.id)
        const isInEnvironment =
          old.holder !== old.id || currentUser.environment === environments.get(old.tenant_id ?? '')
        part.compare(isSame && isInEnvironment, () => `the machine user ${old.id}`)
      }
    })
  }
  return [part.result, await checkTokens(db, source)]
}

type CurrentMachineUser = {
  enabled: boolean
  tokenHash: string | null
  passwordHash: string | null
  environment: string
}

async function readMachineUsers(
  db: Reads,
  ids: ReadonlyMap<string, string>,
): Promise<Map<string, CurrentMachineUser>> {
  const { rows } = await sql<CurrentMachineUser & { id: string }>`
    select m.id, m.enabled, encode(m.token_hash, 'hex') as token_hash, m.password_hash, e.name as environment
    from machine_users m join environments e on e.id = m.environment_id
    where m.id = any(${[...ids.values()]}::uuid[])`.execute(db)
  const byId = new Map(rows.map((row) => [row.id, row]))
  return new Map(
    [...ids].flatMap(([oldId, id]) => (byId.has(id) ? [[oldId, byId.get(id) as CurrentMachineUser]] : [])),
  )
}

async function checkTokens(db: Reads, source: Source): Promise<CheckPart> {
  const part = createPart('unchanged personal access tokens')
  await processInBatches(source.read('tokens').of(''), batchSize, async (batch) => {
    const ids = await findNewIds(
      db,
      'tokens',
      batch.map(({ id }) => id),
    )
    const { rows } = await sql<{
      id: string
      hash: string
      tokenPrefix: string
      revoked: boolean
      userId: string
      expiresAt: string | null
    }>`
      select id, hash, token_prefix, revoked, user_id, expires_at from personal_access_tokens
      where id = any(${[...ids.values()]}::uuid[])`.execute(db)
    const currentTokens = new Map(rows.map((row) => [row.id, row]))
    for (const old of batch) {
      const token = currentTokens.get(ids.get(old.id) ?? '')
      if (token === undefined) continue
      const isSame =
        token.hash === old.hash &&
        token.tokenPrefix === old.token_prefix &&
        token.revoked === old.revoked &&
        toTimestamp(token.expiresAt) === toTimestamp(old.expires_at) &&
        token.userId === old.user_id?.toLowerCase()
      part.compare(isSame, () => `the token ${old.id}`)
    }
  })
  return part.result
}

const toTimestamp = (time: string | null): number | null => (time === null ? null : new Date(time).getTime())
