// `npm run demo` starts a complete installation to explore: PostgreSQL, Redis, the Manager with its gate closed, a
// stand-in reverse proxy, sample data, a mock partner, examples/backend.ts and examples/shell. Everything listens on
// loopback. The demo is for development only and rejects any other environment.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '@manager/client'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { type Person, ensureShop, createIdentityHeaders, operator } from './demo-data.ts'
import { ensureMachine } from './demo-data-machine.ts'
import { startPartner } from './demo-partner.ts'
import { startDemoProxy } from './demo-proxy.ts'
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
  SVC_PUBLIC_URL: `http://127.0.0.1:${port}`,
  SVC_PROXY_SECRET: secret,
  SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8',
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

async function startCompanions(engines: Engines, { folder, stack, signal }: Run): Promise<void> {
  await Promise.all([waitUntilReady(signal), grantOperator(engines, signal)])
  const connectAs = (person: Person) =>
    connect({ url: serviceUrl, headers: { 'x-proxy-auth': secret, ...createIdentityHeaders(person) } })
  const admin = connectAs(operator)
  const shop = await ensureShop(admin, connectAs)
  const partner = await startPartner()
  stack.defer(partner.close)
  const tokenFile = `${dir}/machine-token`
  await ensureMachine(admin, shop, partner, tokenFile)
  printLine(
    'data       ready: a project, two tenants, an application, translations, a pilet, an endpoint, a trigger',
  )
  const proxy = await startDemoProxy({ port: Number(port), managerPort: servicePort, secret, shop })
  stack.defer(proxy.close)
  const backendPort = await freePort()
  // A process that starts after the run was aborted would not be stopped.
  signal.throwIfAborted()
  const backend = startBackend(shop.application.id, tokenFile, backendPort)
  if (backend.pid !== undefined) folder.add(backend.pid)
  stack.defer(() => stopChild(backend))
  printLine(`
Open http://localhost:${port} and choose Anna or Ben. At the next full minute a trigger calls the backend,
and the bell shows a notification. To sign in as the other person too, use a private window.
The Manager itself is at http://127.0.0.1:${port}. Ctrl-C stops everything.
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
function startBackend(applicationId: string, tokenFile: string, backendPort: number): ChildProcess {
  const child = spawn(process.execPath, [resolvePath('examples/backend.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env: {
      PATH: callerEnv['PATH'],
      MANAGER_URL: serviceUrl,
      MACHINE_TOKEN_FILE: tokenFile,
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
