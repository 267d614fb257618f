// These tests cover machine users through GraphQL. machine-credentials.test.ts covers rotation.
import { createHash, pbkdf2Sync, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { seedEndpoint } from '../../../test/kit/endpoints.ts'
import { seedCall } from '../../../test/kit/esb-calls.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import {
  generateToken,
  machineCalls,
  machineFields,
  passwordWorks,
  tokenWorks,
} from '../../../test/kit/machines.ts'
import { expectRefused, uuid } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'

const { service, admin, project } = useProject()
let replicas: TestApp[]
let qas: string

beforeAll(async () => {
  replicas = [service, await startTestApp({ database: service.database })]
  qas = await environmentOf(project.id, 'qas')
})
afterAll(() => replicas[1]?.close())

const { create, rotate, update, remove, list, keptOf, auditOf } = machineCalls(() => service)

const environmentOf = async (projectId: string, name: string): Promise<string> => {
  const { rows } = await service.sql.query<{ id: string }>(
    'select id from environments where project_id = $1 and name = $2',
    [projectId, name],
  )
  return rows[0]?.id as string
}
/** Creates a user with this role in the project, or without a role if it is null. */
const memberOf = async (role: string | null): Promise<Person> => {
  const person = await seedUser(service.sql, role ?? 'outsider')
  if (role !== null) await seedMember(service.sql, person, role, { projectId: project.id })
  return person
}
/** Returns all stored data about a machine user: its row, its audit rows, and every log line. */
const keptAbout = async (id: string): Promise<string> => {
  const audited = (await auditOf(id)).map(({ everything }) => everything)
  return [(await keptOf(id))?.everything, ...audited, JSON.stringify(service.logLines)].join('\n')
}

describe('making a Bearer machine user', () => {
  test('[machine-users.create] [machine-users.create-result] [machine-users.create-bearer] answers a token and takes the user name from it, whatever was passed', async () => {
    for (const [given, enabled] of [
      [{ username: 'somebody', enabled: false }, false],
      [{ username: 'with:colon', enabled: null }, true],
      [{}, true],
    ] as const) {
      const { data } = await create(admin, qas, { name: 'Backend', hashedKey: generateToken, ...given })
      const token = data.made.generatedToken as string
      expect(data.made).toEqual({
        generatedToken: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
        plaintextPassword: null,
        machineUser: {
          id: uuid,
          name: 'Backend',
          username: `Bearer:${token.slice(0, 8)}`,
          enabled,
          tokenPrefix: token.slice(0, 8),
          lastRotatedAt: null,
        },
      })
      expect(await tokenWorks(replicas, token)).toEqual([enabled, enabled])
      expect((await list(admin, qas)).data.rows).toContainEqual(data.made.machineUser)
    }
  })

  test('[machine-users.token] the token is 32 bytes of its own, and only its SHA-256 is kept', async () => {
    const prefixes = new Set<string>()
    for (let i = 0; i < 8; i++) {
      const { data } = await create(admin, qas, { name: `t${i}`, hashedKey: generateToken })
      const token = data.made.generatedToken as string
      const { id } = data.made.machineUser as { id: string }
      const bytes = Buffer.from(token, 'base64url')
      expect([bytes.length, bytes.toString('base64url')]).toEqual([32, token])
      expect(await keptOf(id)).toMatchObject({
        token_hash: createHash('sha256').update(token).digest(),
        password_hash: null,
      })
      expect(await auditOf(id)).toMatchObject([{ action: 'create', user_id: admin.id }])
      const kept = await keptAbout(id)
      expect(kept).toContain(id)
      for (const plain of [token, bytes.toString('hex'), bytes.toString('base64')])
        expect(kept).not.toContain(plain)
      prefixes.add(data.made.machineUser.tokenPrefix as string)
    }
    expect(prefixes.size).toBe(8)
  })
})

