// Opens the page with a notification bell in a browser, behind nginx with the configuration in
// docs/guides/frontends/show-notifications.md. The service runs as a process. The cookie `session` contains
// the name of the signed-in person.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Pool } from 'pg'
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { startNginx } from '@manager/harness/engines/nginx.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { clientFile } from './comms-client.ts'
import { codeOfPage } from './comms-page.ts'
import { emit, targetFields, publish } from './comms.ts'
import { createScratchDatabase } from './databases.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import {
  type SeededProject,
  seedMachineUser,
  seedMember,
  seedProject,
  seedTenant,
  seedUser,
} from '@manager/harness/seed.ts'

type Visitor = Person & { tenantId: string }

/**
 * Starts nginx with the configuration blocks of the page. The test replaces only the service address, the secret and
 * the sign-in.
 */
function startProxy(managerPort: number, { applicationId }: SeededProject, visitors: readonly Visitor[]) {
  const { text } = codeOfPage('nginx', { application: applicationId })
  const [http = '', location = ''] = text
    .replace('127.0.0.1:8080', `127.0.0.1:${managerPort}`)
    .replace('the shared secret', proxySecret)
    .split(/(?=location \/comms\/)/)
  const bySession = (variable: string, value: (visitor: Visitor) => string): string =>
    `map $cookie_session $${variable} { default ''; ${visitors.map((one) => `${one.name} ${value(one)};`).join(' ')} }`
  const signIn = [bySession('user_id', ({ id }) => id), bySession('tenant_id', ({ tenantId }) => tenantId)]
  return startNginx({
    http: [http, ...signIn].join('\n'),
    server: location,
    files: {
      'index.html': codeOfPage('html', {}).text,
      'comms-client.mjs': readFileSync(clientFile, 'utf8'),
    },
  })
}

/** Adds a second tenant with the same application to the project. */
async function addTenant(sql: Pool, project: SeededProject): Promise<string> {
  const id = randomUUID()
  await seedTenant(sql, project.id, id, 'other')
  await sql.query(
    'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values ($1, $2, $3, $4, true)',
    [randomUUID(), project.id, id, project.applicationId],
  )
  return id
}

/** Seeds Alice as a member of the project's tenant, and Bob as a member of a different tenant. */
async function seedVisitors(sql: Pool, project: SeededProject): Promise<{ alice: Visitor; bob: Visitor }> {
  const alice = { ...(await seedUser(sql, 'alice')), tenantId: project.tenantId }
  const bob = { ...(await seedUser(sql, 'bob')), tenantId: await addTenant(sql, project) }
  for (const { tenantId, ...person } of [alice, bob])
    await seedMember(sql, person, 'member', { projectId: project.id, tenantId })
  return { alice, bob }
}

export type BellScene = Awaited<ReturnType<typeof startBellScene>>

export async function startBellScene(browser: Browser) {
  const database = await createScratchDatabase()
  const sql = new Pool({ connectionString: database.url, max: 2 })
  const project = await seedProject(sql, 'shop')
  const machine = await seedMachineUser(sql, project)
  const visitors = await seedVisitors(sql, project)
  const port = await freePort()
  const startManager = (): Promise<ServiceProcess> =>
    startProcess(database.url, {
      SVC_PORT: String(port),
      SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
      SVC_COMMS_RECONNECT_JITTER: '300ms',
    })
  let manager = await startManager()
  const proxy = await startProxy(port, project, Object.values(visitors))
  const targetFor = ({ tenantId }: Visitor) => targetFields({ ...project, tenantId })
  return {
    sql,
    project,
    proxy,
    ...visitors,
    open: async (visitor: Visitor): Promise<Page> => {
      const context = await browser.newContext({ viewport: { width: 720, height: 560 } })
      await context.addCookies([{ name: 'session', value: visitor.name ?? '', url: proxy.url }])
      const tab = await context.newPage()
      await tab.goto(proxy.url)
      return tab
    },
    /** Sends a notification to the tenant of the visitor, who is its only member. */
    emit: async (to: Visitor, fields: object): Promise<void> => {
      const { status, body } = await emit(manager, machine.token, { ...targetFor(to), ...fields })
      expect([status, body]).toEqual([202, expect.objectContaining({ recipient_count: 1 })])
    },
    publish: async (to: Visitor, fields: object): Promise<void> => {
      const { status } = await publish(manager, machine.token, { ...targetFor(to), ...fields })
      expect(status).toBe(202)
    },
    /** Stops the service with the signal that its supervisor would send. */
    stop: async (): Promise<void> => {
      manager.child.kill()
      expect(await manager.exit).toBe(0)
    },
    /** Starts the service again on the same port. */
    start: async (): Promise<void> => {
      manager = await startManager()
    },
    close: async (): Promise<void> => {
      await proxy.close()
      manager.child.kill('SIGKILL')
      await manager.exit
      await sql.end()
      await database.drop()
    },
  }
}
