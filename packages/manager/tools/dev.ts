// `npm run dev` starts a Manager for development. It starts PostgreSQL and Redis unless SVC_DATABASE_URL and
// SVC_REDIS_URL are set, migrates, and runs the service with the development escape hatch open. It stops all its
// processes when it exits. If it was killed, the next run stops them.
import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir, userInfo } from 'node:os'
import { type Engines, runDevelopment, printLine } from './development.ts'
import { printPretty } from './pretty-log.ts'

const callerEnv = process.env
const port = callerEnv['SVC_PORT'] ?? '8080'
// The data persists between runs; remove the folder to start over.
const dir = `${tmpdir()}/manager-dev-${userInfo().username}`

await runDevelopment({
  command: 'npm run dev',
  dir,
  ports: [
    { variable: 'SVC_PORT', port, host: callerEnv['SVC_HOST'] },
    {
      variable: 'SVC_HEALTH_PORT',
      port: callerEnv['SVC_HEALTH_PORT'] ?? '8081',
      host: callerEnv['SVC_HEALTH_HOST'],
    },
  ],
  runningEngines: { databaseUrl: callerEnv['SVC_DATABASE_URL'], redisUrl: callerEnv['SVC_REDIS_URL'] },
  startService,
})

/**
 * Starts the service and restarts it on every change. The service has its own process group, so that Ctrl-C does not
 * signal it directly.
 */
function startService({ databaseUrl, redisUrl }: Engines): ChildProcess {
  const mainFile = new URL('../src/main.ts', import.meta.url).pathname
  const isTerminal = process.stdout.isTTY
  const child = spawn(process.execPath, ['--watch-preserve-output', '--watch', mainFile], {
    stdio: ['ignore', isTerminal ? 'pipe' : 'inherit', 'inherit'],
    detached: true,
    env: {
      SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
      // Backends run on the same machine.
      SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8,::1/128',
      ...(callerEnv['SVC_PORT'] === undefined ? {} : { SVC_PUBLIC_URL: `http://localhost:${port}` }),
      ...callerEnv,
      SVC_ENV: 'development',
      SVC_DEV_USER_OVERRIDE_ENABLED: 'true',
      SVC_DATABASE_URL: databaseUrl,
      SVC_REDIS_URL: redisUrl,
    },
  })
  if (child.stdout !== null) printPretty(child.stdout, process.stdout, process.stdout.hasColors())
  const dataLocation = callerEnv['SVC_DATABASE_URL'] === undefined ? dir : 'your database'
  printLine(`API       http://localhost:${port}/query  (data in ${dataLocation})`)
  printLine(`Console   http://localhost:${port}/console/`)
  printLine(`GraphiQL  http://localhost:${port}/gql    (Ctrl-C stops everything)`)
  return child
}
