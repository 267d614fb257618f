// `npm run demo`: the Manager with everything around it, to look at. Its own PostgreSQL and Redis, the service with its gate
// closed, a proxy that plays the reference proxy, data, a partner, examples/backend.ts, and examples/shell in your browser.
// Everything listens on loopback. It is for development alone, and refuses to be anything else.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '@manager/client'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { ensureShop } from './demo-data.ts'
import { ensureMachine } from './demo-machine.ts'
import { startPartner } from './demo-partner.ts'
import { type Person, identityOf } from './demo-people.ts'
import { startDemoProxy } from './demo-proxy.ts'
import { type Engines, type Place, runDevelopment, say } from './development.ts'

const given = process.env
const port = given['DEMO_PORT'] ?? '8000'
// The data stays from one run to the next; remove the folder to start again.
const dir = `${tmpdir()}/manager-demo-${userInfo().username}`
const logFile = `${dir}/service.log`
const root = new URL('../../../', import.meta.url)
const [servicePort, healthPort] = [await freePort(), await freePort()]
const serviceUrl = `http://127.0.0.1:${servicePort}`
/** Known to the service and to the proxy of this run, and to nobody else. */
const secret = randomBytes(32).toString('base64')
/** Makes the data, and can be chosen by nobody. */
const operator: Person = {
  key: 'operator',
  subject: '0e000000-0000-4000-8000-000000000000',
  name: 'Demo',
  email: 'operator@demo.example',
  tenant: '',
}
/** Of the caller's environment only what is not a setting of the service: the demo brings its own. */
const plainEnv = Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith('SVC_')))

function refuseOtherThanDemo(): void {
  const { SVC_ENV, SVC_DATABASE_URL, SVC_REDIS_URL } = given
  const problem =
    SVC_ENV !== undefined && SVC_ENV !== 'development'
      ? `the demo signs people in without a password and runs in development alone, and SVC_ENV is ${SVC_ENV}; unset it`
      : SVC_DATABASE_URL !== undefined || SVC_REDIS_URL !== undefined
        ? 'the demo writes to a database of its own; unset SVC_DATABASE_URL and SVC_REDIS_URL'
        : /^[1-9]\d{0,4}$/.test(port) && Number(port) < 65_536
          ? null
          : `DEMO_PORT is no port: ${port}`
  if (problem === null) return
  process.stderr.write(`error: ${problem}\n`)
  process.exit(1)
}

const serviceEnv = ({ databaseUrl, redisUrl }: Engines): NodeJS.ProcessEnv => ({
  ...plainEnv,
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
  const main = new URL('packages/manager/src/main.ts', root).pathname
  const child = spawn(process.execPath, [main], {
    stdio: ['ignore', log, log],
    detached: true,
    env: serviceEnv(engines),
  })
  closeSync(log)
  say(`service    starts; its log is ${logFile}`)
  return child
}

async function startBeside({ engines, folder, stops, signal }: Place): Promise<void> {
  await Promise.all([untilReady(signal), grantOperator(engines, signal)])
  const as = (person: Person) =>
    connect({ url: serviceUrl, headers: { 'x-proxy-auth': secret, ...identityOf(person) } })
  const admin = as(operator)
  const shop = await ensureShop(admin, as)
  const partner = await startPartner()
  stops.push(partner.close)
  const tokenFile = `${dir}/machine-token`
  await ensureMachine(admin, shop, partner, tokenFile)
  say('data       a project, two tenants, an application, texts, a pilet, an endpoint, a trigger')
  const proxy = await startDemoProxy({
    port: Number(port),
    managerPort: servicePort,
    secret,
    place: {
      applicationId: shop.application.id,
      applicationName: shop.application.name,
      tenants: shop.tenants,
    },
  })
  stops.push(proxy.close)
  const backendPort = await freePort()
  // What is started after this would not be stopped.
  signal.throwIfAborted()
  const backend = startBackend(shop.application.id, tokenFile, backendPort)
  if (backend.pid !== undefined) folder.add(backend.pid)
  stops.push(() => stop(backend))
  say(`
Open http://localhost:${port} and choose Anna or Ben. At the next full minute a trigger calls the backend,
and the bell rings: click it. Open it as the other one, too, in a private window.
The Manager itself is at http://127.0.0.1:${port}. Ctrl-C stops everything.
`)
}

/** Waits until the service answers; throws when it takes too long. A service that ended ends the run. */
async function untilReady(signal: AbortSignal): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    const response = await fetch(`${serviceUrl}/health`, { signal }).catch(() => null)
    if (response?.ok === true) return
    await pause(50, undefined, { signal })
  }
  throw new Error(`the service does not get ready; read ${logFile}`)
}

/** The first administrator is made on the command line, as in an installation. */
async function grantOperator(engines: Engines, signal: AbortSignal): Promise<void> {
  const manager = new URL('packages/manager/src/commands/manager.ts', root).pathname
  const child = spawn(process.execPath, [manager, 'admin', 'grant', operator.subject], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: serviceEnv(engines),
    signal,
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error('manager admin grant failed')
}

/** examples/backend.ts, as its author would run it: it knows the address, its application and its token. */
function startBackend(applicationId: string, tokenFile: string, backendPort: number): ChildProcess {
  const child = spawn(process.execPath, [new URL('examples/backend.ts', root).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env: {
      PATH: given['PATH'],
      MANAGER_URL: serviceUrl,
      MACHINE_TOKEN_FILE: tokenFile,
      APPLICATION_ID: applicationId,
      HOST: '127.0.0.1',
      CALLBACK_URL: `http://127.0.0.1:${backendPort}/callbacks`,
      PORT: String(backendPort),
    },
  })
  createInterface(child.stdout).on('line', (line) => say(`backend    ${line}`))
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await ended
  clearTimeout(late)
}

refuseOtherThanDemo()
say(`engines    PostgreSQL and Redis start, with data in ${dir}`)
await runDevelopment({
  command: 'npm run demo',
  dir,
  port,
  ports: [{ variable: 'DEMO_PORT', port }],
  given: {},
  onMigrated: (names) =>
    say(`database   ${names.length === 0 ? 'is up to date' : `${names.length} migrations applied`}`),
  startService,
  startBeside,
})
