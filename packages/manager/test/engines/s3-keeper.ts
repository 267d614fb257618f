// Keeps an S3 service for the tests of one run, from the moment the first of them asks for it: `s3-keeper.ts <socket>`.
// Whoever connects to the socket is sent one line, its address and keys or why there is none. When its standard input
// ends, which happens however the run ends, it stops the service and throws its data away.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { ensureCeph } from './install.ts'
import { freePort } from './postgres.ts'
import { type S3Server, startS3 } from './s3.ts'

const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('usage: s3-keeper.ts <socket>')

const service: { starting?: Promise<S3Server> } = {}
const start = async (): Promise<S3Server> => {
  ensureCeph()
  return startS3(mkdtempSync(`${tmpdir()}/manager-s3-`), await freePort())
}
const server = createServer((socket) => {
  // Who asked may have been killed.
  socket.on('error', () => undefined)
  service.starting ??= start()
  void service.starting.then(
    ({ endpoint, accessKeyId, secretAccessKey }) =>
      socket.end(`${JSON.stringify({ endpoint, accessKeyId, secretAccessKey })}\n`),
    (error: unknown) => socket.end(`${JSON.stringify({ failed: (error as Error).message })}\n`),
  )
}).listen(path)

await new Promise((resolve) => process.stdin.once('close', resolve).resume())
server.close()
await service.starting?.then(
  (s3) => s3.stop(),
  () => undefined,
)
rmSync(path, { force: true })
process.exit()
