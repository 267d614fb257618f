// Asks the keeper of a run (keeper.ts) for a server and prints the server's address: `ask.ts <socket> <engine>`.
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { createInterface } from 'node:readline'

const [path, name] = process.argv.slice(2)
if (path === undefined || name === undefined) throw new Error('usage: ask.ts <socket> <engine>')

/** Retries for about 30 s, because the keeper starts together with the run and may not be listening yet. */
async function connectToKeeper(path: string): Promise<Socket> {
  for (let tries = 0; ; tries++) {
    const socket = connect(path)
    try {
      await once(socket, 'connect')
      return socket
    } catch (error) {
      if (tries === 600) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

const socket = await connectToKeeper(path)
socket.write(`${name}\n`)
const [line] = (await once(createInterface(socket), 'line')) as [string]
const reply = JSON.parse(line) as { url: string } | { failed: string }
if ('failed' in reply) {
  process.stderr.write(reply.failed)
  process.exitCode = 1
} else process.stdout.write(reply.url)
