// Tests that issued secrets are neither stored nor repeated: not in the database, in Redis, in the log or in errors.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Pool } from 'pg'
import { ensurePostgres } from '@manager/harness/engines/install.ts'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import {
  basicValue,
  bearer,
  call,
  createMachine,
  createToken,
  throughProxy,
  validate,
} from '@manager/harness/credentials.ts'
import { type TestDatabase, createScratchDatabase } from '../kit/databases.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { seedProject, seedUser } from '@manager/harness/seed.ts'

let database: TestDatabase
let service: ServiceProcess
/** Maps every secret that the service issued or received to a unique part of it. */
const issued = new Map<string, string>()
const bodies: string[] = []
let tokenPrefix: string

const issue = (name: string, secret: string): string => {
  issued.set(name, secret)
  return secret
}
const query = (who: Person, text: string, variables?: Record<string, unknown>) =>
  postQuery(service.url, headersOf(who), text, variables)

beforeAll(async () => {
  database = await createScratchDatabase()
  service = await startProcess(database.url, {
    SVC_LOG_LEVEL: 'trace',
    SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
  })
  const sql = new Pool({ connectionString: database.url, max: 1 })
  const [admin, project] = [await seedUser(sql, 'admin', 'administrator'), await seedProject(sql, 'p')]
  await sql.end()
  const token = await createToken({ query }, admin)
  tokenPrefix = token.tokenPrefix
  const machine = await createMachine({ query }, admin, project.environmentId)
  const password = issue('password', 'Correct-Horse-Battery-Staple')
  const basic = await createMachine({ query }, admin, project.environmentId, { username: 'bob', password })
  issue('token', token.token)
  issue('tail of the token', token.token.slice(13))
  issue('machine token', machine.token as string)
  issue('basic value', basicValue('bob', password).slice(6))
  issue('wrong password', 'Tr0ub4dor-and-3')

  const use = async (secret: string): Promise<void> => {
    for (const path of ['/api/machine/check', '/esb/nowhere', '/api/machine/nowhere'])
      bodies.push(JSON.stringify((await call(service.url, path, bearer(secret))).body))
    const both = { ...throughProxy(), ...bearer(secret) }
    bodies.push(JSON.stringify((await call(service.url, '/query', both, { query: '{ me { id } ' })).body))
    bodies.push(JSON.stringify((await call(service.url, '/query', bearer(secret), {})).body))
    for (const header of [`Bearer ${secret}`, `Basic ${secret}`, secret])
      bodies.push(JSON.stringify((await validate(service.url, header, project.applicationId)).body))
  }
  for (const secret of issued.values()) await use(secret)
  for (const pair of [basicValue('bob', password), basicValue('bob', 'Tr0ub4dor-and-3')])
    bodies.push(JSON.stringify((await validate(service.url, pair, project.applicationId)).body))
  for (const [name, { id }] of Object.entries({ machine, basic })) {
    const text = 'mutation($id: ID!) { rotateMachineUserToken(id: $id) { generatedToken } }'
    const { data } = await query(admin, text, { id })
    await use(issue(`rotated ${name}`, data.rotateMachineUserToken.generatedToken as string))
  }
  // Provoke errors in mutations that receive a secret.
  const twice = { environmentId: project.environmentId, password }
  const again = await query(
    admin,
    `mutation($environmentId: ID!, $password: String!) { createMachineUserWithCredentials(environmentId: $environmentId,
      input: {name: "again", username: "bob", hashedKey: $password}) { generatedToken } }`,
    twice,
  )
  expect(again.error).toContain('already has')
  const update = `mutation($id: ID!, $password: String!) { updateMachineUser(id: $id, input: {hashedKey: $password}) { id } }`
  const refused = await query(admin, update, { id: basic.id, password })
  expect(refused.error).toContain('rotateMachineUserToken')
  bodies.push(JSON.stringify(again.errors), JSON.stringify(refused.errors))
  service.child.kill('SIGTERM')
  await service.exit
})
afterAll(() => database.drop())

/** Returns the issued secrets that the string contains. */
const found = (text: string): string[] =>
  [...issued].filter(([, secret]) => text.includes(secret)).map(([name]) => name)

describe('issued secrets', () => {
  test('[access-tokens.format] [machine-users.token] are not in a dump of the database', async () => {
    const url = new URL(database.url)
    const { stdout } = await promisify(execFile)(`${ensurePostgres()}/pg_dump`, ['--inserts', url.href], {
      maxBuffer: 64 * 1_048_576,
    })
    // Check that the dump contains the expected data. Otherwise, the next check would pass on an empty dump.
    expect(stdout).toContain(tokenPrefix)
    expect(stdout).toContain('$pbkdf2-sha256$i=600000$')
    expect(found(stdout)).toEqual([])
  })

  test('are not in Redis', async () => {
    const { SVC_REDIS_URL, SVC_REDIS_KEY_PREFIX } = testEnv(database.url)
    const client = await createClient({ url: SVC_REDIS_URL as string }).connect()
    const keys = await client.keys(`${SVC_REDIS_KEY_PREFIX}:*`)
    const held = [keys, await Promise.all(keys.map((key) => client.hGetAll(key)))]
    client.destroy()
    expect(keys.length).toBeGreaterThan(0)
    expect(found(JSON.stringify(held))).toEqual([])
  })

  test('are not in the log at trace level', () => {
    const log = service.lines.join('\n')
    expect(log).toContain('"route":"/api/validate-proxy-auth"')
    expect(found(log)).toEqual([])
  })

  test('are not in error bodies', () => {
    expect(bodies.length).toBeGreaterThan(50)
    expect(found(bodies.join('\n'))).toEqual([])
  })
})
