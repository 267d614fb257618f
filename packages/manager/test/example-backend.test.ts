// examples/backend.ts with a service that runs as a process: called back, and still called back after everything that happens
// to the two of them. Time passes by SQL: a trigger that fires once a year is made due whenever a test needs it.
import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tokenPlace } from '../src/features/backends/token-place.pure.ts'
import { createCallbackToken, signWebhook } from '../src/platform/outbound/webhook-signature.ts'
import { encryptionRing } from '../src/platform/secrets/keys.ts'
import { createSecrets } from '../src/platform/secrets/secrets.ts'
import { type Person, headersOf, masterKey, testEnv } from './kit/app.ts'
import { callAsMachine } from './kit/backends.ts'
import { type TestDatabase, createScratchDatabase } from './kit/databases.ts'
import { type ExampleBackend, startExampleBackend } from './kit/example-backend.ts'
import { postQuery } from './kit/graphql.ts'
import { type ServiceProcess, runManager, startProcess } from './kit/process.ts'
import { type SeededProject, seedMachineUser, seedProject, seedTenant, seedUser } from './kit/seed.ts'

let database: TestDatabase
let sql: Pool
let manager: ServiceProcess
let backend: ExampleBackend
let admin: Person
let project: SeededProject
let machine: { id: string; token: string }
let triggerId: string

const startManager = (env: Record<string, string> = {}): Promise<ServiceProcess> =>
  startProcess(database.url, {
    SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8',
    SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
    ...env,
  })
const query = (text: string, variables: Record<string, unknown>) =>
  postQuery(manager.url, headersOf(admin), text, variables)
const fire = () => sql.query('update triggers set next_fire_at = now() where id = $1', [triggerId])
const runsOf = async (id: string) =>
  (await sql.query('select outcome, attempts, response_status from trigger_runs where id = $1', [id])).rows
async function expectDelivered(id: string, attempts = 1): Promise<void> {
  await expect.poll(() => runsOf(id)).toEqual([{ outcome: 'delivered', attempts, response_status: 204 }])
}
/** The run that the backend takes next, once it has done its work for both tenants. */
async function nextRun(): Promise<string> {
  const id = await backend.line(/^run (\S+): night$/m)
  await backend.line(/^night for acme$/m)
  await backend.line(/^night for shop-tenant$/m)
  return id
}

beforeAll(async () => {
  database = await createScratchDatabase()
  sql = new Pool({ connectionString: database.url, max: 2 })
  admin = await seedUser(sql, 'admin', 'administrator')
  project = await seedProject(sql, 'shop')
  machine = await seedMachineUser(sql, project)
  const acme = '00000000-0000-4000-8000-000000000001'
  await seedTenant(sql, project.id, acme, 'acme')
  await sql.query(
    'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values ($1, $2, $3, $4, true)',
    [randomUUID(), project.id, acme, project.applicationId],
  )
  manager = await startManager()
  backend = await startExampleBackend({
    managerUrl: manager.url,
    applicationId: project.applicationId,
    token: machine.token,
  })
  const { data } = await query(
    `mutation($applicationId: ID!) { row: createTrigger(applicationId: $applicationId,
       input: { name: "nightly", cronExpression: "@yearly", runKey: "night" }) { id } }`,
    { applicationId: project.applicationId },
  )
  triggerId = data.row.id
})
afterAll(async () => {
  await backend.stop()
  manager.child.kill('SIGKILL')
  await manager.exit
  await sql.end()
  await database.drop()
})

test('the example registers, verifies the callback, and works once per tenant', async () => {
  const id = await backend.line(/^registered (\S+)$/m)
  const { rows } = await sql.query('select id, callback_url from backend_registrations')
  expect(rows).toEqual([{ id, callback_url: backend.callbackUrl }])
  await fire()
  await expectDelivered(await nextRun())
})

