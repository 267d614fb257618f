// `npm run dev`: a Manager to try things on. Starts its own PostgreSQL and Redis unless SVC_DATABASE_URL and
// SVC_REDIS_URL name others, migrates, and runs the service with the development escape hatch open. However it ends, it
// stops what it has started; what it could not stop because it was killed, the next run stops.
import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir, userInfo } from 'node:os'
import { type Engines, runDevelopment, say } from './development.ts'
import { printPretty } from './pretty-log.ts'

const given = process.env
const port = given['SVC_PORT'] ?? '8080'
// The data stays from one run to the next; remove the folder to start again.
const dir = `${tmpdir()}/manager-dev-${userInfo().username}`

await runDevelopment({
  command: 'npm run dev',
  dir,
  ports: [
    { variable: 'SVC_PORT', port, host: given['SVC_HOST'] },
    { variable: 'SVC_HEALTH_PORT', port: given['SVC_HEALTH_PORT'] ?? '8081', host: given['SVC_HEALTH_HOST'] },
  ],
  given: { databaseUrl: given['SVC_DATABASE_URL'], redisUrl: given['SVC_REDIS_URL'] },
  startService,
})

/** The service, restarted at every change. In a group of its own: Ctrl-C reaches this process alone, which ends all. */
function startService({ databaseUrl, redisUrl }: Engines): ChildProcess {
  const main = new URL('../src/main.ts', import.meta.url).pathname
  const isTerminal = process.stdout.isTTY
  const child = spawn(process.execPath, ['--watch-preserve-output', '--watch', main], {
    stdio: ['ignore', isTerminal ? 'pipe' : 'inherit', 'inherit'],
    detached: true,
    env: {
      SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
      // Backends run on the same machine.
      SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8,::1/128',
      ...(given['SVC_PORT'] === undefined ? {} : { SVC_PUBLIC_URL: `http://localhost:${port}` }),
      ...given,
      SVC_ENV: 'development',
      SVC_DEV_USER_OVERRIDE_ENABLED: 'true',
      SVC_DATABASE_URL: databaseUrl,
      SVC_REDIS_URL: redisUrl,
    },
  })
  if (child.stdout !== null) printPretty(child.stdout, process.stdout, process.stdout.hasColors())
  const place = given['SVC_DATABASE_URL'] === undefined ? dir : 'your database'
  say(`API       http://localhost:${port}/query  (data in ${place})`)
  say(`GraphiQL  http://localhost:${port}/gql    (Ctrl-C stops everything)`)
  return child
}
