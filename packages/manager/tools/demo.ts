// `npm run demo` starts a complete installation to explore: PostgreSQL, Redis, the Manager, a stand-in reverse proxy
// with two doors, a month of sample data, a mock partner, examples/backend.ts and examples/shell. The Manager requires
// the proxy secret. Everything listens on loopback. The demo is for development only and rejects any other environment.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { type Connection, connect } from '@manager/client'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { startBackends } from './demo-backends.ts'
import type { Partner } from './demo-data-machine.ts'
import type { DemoShop } from './demo-data.ts'
import { createAddresses } from './demo-doors.ts'
import { openDemoDatabase } from './demo-history.ts'
import { createOrders } from './demo-orders.ts'
import { startPartner } from './demo-partner.ts'
import { type Person, createIdentityHeaders, operator } from './demo-people.ts'
import { startDemoProxy } from './demo-proxy.ts'
import { ensureDemoData } from './demo-setup.ts'
import type { MachineUserKey } from './demo-world.ts'
import { type Engines, type Run, runDevelopment, printLine, stopChild } from './development.ts'

const callerEnv = process.env
const port = callerEnv['DEMO_PORT'] ?? '8000'
// The data persists between runs; remove the folder to start over.
const dir = `${tmpdir()}/manager-demo-${userInfo().username}`
const logFile = `${dir}/service.log`
const resolvePath = (file: string): string => new URL(`../../../${file}`, import.meta.url).pathname
const [servicePort, healthPort] = [await freePort(), await freePort()]
const serviceUrl = `http://127.0.0.1:${servicePort}`
/** Only the service and the proxy in this run know the secret. */
const secret = randomBytes(32).toString('base64')

/** Returns the reason why the demo cannot run, or null. */
function findProblem(): string | null {
  const { SVC_ENV = 'development', SVC_DATABASE_URL, SVC_REDIS_URL } = callerEnv
  if (SVC_ENV !== 'development')
    return `the demo signs people in without a password and runs only in development; unset SVC_ENV (currently ${SVC_ENV})`
  if (SVC_DATABASE_URL !== undefined || SVC_REDIS_URL !== undefined)
    return 'the demo uses its own database; unset SVC_DATABASE_URL and SVC_REDIS_URL'
  return /^[1-9]\d{0,4}$/.test(port) && Number(port) < 65_536
    ? null
    : `DEMO_PORT is not a valid port: ${port}`
}

const createServiceEnv = ({ databaseUrl, redisUrl }: Engines): NodeJS.ProcessEnv => ({
  // The demo has its own settings, so settings from the caller's environment are removed.
  ...Object.fromEntries(Object.entries(callerEnv).filter(([name]) => !name.startsWith('SVC_'))),
  SVC_ENV: 'development',
  SVC_HOST: '127.0.0.1',
  SVC_PORT: String(servicePort),
  SVC_HEALTH_HOST: '127.0.0.1',
  SVC_HEALTH_PORT: String(healthPort),
  SVC_PUBLIC_URL: createAddresses(Number(port)).manager,
  SVC_PROXY_SECRET: secret,
  SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8',
  // Keeps the registration of the silent backend, so that the overview lists it.
  SVC_CALLBACKS_REAP_AFTER: '1440m',
  SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
  SVC_DATABASE_URL: databaseUrl,
  SVC_REDIS_URL: redisUrl,
})

function startService(engines: Engines): ChildProcess {
  const log = openSync(logFile, 'w', 0o600)
  const child = spawn(process.execPath, [resolvePath('packages/manager/src/main.ts')], {
    stdio: ['ignore', log, log],
    detached: true,
    env: createServiceEnv(engines),
  })
  closeSync(log)
  printLine(`service    starting; see the log in ${logFile}`)
  return child
}

const tokenFileOf = (key: MachineUserKey): string => `${dir}/machine-token-${key}`
const connectMachine = (key: MachineUserKey): Connection =>
  connect({ url: serviceUrl, token: () => readFileSync(tokenFileOf(key), 'utf8').trim() })
