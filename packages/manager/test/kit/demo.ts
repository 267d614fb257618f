// Starts the parts of `npm run demo` without its own PostgreSQL and Redis servers: a service process, the
// data, the partner and the proxy. Tests use SQL to simulate elapsed time: they make the trigger due when
// they need it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Connection, connect } from '@manager/client'
import { Pool } from 'pg'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { type Person, ensureShop, createIdentityHeaders } from '../../tools/demo-data.ts'
import { ensureMachine } from '../../tools/demo-data-machine.ts'
import { startPartner } from '../../tools/demo-partner.ts'
import { startDemoProxy } from '../../tools/demo-proxy.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { complaintsOf } from './cli-login-page.ts'
import { createScratchDatabase } from './databases.ts'
import { startProcess } from '@manager/harness/process.ts'
import { seedUser } from '@manager/harness/seed.ts'

export type DemoScene = Awaited<ReturnType<typeof startDemoScene>>

export async function startDemoScene() {
  const database = await createScratchDatabase()
  const sql = new Pool({ connectionString: database.url, max: 2 })
  const { id: adminId } = await seedUser(sql, 'admin', 'administrator')
  const port = await freePort()
  const manager = await startProcess(database.url, {
    SVC_PUBLIC_URL: `http://127.0.0.1:${port}`,
    SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8',
    SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
  })
  const connectAs = (identity: Record<string, string>): Connection =>
    connect({ url: manager.url, headers: { 'x-proxy-auth': proxySecret, ...identity } })
  const admin = connectAs({ 'x-token-subject': adminId })
  const dir = mkdtempSync(`${tmpdir()}/demo-scene-`)
  const tokenFile = `${dir}/machine-token`
  const partner = await startPartner()
  /** Creates missing data, as on every start of the demo. */
  const ensureData = async () => {
    const shop = await ensureShop(admin, (person) => connectAs(createIdentityHeaders(person)))
    await ensureMachine(admin, shop, partner, tokenFile)
    return shop
  }
  const shop = await ensureData()
  const proxy = await startDemoProxy({
    port,
    managerPort: Number(new URL(manager.url).port),
    secret: proxySecret,
    shop,
  })
  return {
    sql,
    manager,
    shop,
    port,
    tokenFile,
    ensureData,
    applicationUrl: `http://localhost:${port}`,
    managerUrl: `http://127.0.0.1:${port}`,
    /** The connection that the backend uses. */
    machine: connect({ url: manager.url, token: () => readFileSync(tokenFile, 'utf8').trim() }),
    close: async (): Promise<void> => {
      await proxy.close()
      await partner.close()
      manager.child.kill('SIGKILL')
      await manager.exit
      await sql.end()
      await database.drop()
      rmSync(dir, { recursive: true })
    },
  }
}

/** Signs in as a person through the page. Returns the tab, and its dialogs, script errors and console messages. */
export async function signIn(
  browser: Browser,
  url: string,
  { name }: Person,
  options: BrowserContextOptions = {},
): Promise<{ tab: Page; complaints: string[] }> {
  const context = await browser.newContext({ viewport: { width: 760, height: 560 }, ...options })
  context.setDefaultTimeout(60_000)
  const tab = await context.newPage()
  const complaints = complaintsOf(tab)
  await tab.goto(url)
  await tab.getByRole('button', { name: `Sign in as ${name}` }).click()
  return { tab, complaints }
}
