// Runs a private Redis server without persistence.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { ensureRedis } from './install.ts'

export type RedisServer = {
  pid: number
  port: number
  url: string
  /** SIGSTOP freezes the server, SIGCONT resumes it. */
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void
  stop(): Promise<void>
}

/** Starts a server on the port and waits until it replies. Ctrl-C in the terminal does not reach a detached server. */
export async function startRedis(
  port: number,
  { detached = false, dir }: { detached?: boolean; dir?: string } = {},
): Promise<RedisServer> {
  const program = ensureRedis()
  // Redis loads a dump from its folder, so the folder must not be one that other users can write to.
  const folder = dir ?? mkdtempSync(`${tmpdir()}/manager-redis-`)
  const logFile = `${folder}/redis-${port}.log`
  const options = { port, bind: '127.0.0.1', save: '', appendonly: 'no', dir: folder, logfile: logFile }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child: ChildProcess = spawn(program, args, { stdio: 'ignore', detached })
  let output = ''
  const gone = new Promise<void>((resolve) =>
    child.once('exit', () => {
      if (existsSync(logFile)) output = readFileSync(logFile, 'utf8').slice(-2_000)
      if (dir === undefined) rmSync(folder, { recursive: true, force: true })
      resolve()
    }),
  )
  for (let tries = 0; !(await isResponding(port)); tries++) {
    if (tries > 600 || child.exitCode !== null)
      throw new Error(`Redis did not start on port ${port}. ${output}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    pid: child.pid as number,
    port,
    url: `redis://127.0.0.1:${port}`,
    signal: (name) => void child.kill(name),
    stop: async () => {
      child.kill('SIGCONT')
      child.kill('SIGTERM')
      await gone
    },
  }
}

function isResponding(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end('PING\r\n'))
    socket.once('data', () => resolve(true))
    socket.once('error', () => resolve(false))
  })
}