const connectAs = (person: Person): Connection =>
  connect({ url: serviceUrl, headers: { 'x-proxy-auth': secret, ...createIdentityHeaders(person) } })

async function startCompanions(engines: Engines, { folder, stack, signal }: Run): Promise<void> {
  await Promise.all([waitUntilReady(signal), grantOperator(engines, signal)])
  const partner = await startPartner()
  stack.defer(partner.close)
  const shop = await prepareData(engines, partner)
  const backends = await startBackends(connectMachine, shop)
  stack.defer(backends.close)
  const placeOrder = createOrders(connectMachine('shop'), shop.application.id)
  const proxy = await startDemoProxy({
    port: Number(port),
    managerPort: servicePort,
    secret,
    shop,
    placeOrder,
  })
  stack.defer(proxy.close)
  const backendPort = await freePort()
  // If the run has been aborted, a process that starts now would not be stopped.
  signal.throwIfAborted()
  const backend = startBackend(shop.application.id, backendPort)
  if (backend.pid !== undefined) folder.add(backend.pid)
  stack.defer(() => stopChild(backend))
  printAddresses()
}

async function prepareData({ databaseUrl }: Engines, partner: Partner): Promise<DemoShop> {
  const startMs = performance.now()
  const database = openDemoDatabase(databaseUrl)
  const admin = connectAs(operator)
  try {
    const shop = await ensureDemoData({
      database,
      admin,
      as: connectAs,
      connectMachine,
      partner,
      tokenFileOf,
    })
    printLine(`data       ready after ${((performance.now() - startMs) / 1_000).toFixed(1)} s`)
    return shop
  } finally {
    await database.close()
  }
}

function printAddresses(): void {
  const { start, console: consoleUrl, shop, manager } = createAddresses(Number(port))
  printLine(`
Open ${start}

  console   ${consoleUrl}/console/   as Anna, who owns the project
  shop      ${shop}/   as Ben, who works for a customer

Programs reach the Manager at ${manager}. Ctrl-C stops everything.
`)
}

/** Waits until the service is healthy. Throws after about 60 s. If the service exits earlier, the run ends. */
async function waitUntilReady(signal: AbortSignal): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    const response = await fetch(`${serviceUrl}/health`, { signal }).catch(() => null)
    if (response?.ok === true) return
    await pause(50, undefined, { signal })
  }
  throw new Error(`the service did not become ready; see ${logFile}`)
}

/** Creates the first administrator with the operator CLI, as in a real installation. */
async function grantOperator(engines: Engines, signal: AbortSignal): Promise<void> {
  const args = [resolvePath('packages/manager/src/commands/manager.ts'), 'admin', 'grant', operator.subject]
  const stdio = ['ignore', 'ignore', 'inherit'] as const
  const child = spawn(process.execPath, args, { stdio: [...stdio], env: createServiceEnv(engines), signal })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error('manager admin grant failed')
}

/**
 * Starts examples/backend.ts with only the variables that a backend author would set: address, application and token.
 */
function startBackend(applicationId: string, backendPort: number): ChildProcess {
  const child = spawn(process.execPath, [resolvePath('examples/backend.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env: {
      PATH: callerEnv['PATH'],
      MANAGER_URL: serviceUrl,
      MACHINE_TOKEN_FILE: tokenFileOf('shop'),
      APPLICATION_ID: applicationId,
      HOST: '127.0.0.1',
      CALLBACK_URL: `http://127.0.0.1:${backendPort}/callbacks`,
      PORT: String(backendPort),
    },
  })
  createInterface(child.stdout).on('line', (line) => printLine(`backend    ${line}`))
  return child
}

const problem = findProblem()
if (problem !== null) {
  process.stderr.write(`error: ${problem}\n`)
  process.exit(1)
}
printLine(`engines    starting PostgreSQL and Redis with data in ${dir}`)
const ports = [{ variable: 'DEMO_PORT', port }] as const
await runDevelopment({
  command: 'npm run demo',
  dir,
  ports,
  runningEngines: {},
  startService,
  startCompanions,
})