describe('making a Basic machine user', () => {
  test('[machine-users.create-basic] [machine-users.create-result] [machine-users.basic-storage] keeps the user name, echoes the password once and stores its slow hash', async () => {
    const password = 'pa:ss wörd'
    const hashes = new Set<string>()
    // The test also computes hashes in this process, which must not count as overload.
    const transport = { loopDelayMs: () => 0 }
    const real = await startTestApp({ database: service.database, limits: 'production', transport })
    for (const [username, hashedKey] of [
      ['alpha', password],
      ['beta', password],
      // This string only resembles the constant, so it is an ordinary password.
      ['gamma', generateToken.toLowerCase()],
    ] as const) {
      const input = { name: 'Old', username, hashedKey }
      const { data } = await machineCalls(() => real).create(admin, project.environmentId, input)
      const expected = { name: 'Old', username, enabled: true, tokenPrefix: null, lastRotatedAt: null }
      expect(data.made).toEqual({
        generatedToken: null,
        plaintextPassword: hashedKey,
        machineUser: { id: uuid, ...expected },
      })
      const { id } = data.made.machineUser as { id: string }
      const kept = await keptOf(id)
      const [, kdf, rounds, salt = '', hash = ''] = (kept?.password_hash ?? '').split('$')
      expect([kdf, rounds, kept?.token_hash]).toEqual(['pbkdf2-sha256', 'i=600000', null])
      const saltBytes = Buffer.from(salt, 'base64url')
      expect(saltBytes.length).toBeGreaterThanOrEqual(16)
      const derived = pbkdf2Sync(hashedKey, saltBytes, 600_000, 32, 'sha256')
      expect(hash).toBe(derived.toString('base64url'))
      expect(await keptAbout(id)).not.toContain(hashedKey)
      for (const { everything } of await auditOf(id)) expect(everything).not.toContain(hash)
      hashes.add(hash)
    }
    await real.close()
    expect(hashes.size).toBe(3)
    const ask = (login: { username: string; password: string }) =>
      passwordWorks(replicas, project.applicationId, login)
    expect(await ask({ username: 'alpha', password })).toEqual([true, true])
    expect(await ask({ username: 'alpha', password: `${password}.` })).toEqual([false, false])
    expect(await ask({ username: 'delta', password })).toEqual([false, false])
  })

  test('[machine-users.create] a Basic user name is required and holds no colon, a password is not empty, and the environment exists', async () => {
    const before = await list(admin, project.environmentId)
    const lengths = 'must have 1 to 100 characters'
    for (const [input, message] of [
      [{}, `username ${lengths}`],
      [{ username: null }, `username ${lengths}`],
      [{ username: '' }, `username ${lengths}`],
      [{ username: 'x'.repeat(101) }, `username ${lengths}`],
      [{ username: 'a:b' }, 'username must not contain a colon'],
      [{ username: ' ' }, 'username must not start or end with a space'],
      [{ username: 'a ' }, 'username must not start or end with a space'],
      [
        { username: 'a', hashedKey: '' },
        `hashedKey must be ${generateToken} for a Bearer token, or a password for Basic`,
      ],
      [{ username: 'a', hashedKey: 'x'.repeat(1_001) }, 'hashedKey must have at most 1000 characters'],
      [{ username: 'a', name: '' }, `name ${lengths}`],
      [{ hashedKey: generateToken, name: 'x'.repeat(101) }, `name ${lengths}`],
    ] as [Record<string, unknown>, string][]) {
      const answer = await create(admin, project.environmentId, { name: 'x', hashedKey: 'secret', ...input })
      expect(answer.error).toBe(message)
      expectRefused(answer, 'bad_request')
    }
    for (const environmentId of [randomUUID(), 'dev', project.id]) {
      const answer = await create(admin, environmentId, { name: 'x', hashedKey: generateToken })
      expect(answer.error).toBe('environment not found')
    }
    expect((await list(admin, project.environmentId)).data).toEqual(before.data)
  })

  test('[machine-users.basic-username-unique] a user name serves once in a project, whatever the environment, and again in another project', async () => {
    const other = await seedProject(service.sql, 'other')
    const take = (environmentId: string): Promise<GraphqlAnswer> =>
      create(admin, environmentId, { name: 'x', username: 'shared', hashedKey: 'secret' })
    const both = await Promise.all([take(project.environmentId), take(qas)])
    const made = both.filter(({ error }) => error === null)
    const refused = both.filter(({ error }) => error !== null)
    expect([made.length, refused.length]).toEqual([1, 1])
    for (const answer of [...refused, await take(project.environmentId), await take(qas)]) {
      expect(answer.error).toBe('the project already has a Basic machine user with this username')
      expectRefused(answer, 'conflict')
    }
    expect((await take(other.environmentId)).error).toBeNull()
    await remove(admin, made[0]?.data.made.machineUser.id as string)
    expect((await take(qas)).error).toBeNull()
  })
})

