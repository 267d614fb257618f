// Runs inside a network namespace of its own, where this machine has addresses that look public and private, and a server
// that counts on each of them. Prints what callbacks to them become; network-namespace.test.ts starts it.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { parseCallbackUrl } from '../../src/platform/outbound/callback-url.ts'
import { callbacksPolicy } from '../../src/platform/outbound/egress-policies.ts'
import { createAddressRules } from '../../src/platform/outbound/egress.ts'
import { createNames } from '../../src/platform/outbound/names.ts'
import { createOutboundPools } from '../../src/platform/outbound/pools.ts'
import { SendFailure, send } from '../../src/platform/outbound/send.ts'
import { startNameServer } from '../kit/name-server.ts'

export type Seen = {
  /** What each callback became: a status, or why it failed; by what is called. */
  outcomes: Record<string, string>
  /** How many connections came to each address. */
  connections: Record<string, number>
}

const [addressV4, addressV6] = ['93.184.215.14', '2606:4700:4700::1111']
const inner = ['10.0.0.1', '192.168.7.7', '100.64.0.1', '169.254.169.254', '168.63.129.16', 'fd12::1']
const hasIPv6 = existsSync('/proc/net/if_inet6')
const isThere = (address: string): boolean => hasIPv6 || !address.includes(':')
const added = [addressV4, addressV6, ...inner].filter(isThere)
const addresses = [...added, '127.0.0.1', '::1'].filter(isThere)
const port = 8080
const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address)

function prepareInterface(): void {
  const ip = (...args: string[]): void =>
    void execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  ip('link', 'set', 'lo', 'up')
  for (const address of added)
    if (address.includes(':')) ip('address', 'add', `${address}/128`, 'dev', 'lo', 'nodad')
    else ip('address', 'add', `${address}/32`, 'dev', 'lo')
}

async function startServers(connections: Record<string, number>) {
  return Promise.all(
    addresses.map(async (address) => {
      connections[address] = 0
      const server = createServer((_request, response) => {
        // Each call opens a connection, so each is judged.
        response.writeHead(200, { connection: 'close' }).end(address)
      })
      server.on('connection', () => (connections[address] = (connections[address] ?? 0) + 1))
      await new Promise<void>((resolve) => server.listen(port, address, resolve))
      return server
    }),
  )
}

async function main(): Promise<Seen> {
  prepareInterface()
  const connections: Record<string, number> = {}
  const servers = await startServers(connections)
  const nameServer = await startNameServer({ 'mixed.example': { addresses: [addressV4, '10.0.0.1'] } })
  const flipping = { addresses: [addressV4] }
  nameServer.zones.set('flipping.example', flipping)
  nameServer.zones.set('six.example', { addresses: [addressV6] })
  const policy = callbacksPolicy([])
  const rules = createAddressRules(policy)
  const files = { hostsPath: '/dev/null', resolvConfPath: '/dev/null' }
  // One name is kept: what is called after another one is asked for again.
  const names = createNames({ ...files, servers: [nameServer.address], maxKept: 1 })
  const limits = { maxPerOrigin: 4, maxSockets: 16, connectTimeoutMs: 60_000 }
  const pools = createOutboundPools({ policy, ownServices: [], names, ...limits })
  const callBack = async (url: string): Promise<string> => {
    const { origin, pathname: path } = new URL(url)
    const pool = pools.of('project', origin)
    try {
      const answer = await send({
        pool,
        path,
        method: 'POST',
        headers: [],
        body: Buffer.from('{}'),
        timeoutMs: 60_000,
        maxResponseBytes: 100,
      })
      return `${answer.status} ${answer.body.toString()}`
    } catch (error) {
      if (error instanceof SendFailure) return `${error.phase}: ${error.reason}`
      throw error
    }
  }
  const outcomes: Record<string, string> = {}
  for (const address of addresses) {
    const url = `http://${bracketed(address)}:${port}/`
    outcomes[`${address} registered`] = parseCallbackUrl(url, rules) === null ? 'refused' : 'accepted'
    // As if it had been registered all the same.
    outcomes[address] = await callBack(url)
  }
  for (const name of hasIPv6 ? ['flipping', 'six', 'mixed'] : ['flipping', 'mixed'])
    outcomes[name] = await callBack(`http://${name}.example:${port}/`)
  flipping.addresses = ['10.0.0.1']
  outcomes['flipping again'] = await callBack(`http://flipping.example:${port}/`)
  await pools.close()
  await nameServer.close()
  for (const server of servers) await new Promise((resolve) => server.close(resolve))
  return { outcomes, connections }
}

process.stdout.write(JSON.stringify(await main()))
