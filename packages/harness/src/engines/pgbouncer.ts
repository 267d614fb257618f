// Runs a private PgBouncer in front of a PostgreSQL server, in its own folder.
import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensurePgBouncer } from './install.ts'
import { acceptsConnections } from './nginx.ts'
import { findPostgresAccount, freePort } from './postgres.ts'

export type PgBouncerOptions = {
  /** The URL of the database behind PgBouncer. */
  url: string
  mode: 'session' | 'transaction'
  /** Extra configuration lines. */
  more?: string
  /** The program to run instead of the installed PgBouncer, with its first arguments. */
  program?: readonly string[]
}

/** Starts PgBouncer on a free loopback port and waits until it accepts connections. */
export async function startPgBouncer({
  url,
  mode,
  more = '',
  program = [ensurePgBouncer()],
}: PgBouncerOptions) {
  const folder = mkdtempSync(path.join(tmpdir(), 'pgbouncer-'))
  const { hostname, port: target, username, pathname } = new URL(url)
  const port = await freePort()
  const user = decodeURIComponent(username) || 'postgres'
  const file = path.join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${target || 5432} user=${user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
max_client_conn = 200
ignore_startup_parameters = options,statement_timeout,idle_in_transaction_session_timeout
${more}
`,
  )
  // PgBouncer refuses to run as root.
  const account = process.getuid?.() === 0 ? findPostgresAccount() : null
  if (account !== null) for (const one of [folder, file]) chownSync(one, account.uid, account.gid)
  const [command = '', ...args] = program
  const child = spawn(command, [...args, file], { stdio: ['ignore', 'ignore', 'pipe'], ...account })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  for (let tries = 0; !(await acceptsConnections(port)); tries++) {
    if (tries > 600 || child.exitCode !== null) throw new Error(`PgBouncer did not start: ${stderr}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    url: `postgresql://${username}@127.0.0.1:${port}${pathname}`,
    close: async (): Promise<void> => {
      child.kill('SIGINT')
      const late = setTimeout(() => child.kill('SIGKILL'), 3_000)
      await gone
      clearTimeout(late)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
