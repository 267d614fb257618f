// These tests cover the credential lifecycle on two replicas: rotate, disable and enable again.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { generateToken, machineCalls, passwordWorks, tokenWorks } from '../../../test/kit/machines.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'

const { service, admin, project } = useProject()
let replicas: TestApp[]

beforeAll(async () => {
  replicas = [service, await startTestApp({ database: service.database })]
})
afterAll(() => replicas[1]?.close())

const { create, rotate, update, list, keptOf, auditOf } = machineCalls(() => service)
const tokenForm = /^[A-Za-z0-9_-]{43}$/

const makeBasic = async (username: string, password: string): Promise<string> => {
  const input = { name: username, username, hashedKey: password }
  const { data } = await create(admin, project.environmentId, input)
  return data.made.machineUser.id as string
}
const loginWorks = (username: string, password: string): Promise<boolean[]> =>
  passwordWorks(replicas, project.applicationId, { username, password })

describe('rotating a credential', () => {
  test('[machine-users.rotate] answers a new token; the old one fails at once on every replica', async () => {
    const { id, token } = await seedMachineUser(service.sql, project)
    const tokens = [token]
    for (let round = 0; round < 5; round++) {
      expect(await tokenWorks(replicas, tokens.at(-1) as string)).toEqual([true, true])
      const since = Date.now()
      const { data } = await rotate(admin, id)
      const { generatedToken, machineUser } = data.made as {
        generatedToken: string
        machineUser: { id: string; lastRotatedAt: string; enabled: boolean }
      }
      for (const old of tokens) expect(await tokenWorks(replicas, old)).toEqual([false, false])
      expect(await tokenWorks(replicas, generatedToken)).toEqual([true, true])
      expect(generatedToken).toMatch(tokenForm)
      expect(machineUser).toMatchObject({ id, enabled: true })
      const rotatedAt = Date.parse(machineUser.lastRotatedAt)
      expect(rotatedAt).toBeGreaterThanOrEqual(since)
      expect(rotatedAt).toBeLessThanOrEqual(Date.now())
      tokens.push(generatedToken)
    }
    expect(new Set(tokens).size).toBe(6)
    for (const nobody of [randomUUID(), 'nothing', project.id])
      expect((await rotate(admin, nobody)).error).toBe('machine user not found')
  })

  test('[machine-users.rotate-usernames] a Bearer user name follows the new token', async () => {
    const { id } = await seedMachineUser(service.sql, project)
    const { data } = await rotate(admin, id)
    const prefix = (data.made.generatedToken as string).slice(0, 8)
    expect(data.made.machineUser).toMatchObject({ username: `Bearer:${prefix}`, tokenPrefix: prefix })
    const { rows } = (await list(admin, project.environmentId)).data as { rows: { id: string }[] }
    expect(rows.find((row) => row.id === id)).toEqual(data.made.machineUser)
  })

  test('[machine-users.rotate-usernames] [machine-users.rotate] a Basic machine user keeps its name, and the generated token is its password', async () => {
    const id = await makeBasic('keeper', 'first')
    // Both replicas have cached the successful password check, but the rotation takes effect immediately.
    expect(await loginWorks('keeper', 'first')).toEqual([true, true])
    const { data } = await rotate(admin, id)
    const password = data.made.generatedToken as string
    expect(data.made).toEqual({
      generatedToken: expect.stringMatching(tokenForm),
      machineUser: {
        id,
        name: 'keeper',
        username: 'keeper',
        enabled: true,
        tokenPrefix: null,
        lastRotatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    })
    expect(await loginWorks('keeper', 'first')).toEqual([false, false])
    expect(await loginWorks('keeper', password)).toEqual([true, true])
    expect(await tokenWorks(replicas, password)).toEqual([false, false])
    expect((await keptOf(id))?.password_hash).toMatch(/^\$pbkdf2-sha256\$i=\d+\$/)
  })

  test('[machine-users.rotate-role] the audit row says rotate and key_rotated, and holds no secret', async () => {
    const { id: bearerId } = await seedMachineUser(service.sql, project)
    const basicId = await makeBasic('audited', 'first')
    for (const [id, changed] of [
      [bearerId, ['lastRotatedAt', 'tokenPrefix', 'username']],
      [basicId, ['lastRotatedAt']],
    ] as const) {
      const { data } = await rotate(admin, id)
      const row = (await auditOf(id)).at(-1)
      expect(row).toMatchObject({ action: 'rotate', metadata: { key_rotated: true }, user_id: admin.id })
      expect(Object.keys(row?.changes ?? {}).toSorted()).toEqual(changed)
      const kept = await keptOf(id)
      const hash = kept?.password_hash?.split('$').at(-1) ?? kept?.token_hash?.toString('hex')
      for (const secret of [data.made.generatedToken, hash, kept?.token_hash?.toString('base64') ?? hash])
        expect(`${row?.everything} ${JSON.stringify(service.logLines)}`).not.toContain(secret)
      const shown = await service.query(
        admin,
        `{ auditLogs(projectID: "${project.id}", filters: {field: "entityID", value: "${id}"}) { action metadata } }`,
      )
      expect(shown.data.auditLogs[0]).toEqual({ action: 'rotate', metadata: '{"key_rotated":true}' })
    }
  })

  test('[machine-users.rotate] of rotations at once each answers a credential of its own, and exactly the one written last works', async () => {
    const { id } = await seedMachineUser(service.sql, project)
    const answers = await Promise.all(Array.from({ length: 8 }, () => rotate(admin, id)))
    const tokens = answers.map(({ data }) => data.made.generatedToken as string)
    expect(new Set(tokens).size).toBe(8)
    const audited = await auditOf(id)
    expect(audited.map(({ action }) => action)).toEqual(tokens.map(() => 'rotate'))
    const last = audited.at(-1)?.changes['tokenPrefix'] as { after: string }
    for (const token of tokens) {
      const isLast = token.startsWith(last.after)
      expect(await tokenWorks(replicas, token)).toEqual([isLast, isLast])
    }
    // Each rotation saw its predecessor, so none overwrote a credential that it had not read.
    const steps = audited.map(({ changes }) => changes['tokenPrefix'] as { before: string; after: string })
    expect(steps.slice(1).map(({ before }) => before)).toEqual(steps.slice(0, -1).map(({ after }) => after))
  })

  test('[machine-users.rotate] of two rotations of a password at once one password works', async () => {
    const id = await makeBasic('raced', 'first')
    const answers = await Promise.all([rotate(admin, id), rotate(admin, id)])
    const works = []
    for (const { data } of answers)
      works.push(...(await loginWorks('raced', data.made.generatedToken as string)))
    expect(works.filter(Boolean)).toHaveLength(2)
    expect([works[0], works[2]]).toEqual([works[1], works[3]])
  })
})

describe('disabling a machine user', () => {
  test('[machine-users.disable] its token is refused from the next request on, on every replica, until it is enabled again', async () => {
    const { id, token } = await seedMachineUser(service.sql, project)
    for (const enabled of [true, false, true, false, false, true]) {
      expect((await update(admin, id, { enabled })).data.row.enabled).toBe(enabled)
      expect(await tokenWorks(replicas, token)).toEqual([enabled, enabled])
    }
  })

  test('[machine-users.disable] its password is refused although both replicas remember that it fits', async () => {
    const id = await makeBasic('switched', 'secret')
    for (const enabled of [true, false, true]) {
      await update(admin, id, { enabled })
      expect(await loginWorks('switched', 'secret')).toEqual([enabled, enabled])
    }
  })

  test('[machine-users.disable] a credential that is rotated meanwhile stays out of service until then', async () => {
    const made = await create(admin, project.environmentId, {
      name: 'resting',
      hashedKey: generateToken,
      enabled: false,
    })
    const { id } = made.data.made.machineUser as { id: string }
    const { data } = await rotate(admin, id)
    const token = data.made.generatedToken as string
    expect(data.made.machineUser.enabled).toBe(false)
    expect(await tokenWorks(replicas, token)).toEqual([false, false])
    await update(admin, id, { enabled: true })
    expect(await tokenWorks(replicas, token)).toEqual([true, true])
    expect(await tokenWorks(replicas, made.data.made.generatedToken as string)).toEqual([false, false])
  })
})
