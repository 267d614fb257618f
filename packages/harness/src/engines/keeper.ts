// Keeps the PostgreSQL, Redis and S3 servers of one test run: `keeper.ts <socket>`. A client connects and sends
// the name of a server. It receives one line of JSON: the server's address, or the reason why the server did not
// start. The first request for a server starts it. When standard input closes, the keeper stops its servers and
// removes their data. Standard input also closes when the run is killed.
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { ensureCeph } from './install.ts'
import { freePort, startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'
import { startS3 } from './s3.ts'

type Engine = { url: string; stop: () => Promise<void> | void }

const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('usage: keeper.ts <socket>')
const dir = mkdtempSync(`${dataFolder()}/manager-engines-`)
// If this process is root, PostgreSQL runs as a different user, which must be able to access its folder.
if (process.getuid?.() === 0) chmodSync(dir, 0o755)

/**
 * Returns the folder that TMPDIR names; without it, an in-memory folder if enough memory is free. A database consists
 * of 600 files, and a run creates hundreds of databases. On ext4, PostgreSQL spends two thirds of its CPU time on
 * creating and removing these files.
 */
function dataFolder(): string {
  const memory = '/dev/shm'
  if (process.env['TMPDIR'] !== undefined || !existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  const hasRoom = bavail * bsize >= 4 * 2 ** 30 && process.availableMemory() >= 6 * 2 ** 30
  return hasRoom ? memory : tmpdir()
}

const starters: Record<string, () => Promise<Engine>> = {
  postgres: async () => {
    const postgres = startPostgres(`${dir}/postgres`, await freePort())
    return { url: postgres.url, stop: () => postgres.stop('immediate') }
  },
  redis: () => freePort().then((port) => startRedis(port, { dir })),
  s3: async () => {
    ensureCeph()
    const s3 = await startS3(`${dir}/s3`, await freePort())
    const url = Object.assign(new URL(s3.endpoint), {
      username: s3.accessKeyId,
      password: s3.secretAccessKey,
    })
    return { url: url.href, stop: () => s3.stop() }
  },
}

const started = new Map<string, Promise<Engine>>()
function engineOf(name: string): Promise<Engine> {
  const engine =
    started.get(name) ?? starters[name]?.() ?? Promise.reject(new Error(`unknown engine ${name}`))
  started.set(name, engine)
  return engine
}

const server = createServer((socket) => {
  // The client may be killed while it is waiting.
  socket.on('error', () => undefined)
  const sendReply = (reply: { url: string } | { failed: string }): void =>
    void socket.end(`${JSON.stringify(reply)}\n`)
  // Do not use readline, because it rethrows socket errors.
  socket.setEncoding('utf8').once('data', (line: string) => {
    // A starter that throws before its first await must not crash the keeper.
    void Promise.resolve()
      .then(() => engineOf(line.trim()))
      .then(
        ({ url }) => sendReply({ url }),
        (error: Error) => sendReply({ failed: error.message }),
      )
  })
}).listen(path)

await Promise.race([
  once(process.stdin.resume(), 'close'),
  ...['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => once(process, signal)),
])
server.close()
// A server that fails to stop, or never started, must not prevent the rest of the cleanup.
await Promise.allSettled([...started.values()].map(async (engine) => (await engine).stop()))
rmSync(dir, { recursive: true, force: true })
process.exit()