describe('listing machine users', () => {
  test("[machine-users.query] shows an environment's own with their fields, and nobody's hash", async () => {
    const { id: projectId, environmentId } = await seedProject(service.sql, 'listed')
    const run = await environmentOf(projectId, 'run')
    const { data: here } = await create(admin, environmentId, { name: 'here', hashedKey: generateToken })
    const there = await create(admin, run, { name: 'there', username: 'there', hashedKey: 'secret' })
    const reader = await seedUser(service.sql, 'reader')
    await seedMember(service.sql, reader, 'readonly', { projectId })
    const { data } = await list(reader, environmentId, `${machineFields} environment { id name }`)
    expect(data.rows).toEqual([{ ...here.made.machineUser, environment: { id: environmentId, name: 'dev' } }])
    expect((await list(reader, run)).data.rows).toEqual([there.data.made.machineUser])
    for (const hidden of ['hash', 'hashedKey', 'tokenHash', 'passwordHash', 'generatedToken']) {
      expect((await list(admin, run, `id ${hidden}`)).error).toContain(`Cannot query field "${hidden}"`)
      const filter = `filters: {field: "${hidden}", value: "a"}`
      const filtered = await service.query(admin, `{ machineUsers(environment: "${run}", ${filter}) { id } }`)
      expectRefused(filtered, 'bad_request')
    }
    for (const [caller, environment] of [
      [admin, randomUUID()],
      [await memberOf(null), environmentId],
    ] as const)
      expect((await list(caller, environment)).error).toBe('environment not found')
  })
})

