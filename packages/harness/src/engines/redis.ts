// Runs a private Redis server without persistence.
import { type ChildProcess, spawn } from 'node:child_process'
import { connect } from 'node:net'
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
  { detached = false, dir = '/tmp' } = {},
): Promise<RedisServer> {
  const program = ensureRedis()
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    dir,
  ]
  const child: ChildProcess = spawn(program, args, { stdio: 'ignore', detached })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  for (let tries = 0; !(await isResponding(port)); tries++) {
    if (tries > 100) throw new Error(`Redis did not start on port ${port}`)
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
