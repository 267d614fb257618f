// Runs in its own network namespace, where this machine has addresses that look public and private. A server on each
// address counts its connections. Prints the outcome of callbacks to these addresses. network-namespace.test.ts starts
// this program.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { parseCallbackUrl } from '../../src/platform/outbound/callback-url.ts'
import { createCallbacksPolicy } from '../../src/platform/outbound/egress-policies.ts'
import { createAddressRules } from '../../src/platform/outbound/egress.ts'
import { createNameResolver } from '../../src/platform/outbound/names.ts'
import { createOutboundPools } from '../../src/platform/outbound/pools.ts'
import { SendFailure, send } from '../../src/platform/outbound/send.ts'
import { startNameServer } from '../kit/name-server.ts'

export type Seen = {
  /** The outcome of each callback by target: a status, or the reason for the failure. */
  outcomes: Record<string, string>
  /** The number of connections to each address. */
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
        // Close the connection, so that the address of the next call is checked again.
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
  const policy = createCallbacksPolicy([])
  const rules = createAddressRules(policy)
  const files = { hostsPath: '/dev/null', resolvConfPath: '/dev/null' }
  // The cache stores only one name, so a name is looked up again after a call to a different name.
  const nameResolver = createNameResolver({ ...files, servers: [nameServer.address], maxCached: 1 })
  const limits = { maxPerOrigin: 4, maxSockets: 16, connectTimeoutMs: 60_000 }
  const pools = createOutboundPools({ policy, ownServices: [], nameResolver, ...limits })
  const callBack = async (url: string): Promise<string> => {
    const { origin, pathname: path } = new URL(url)
    const pool = pools.getPool('project', origin)
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
    // Calls the address even if it cannot be registered, because the outbound rules must reject it too.
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