describe('managing machine users', () => {
  test('[machine-users.role] [machine-users.rotate-role] maintainers, owners and administrators may; others are refused and change nothing', async () => {
    const operations: ((caller: Person, id: string) => Promise<GraphqlAnswer>)[] = [
      (caller) => create(caller, project.environmentId, { name: 'x', hashedKey: generateToken }),
      rotate,
      (caller, id) => update(caller, id, { name: 'renamed', enabled: false }),
      remove,
    ]
    for (const role of ['maintainer', 'owner', 'administrator']) {
      const caller = role === 'administrator' ? admin : await memberOf(role)
      const { id } = await seedMachineUser(service.sql, project)
      for (const operation of operations) expect((await operation(caller, id)).error).toBeNull()
    }
    for (const role of ['readonly', 'tester', 'developer', null]) {
      const caller = await memberOf(role)
      const { id, token } = await seedMachineUser(service.sql, project)
      const state = async () => [await keptOf(id), (await list(admin, project.environmentId)).data]
      const before = await state()
      for (const operation of operations)
        expectRefused(await operation(caller, id), role === null ? 'not_found' : 'forbidden')
      expect(await state()).toEqual(before)
      expect(await auditOf(id)).toEqual([])
      expect(await tokenWorks(replicas, token)).toEqual([true, true])
    }
  })

  test('[machine-users.update-delete] name and enabled change one by one, null and absent leave them, and each change is audited', async () => {
    const { data } = await create(admin, qas, { name: 'first', hashedKey: generateToken })
    const { id, ...made } = data.made.machineUser as { id: string }
    for (const [input, expected] of [
      [{ name: 'second' }, { name: 'second', enabled: true }],
      [{ enabled: false }, { name: 'second', enabled: false }],
      [
        { name: null, enabled: null },
        { name: 'second', enabled: false },
      ],
      [
        { name: 'third', enabled: true },
        { name: 'third', enabled: true },
      ],
    ]) {
      expect((await update(admin, id, input as object as Record<string, unknown>)).data.row).toEqual({
        id,
        ...made,
        ...expected,
      })
      expect((await list(admin, qas)).data.rows).toContainEqual({ id, ...made, ...expected })
    }
    const changes = (await auditOf(id)).slice(1).map((row) => [row.action, row.changes])
    expect(changes.slice(0, 2)).toEqual([
      ['update', { name: { before: 'first', after: 'second' } }],
      ['update', { enabled: { before: true, after: false } }],
    ])
    for (const name of ['', ' ', 'x'.repeat(101)])
      expect((await update(admin, id, { name })).error).toBe('name must have 1 to 100 characters')
    for (const nobody of [randomUUID(), 'nothing'])
      for (const answer of [await update(admin, nobody, { name: 'x' }), await remove(admin, nobody)])
        expect(answer.error).toBe('machine user not found')
  })

  test('[machine-users.update-delete] a removed machine user is gone, and so is what its token opened', async () => {
    const { id, token } = await seedMachineUser(service.sql, project)
    expect(await tokenWorks(replicas, token)).toEqual([true, true])
    expect((await remove(admin, id)).data).toEqual({ deleteMachineUser: true })
    expect(await tokenWorks(replicas, token)).toEqual([false, false])
    const rows = (await list(admin, project.environmentId, 'id')).data.rows as { id: string }[]
    expect(rows.map((row) => row.id)).not.toContain(id)
    expect(await keptOf(id)).toBeUndefined()
    expect((await auditOf(id)).map(({ action }) => action)).toEqual(['delete'])
    expect((await remove(admin, id)).error).toBe('machine user not found')
  })

  test('[machine-users.update-delete] one that has served logged ESB requests stays; the refusal names their number and what to do instead', async () => {
    const { id, token } = await seedMachineUser(service.sql, project)
    const endpointId = await seedEndpoint(service.sql, project)
    for (let calls = 0; calls < 3; calls++)
      await seedCall(service.sql, { projectId: project.id, endpointId, machineUserId: id })
    const refused = await remove(admin, id)
    expectRefused(refused, 'conflict')
    expect(refused.error).toMatch(/\b3 logged ESB requests\b.*\bdisable\b/)
    expect(await auditOf(id)).toEqual([])
    expect(await tokenWorks(replicas, token)).toEqual([true, true])
  })

  test('[machine-users.update-refuses-credentials] a credential field is refused, naming rotateMachineUserToken, and nothing changes', async () => {
    const { id, token } = await seedMachineUser(service.sql, project)
    const before = await keptOf(id)
    for (const [field, value] of [
      ['hashedKey', generateToken],
      ['hashedKey', 'a password'],
      ['hashedKey', ''],
      ['tokenPrefix', 'AAAAAAAA'],
      ['tokenPrefix', ''],
      ['clearTokenPrefix', true],
      ['clearTokenPrefix', false],
    ] as const) {
      const answer = await update(admin, id, { name: 'renamed', enabled: false, [field]: value })
      expectRefused(answer, 'bad_request')
      expect(answer.error).toContain('rotateMachineUserToken')
      expect(answer.error).toContain(field)
    }
    expect(await keptOf(id)).toEqual(before)
    expect(await auditOf(id)).toEqual([])
    expect(await tokenWorks(replicas, token)).toEqual([true, true])
  })
})
