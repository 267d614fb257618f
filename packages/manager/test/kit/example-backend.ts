// Starts an example backend as a separate process, which tests observe through its output. The service is a process
// too.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { expect } from 'vitest'
import { startPartner } from '../../tools/demo-partner.ts'
import { ensureGo } from '@manager/harness/engines/install.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { headersOf } from '@manager/harness/callers.ts'
import { createScratchDatabase } from './databases.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { seedMachineUser, seedMember, seedProject, seedTenant, seedUser } from '@manager/harness/seed.ts'

export type ExampleProgram = 'backend.ts' | 'careful-backend.ts' | 'backend.py' | 'backend.go'

/** Returns the command that runs the program. A Go program is built first. */
function commandOf(program: ExampleProgram): [string, ...string[]] {
  const path = new URL(`../../../../examples/${program}`, import.meta.url).pathname
  if (program.endsWith('.ts')) return [process.execPath, path]
  if (program.endsWith('.py')) return ['python3', path]
  ensureGo()
  const built = join(mkdtempSync(join(tmpdir(), 'example-go-')), 'backend')
  execFileSync('go', ['build', '-o', built, path], {
    env: { ...process.env, GOFLAGS: '-mod=mod', GO111MODULE: 'off' },
  })
  return [built]
}
/** Starts the backend, which registers itself. */
export async function startExampleBackend(
  program: ExampleProgram,
  of: { managerUrl: string; applicationId: string; token: string; heartbeatSeconds?: string },
) {
  const [command, ...args] = commandOf(program)
  const port = await freePort()
  const callbackUrl = `http://127.0.0.1:${port}/callbacks`
  const tokenFile = join(tmpdir(), `example-backend-${process.pid}-${port}`)
  const writeToken = (token: string): void => writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 })
  writeToken(of.token)
  const child = spawn(command, args, {
    env: {
      PATH: process.env['PATH'],
      MANAGER_URL: of.managerUrl,
      APPLICATION_ID: of.applicationId,
      MACHINE_TOKEN_FILE: tokenFile,
      CALLBACK_URL: callbackUrl,
      PORT: String(port),
      HEARTBEAT_SECONDS: of.heartbeatSeconds ?? '0.2',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  let seen = 0
  return {
    callbackUrl,
    writeToken,
    printed: (): string => printed,
    /**
     * Skips lines until one matches, and returns its first capture group. The search starts after the previous match.
     */
    line: async (pattern: RegExp): Promise<string> => {
      const find = (): RegExpExecArray | null => pattern.exec(printed.slice(seen))
      await expect.poll(find, { message: `a line that matches ${pattern.source}` }).not.toBeNull()
      const found = find()
      seen += (found?.index ?? 0) + (found?.[0].length ?? 0)
      return found?.[1] ?? ''
    },
    /** Stops the backend with the signal that a supervisor would send, and resolves with its exit code. */
    stop: async (): Promise<number | null> => {
      child.kill()
      const code = await ended
      rmSync(tokenFile, { force: true })
      return code
    },
  }
}

type Query = (text: string, variables: Record<string, unknown>) => ReturnType<typeof postQuery>

/** Adds a partner behind the endpoint /stock and allows the machine user to call it. */
async function addPartner(query: Query, of: { applicationId: string; machineUserID: string }) {
  const partner = await startPartner()
  const { data } = await query(
    `mutation($applicationId: ID!, $input: CreateEndpointInput!) {
       row: createEndpoint(applicationId: $applicationId, input: $input) { id } }`,
    {
      applicationId: of.applicationId,
      input: {
        name: 'stock',
        consumeURL: '/stock',
        url: `${partner.url}/stock`,
        authType: 'Bearer',
        authToken: partner.token,
      },
    },
  )
  await query(
    'mutation($input: CreateMachineUser2EndpointInput!) { row: createMachineUser2Endpoint(input: $input) { id } }',
    { input: { machineUserID: of.machineUserID, endpointID: data.row.id, enabled: true } },
  )
  return partner
}

export type ExampleScene = Awaited<ReturnType<typeof startExampleScene>>

/**
 * Starts a service, an application with two tenants, a trigger that fires once a year, and the backend. Tests
 * use SQL to simulate elapsed time: they make the trigger due when they need it.
 */
export async function startExampleScene(program: ExampleProgram) {
  const database = await createScratchDatabase()
  const sql = new Pool({ connectionString: database.url, max: 2 })
  const admin = await seedUser(sql, 'admin', 'administrator')
  const project = await seedProject(sql, 'shop')
  const machine = await seedMachineUser(sql, project)
  const acme = '00000000-0000-4000-8000-000000000001'
  await seedTenant(sql, project.id, acme, 'acme')
  await sql.query(
    'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values ($1, $2, $3, $4, true)',
    [randomUUID(), project.id, acme, project.applicationId],
  )
  for (const tenantId of [acme, project.tenantId])
    await seedMember(sql, admin, 'member', { projectId: project.id, tenantId })
  const startManager = (env: Record<string, string> = {}): Promise<ServiceProcess> =>
    startProcess(database.url, {
      SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8',
      SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
      ...env,
    })
  let manager = await startManager()
  const { applicationId } = project
  const backend = await startExampleBackend(program, {
    managerUrl: manager.url,
    applicationId,
    token: machine.token,
  })
  const query = (text: string, variables: Record<string, unknown>) =>
    postQuery(manager.url, headersOf(admin), text, variables)
  const { data } = await query(
    `mutation($applicationId: ID!) { row: createTrigger(applicationId: $applicationId,
       input: { name: "nightly", cronExpression: "@yearly", runKey: "night" }) { id } }`,
    { applicationId },
  )
  const triggerId = data.row.id as string
  const partner = await addPartner(query, { applicationId, machineUserID: machine.id })
  return {
    database,
    sql,
    project,
    machine,
    backend,
    query,
    manager: () => manager,
    fire: () => sql.query('update triggers set next_fire_at = now() where id = $1', [triggerId]),
    /**
     * Stops the service with the signal of its supervisor, runs `whileStopped`, and starts the service again on the
     * same port.
     */
    restart: async (whileStopped: () => Promise<unknown>): Promise<void> => {
      manager.child.kill()
      expect(await manager.exit).toBe(0)
      await whileStopped()
      manager = await startManager({ SVC_PORT: new URL(manager.url).port })
    },
    close: async (): Promise<void> => {
      await backend.stop()
      await partner.close()
      manager.child.kill('SIGKILL')
      await manager.exit
      await sql.end()
      await database.drop()
    },
  }
}
