// Looks up one name at name servers over the network, without a thread: c-ares, with a separate channel for each
// lookup, so that a lookup can be cancelled alone and no two share the port that answers come to.
import { getServers } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Resolution } from './host-files.ts'

export type Address = { address: string; family: number }

const triesPerServer = 2
const tryMs = 1_000
// A connection is tried to one of them; an answer may hold thousands.
const maxAddresses = 64
const notThere = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY'])
/** c-ares asks the next server when one is silent, but takes these for an answer. */
const serverFailures = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EBADRESP', 'EFORMERR'])

export const unknownName = (host: string): Error =>
  Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })
export const noAnswer = (host: string): Error =>
  Object.assign(new Error(`no name server answers for the address of ${host}`), { code: 'EAI_AGAIN' })

/** All addresses of a name, its search domains tried; rejects when there are none, or when it takes too long. */
export async function askFor(host: string, resolution: Resolution, timeoutMs: number): Promise<Address[]> {
  const resolver = new Resolver({ timeout: tryMs, tries: triesPerServer })
  const timer = setTimeout(() => resolver.cancel(), timeoutMs)
  try {
    for (const name of candidatesOf(host, resolution)) {
      const addresses = await addressesOf(resolver, name, resolution.servers)
      // A failure ends the search: the next name could belong to another owner.
      if (addresses === null) throw noAnswer(host)
      if (addresses.length > 0) return addresses.slice(0, maxAddresses).map(withFamily)
    }
    throw unknownName(host)
  } finally {
    clearTimeout(timer)
  }
}

/** The names to try, in this order. */
function candidatesOf(host: string, { search, ndots }: Resolution): string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)]
  const searched = search.map((domain) => `${host}.${domain}`)
  return host.split('.').length > ndots ? [host, ...searched] : [...searched, host]
}

/** IPv4 first: where IPv6 is not routed, trying it takes time. Null when a server fails, or none answers. */
async function addressesOf(
  resolver: Resolver,
  name: string,
  given: readonly string[],
): Promise<string[] | null> {
  const servers = given.length === 0 ? getServers() : given
  for (let first = 0; first < servers.length; first++) {
    resolver.setServers([...servers.slice(first), ...servers.slice(0, first)])
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const failures = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [codeOf(answer.reason)] : [],
    )
    if (failures.every((code) => notThere.has(code))) return []
    if (!failures.some((code) => serverFailures.has(code))) return null
  }
  return null
}

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? ''
const withFamily = (address: string): Address => ({ address, family: isIP(address) })