/** The callback token that the service signs with now. */
async function callbackToken(): Promise<string> {
  const { rows } = await sql.query('select id, callback_token from backend_registrations')
  const secrets = createSecrets(encryptionRing(Buffer.from(masterKey, 'base64')))
  return secrets.open(rows[0].callback_token, tokenPlace(rows[0].id))
}
/** Calls the backend as the service does; returns the status of the answer. */
async function send(
  runKey: string,
  token: string,
  { ageSeconds = 0, keyedWith = token } = {},
): Promise<number> {
  const [id, body] = [randomUUID(), Buffer.from(JSON.stringify({ run_key: runKey }))]
  const timestampSeconds = Math.floor(Date.now() / 1_000) - ageSeconds
  const headers = {
    authorization: `Bearer ${token}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signWebhook({ id, timestampSeconds, body, token: keyedWith }),
  }
  const { status } = await fetch(backend.callbackUrl, { method: 'POST', headers, body })
  return status
}

test('it refuses a callback that is not signed, signed with another key, or not of these minutes', async () => {
  const [token, another] = [await callbackToken(), createCallbackToken()]
  const unsigned = await fetch(backend.callbackUrl, { method: 'POST', body: '{"run_key":"forged"}' })
  expect([
    unsigned.status,
    await send('forged', token, { keyedWith: another }),
    await send('forged', token, { ageSeconds: 3_600 }),
    await send('forged', token, { ageSeconds: -3_600 }),
    await send('real', token),
  ]).toEqual([401, 401, 401, 401, 204])
  await backend.line(/^real for shop-tenant$/m)
  expect(backend.printed()).not.toContain('forged')
})

test('a run that arrives a second time is not worked on again', async () => {
  await fire()
  const id = await nextRun()
  await expectDelivered(id)
  // As if the answer had been lost, and an operator had the run delivered again.
  await sql.query("update trigger_runs set outcome = 'failed' where id = $1", [id])
  expect(await runManager(['triggers', 'retry', id], testEnv(database.url))).toMatchObject({ code: 0 })
  expect(await backend.line(/^had (\S+) already$/m)).toBe(id)
  await expectDelivered(id)
})

test('[backends.durable] the Manager is stopped and started again: the next firing arrives, and nothing registers', async () => {
  const registrations = 'select id, updated_at from backend_registrations'
  const { rows } = await sql.query(registrations)
  manager.child.kill()
  expect(await manager.exit).toBe(0)
  await backend.line(/^no heartbeat: TypeError: fetch failed$/m)
  manager = await startManager({ SVC_PORT: new URL(manager.url).port })
  await fire()
  await expectDelivered(await nextRun())
  expect((await sql.query(registrations)).rows).toEqual(rows)
})

test('another instance registers as the same machine user: the run arrives with the next attempt', async () => {
  const { status } = await callAsMachine(manager, {
    method: 'POST',
    path: '/register-backend',
    token: machine.token,
    body: { application_id: project.applicationId, callback_url: backend.callbackUrl },
  })
  expect(status).toBe(200)
  await fire()
  await backend.line(/^registered (\S+)$/m)
  await expect
    .poll(() => sql.query("update jobs.job_common set start_after = now() where state < 'active'"))
    .toMatchObject({ rowCount: 1 })
  await expectDelivered(await nextRun(), 2)
})

test('the machine token is rotated: with the new one in its file the backend goes on', async () => {
  const { data } = await query(
    'mutation($id: ID!) { made: rotateMachineUserToken(id: $id) { generatedToken } }',
    { id: machine.id },
  )
  await backend.line(/^no heartbeat: Error: PUT \S+: 401$/m)
  const heartbeat = 'select last_heartbeat from backend_registrations'
  const { rows } = await sql.query(heartbeat)
  backend.writeToken(data.made.generatedToken)
  await expect.poll(async () => (await sql.query(heartbeat)).rows).not.toEqual(rows)
  await fire()
  await expectDelivered(await nextRun())
})

test('its registration is removed: the next heartbeat makes it register again, and it knows the former token too', async () => {
  const former = await callbackToken()
  await sql.query('delete from backend_registrations')
  const id = await backend.line(/^registered (\S+)$/m)
  expect((await sql.query('select id from backend_registrations')).rows).toEqual([{ id }])
  await fire()
  await expectDelivered(await nextRun())
  expect(await callbackToken()).not.toBe(former)
  expect(await send('late', former)).toBe(204)
})

test('it unregisters when it ends', async () => {
  expect(await backend.stop()).toBe(0)
  expect((await sql.query('select id from backend_registrations')).rows).toEqual([])
})
