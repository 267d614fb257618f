// Starts the parts of `npm run demo`, except its own PostgreSQL and Redis servers: a service process, the data, the
// partner and the proxy. The backends of the demo do not run, so triggers record nothing.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Connection, connect } from '@manager/client'
import { Pool } from 'pg'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { createAddresses } from '../../tools/demo-doors.ts'
import { openDemoDatabase } from '../../tools/demo-history.ts'
import { createOrders } from '../../tools/demo-orders.ts'
import { startPartner } from '../../tools/demo-partner.ts'
import { createIdentityHeaders } from '../../tools/demo-people.ts'
import { startDemoProxy } from '../../tools/demo-proxy.ts'
import { ensureDemoData } from '../../tools/demo-setup.ts'
import type { MachineUserKey } from '../../tools/demo-world.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { complaintsOf } from './cli-login-page.ts'
import { createScratchDatabase } from './databases.ts'
import { startProcess } from '@manager/harness/process.ts'
import { seedUser } from '@manager/harness/seed.ts'

export type DemoScene = Awaited<ReturnType<typeof startDemoScene>>

export async function startDemoScene() {
  const scratch = await createScratchDatabase()
  const sql = new Pool({ connectionString: scratch.url, max: 2 })
  const database = openDemoDatabase(scratch.url)
  const { id: adminId } = await seedUser(sql, 'admin', 'administrator')
  const port = await freePort()
  const addresses = createAddresses(port)
  const manager = await startProcess(scratch.url, {
    SVC_PUBLIC_URL: addresses.manager,
    SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8',
    SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
  })
  const connectAs = (identity: Record<string, string>): Connection =>
    connect({ url: manager.url, headers: { 'x-proxy-auth': proxySecret, ...identity } })
  const admin = connectAs({ 'x-token-subject': adminId })
  const dir = mkdtempSync(`${tmpdir()}/demo-scene-`)
  const tokenFileOf = (key: MachineUserKey): string => `${dir}/${key}`
  const connectMachine = (key: MachineUserKey): Connection =>
    connect({ url: manager.url, token: () => readFileSync(tokenFileOf(key), 'utf8').trim() })
  const partner = await startPartner()
  /** Creates missing data, as on every start of the demo. */
  const ensureData = () =>
    ensureDemoData({
      database,
      admin,
      as: (person) => connectAs(createIdentityHeaders(person)),
      connectMachine,
      partner,
      tokenFileOf,
    })
  const shop = await ensureData()
  const proxy = await startDemoProxy({
    port,
    managerPort: Number(new URL(manager.url).port),
    secret: proxySecret,
    shop,
    placeOrder: createOrders(connectMachine('shop'), shop.application.id),
  })
  return {
    sql,
    manager,
    shop,
    port,
    addresses,
    ensureData,
    /** The connection of the shop's backend. */
    machine: connectMachine('shop'),
    close: async (): Promise<void> => {
      await proxy.close()
      await partner.close()
      await database.close()
      manager.child.kill('SIGKILL')
      await manager.exit
      await sql.end()
      await scratch.drop()
      rmSync(dir, { recursive: true })
    },
  }
}

/**
 * Opens an address of the demo in a new browser context. Opening a door signs in the person of the door. Returns the
 * tab, and `complaints` with its dialogs, script errors and console messages.
 */
export async function openTab(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<{ tab: Page; complaints: string[] }> {
  const context = await browser.newContext({ viewport: { width: 760, height: 560 }, ...options })
  context.setDefaultTimeout(60_000)
  const tab = await context.newPage()
  const complaints = complaintsOf(tab)
  await tab.goto(url)
  return { tab, complaints }
}
