// Resolves one name with c-ares, which needs no thread. Each lookup has its own channel, so that it can be canceled
// separately and no two lookups share a UDP source port.
import { getServers } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Resolution } from './host-files.ts'

/** A resolved address; `family` is 4 or 6. */
export type Address = { address: string; family: number }

const attemptsPerServer = 2
const attemptTimeoutMs = 1_000
// A response can contain thousands of addresses, but only a few are tried.
const maxAddresses = 64
const notFoundCodes = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY'])
/** c-ares tries the next server after a timeout, but treats these errors as final. */
const serverFailures = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EBADRESP', 'EFORMERR'])

/** The error for a name that does not exist or has no address. */
export const createNameNotFoundError = (host: string): Error =>
  Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })
/** The error for a lookup that failed or timed out. */
export const createLookupFailedError = (host: string): Error =>
  Object.assign(new Error(`no name server could resolve ${host}`), { code: 'EAI_AGAIN' })

/**
 * Returns all addresses of a name, which is also tried with the search domains. Rejects if there are none or after
 * the timeout.
 */
export async function resolveName(
  host: string,
  resolution: Resolution,
  timeoutMs: number,
): Promise<Address[]> {
  const resolver = new Resolver({ timeout: attemptTimeoutMs, tries: attemptsPerServer })
  const timer = setTimeout(() => resolver.cancel(), timeoutMs)
  try {
    for (const name of listCandidates(host, resolution)) {
      const addresses = await resolveAddresses(resolver, name, resolution.servers)
      // A failure ends the search: the next name could have a different owner.
      if (addresses === null) throw createLookupFailedError(host)
      if (addresses.length > 0) return addresses.slice(0, maxAddresses).map(addFamily)
    }
    throw createNameNotFoundError(host)
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the names to try, in order. */
function listCandidates(host: string, { search, ndots }: Resolution): string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)]
  const searchNames = search.map((domain) => `${host}.${domain}`)
  return host.split('.').length > ndots ? [host, ...searchNames] : [...searchNames, host]
}

/** Returns IPv4 addresses first: without an IPv6 route, trying IPv6 costs time. Returns null if the servers fail. */
async function resolveAddresses(
  resolver: Resolver,
  name: string,
  configuredServers: readonly string[],
): Promise<string[] | null> {
  const servers = configuredServers.length === 0 ? getServers() : configuredServers
  for (let firstIndex = 0; firstIndex < servers.length; firstIndex++) {
    resolver.setServers([...servers.slice(firstIndex), ...servers.slice(0, firstIndex)])
    const results = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    if (addresses.length > 0) return addresses
    const failures = results.flatMap((result) =>
      result.status === 'rejected' ? [getCode(result.reason)] : [],
    )
    if (failures.every((code) => notFoundCodes.has(code))) return []
    if (!failures.some((code) => serverFailures.has(code))) return null
  }
  return null
}

const getCode = (error: unknown): string => (error as { code?: string }).code ?? ''
const addFamily = (address: string): Address => ({ address, family: isIP(address) })
